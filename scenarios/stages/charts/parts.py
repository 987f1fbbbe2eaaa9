"""The number of parts into which a study divides a dimension of a chart."""

from __future__ import annotations

from midstream.optimizer.charts.chart import ChartError

MOST_PARTS = 100
"""The most parts of a dimension: 10,000 places of two dimensions take a minute."""


def require_parts(name: str, parts: int) -> None:
    """Raise ChartError unless a dimension may have so many parts."""
    if not 1 <= parts <= MOST_PARTS:
        raise ChartError(f"dimension {name}: found {parts} parts, expected 1 to {MOST_PARTS}")
