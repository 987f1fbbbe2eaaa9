"""The settings of the autopilot to try: named ones, or those of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from midstream.autopilot.settings import NAMED, Settings
from midstream.io.text_file import read_text
from midstream.plans.values.artefacts import ArtefactError, parsed, typed
from midstream.plans.values.errors import ArgumentError, InputFileError
from midstream.plans.values.schema import suggest

MOST = 200
"""The most settings to try, as each is replayed over the whole recording."""


def grid_of(text: str) -> dict[str, Settings]:
    """Settings by name: some of careful, balanced and eager, with commas between, or those of a file.

    Raises   InputFileError, ArgumentError.

    >>> list(grid_of("balanced,eager"))
    ['balanced', 'eager']
    """
    names = [name.strip() for name in text.split(",")]
    if all(name in NAMED for name in names):
        return {name: NAMED[name] for name in names}
    if not Path(text).exists():
        unknown = next(name for name in names if name not in NAMED)
        expected = f"some of {', '.join(NAMED)}, or a file"
        raise ArgumentError(f"grid: found {unknown}, expected {expected}{suggest(unknown, NAMED)}")
    try:
        return grid_from(parsed(read_text(text)))
    except (ArgumentError, ArtefactError) as error:
        raise InputFileError(f"{text}: {error}", path=text) from error


def grid_from(data: Any) -> dict[str, Settings]:
    """Settings by name, or all combinations of lists of values.

    Raises   ArgumentError.

    >>> list(grid_from({"doubt": [0, 1], "looks": [4]}))
    ['doubt=0 looks=4', 'doubt=1 looks=4']
    >>> grid_from({"mine": {"doubt": 1}})["mine"].doubt
    1.0
    """
    if not isinstance(data, Mapping) or not data:
        raise ArgumentError("grid: expected an object with settings by name, or lists of values")
    if all(isinstance(one, list) for one in data.values()):
        combined = [dict(zip(data, values, strict=True)) for values in product(*data.values())]
        named = {" ".join(f"{key}={json.dumps(one[key])}" for key in one): one for one in combined}
    elif all(isinstance(one, Mapping) for one in data.values()):
        named = {str(name): dict(one) for name, one in data.items()}
    else:
        raise ArgumentError(
            "grid: found lists and others, expected either settings by name or lists of values"
        )
    if not 0 < len(named) <= MOST:
        raise ArgumentError(f"grid: found {len(named)} settings, expected 1 to {MOST}")
    return {name: _settings(name, one) for name, one in named.items()}


def _settings(name: str, values: dict[str, Any]) -> Settings:
    try:
        return typed(values, Settings)
    except (ArgumentError, ArtefactError) as error:
        raise ArgumentError(f"grid: {name}: {error}") from error
