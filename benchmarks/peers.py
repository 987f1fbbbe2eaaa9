"""The libraries that the benchmark compares with, where they are installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

PEERS = ("bytewax", "streamz")

INSTALL = 'not installed; pip install "midstream[peers]"'


def installed() -> Mapping[str, str | None]:
    """The version of each peer, None where it is not installed."""
    return {name: _version(name) for name in PEERS}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
