"""The switch for all code that is generated only to be fast."""

from __future__ import annotations

import os

from midstream.plans.values.arguments import wrong

VARIABLE = "MIDSTREAM_COMPILE"
"""The environment variable that decides where the caller does not."""


def is_compiled(asked: bool | None = None) -> bool:
    """The caller's choice, or else that of the environment, or else True.

    Raises   ArgumentError for any other value.

    >>> is_compiled(True), is_compiled(False)
    (True, False)
    """
    if asked is None:
        said = os.environ.get(VARIABLE, "1")
        if said not in ("0", "1"):
            raise wrong(VARIABLE, said, "0 or 1")
        return said == "1"
    if not isinstance(asked, bool):
        raise wrong("compile", asked, "True, False, or None for what the environment says")
    return asked
