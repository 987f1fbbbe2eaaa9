"""What a chart says, row by row, as texts for a terminal and for a page."""

from __future__ import annotations

from typing import Any

RANGES = ("along", "from", "to", "parts")


def range_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """By dimension, as RANGES says."""
    return [
        (one["name"], f"{one['low']:.4g}", f"{one['high']:.4g}", f"{one['parts']:,}")
        for one in summary["dimensions"]
    ]


def plan_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """By plan: in which share of the places it is best, and in how many buckets."""
    return [
        (one["plan"], f"{one['places'] / summary['places']:.1%}", f"{one['rounds']:,}")
        for one in summary["plans"]
    ]
