"""The end of a command's help."""

from __future__ import annotations


def examples(*calls: str) -> str:
    """Example calls of a command, one per paragraph.

    >>> examples("midstream demo")
    'Examples:\\n\\nmidstream demo'
    """
    return "\n\n".join(["Examples:", *calls])
