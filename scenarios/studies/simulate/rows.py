"""What became of runs on slices, row by row, as texts for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from midstream.io.time_units import Clock


def total_rows(clock: Clock, summary: dict[str, Any], outcomes: Sequence[str]) -> list[tuple[str, ...]]:
    """By plan and strategy: how many runs ended in each way, duration, state, gap with and without, time."""
    return [
        (
            one["to"],
            one["strategy"],
            *(f"{one[outcome]:,}" for outcome in outcomes),
            _lasting(clock, one["duration"]),
            _times(one["held"]),
            _lasting(clock, one["gap"]),
            _lasting(clock, one["gap_stayed"]),
            _times(one["cpu"]),
        )
        for one in summary["totals"]
    ]


def _lasting(clock: Clock, chronons: float | None) -> str:
    return "–" if chronons is None else clock.show_duration(round(chronons))


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"
