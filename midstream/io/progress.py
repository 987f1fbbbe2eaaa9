"""How far long work is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int | None], object]
"""Is told how much is done, and of how much, where that is known."""
