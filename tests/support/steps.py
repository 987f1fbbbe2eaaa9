"""Steps and objects, counted: tests of growth assert these, and never a time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


def calls_of(function: Callable[[], object]) -> int:
    """The number of functions that a call enters, those in C included, and turns of generators."""
    number = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return number


def objects() -> int:
    """The number of objects that the garbage collector tracks, now that it has collected."""
    gc.collect()
    return len(gc.get_objects())
