"""The end of a command's help."""

from __future__ import annotations


def examples(*calls: str) -> str:
    """Calls of a command, a paragraph each.

    >>> examples("midstream demo")
    'Examples:\\n\\nmidstream demo'
    """
    return "\n\n".join(["Examples:", *calls])
