"""The costs of policies row by row, as texts for a terminal and for a page."""

from __future__ import annotations

from typing import Any

TITLES = ("policy", "total", "× best\nfixed", "moves", "switches", "fidelity", "regret")


def policy_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each policy, with the columns of TITLES; * marks policies that no other one beats."""
    return [
        (
            f"{one['policy']}{' *' if one['policy'] in summary['front'] else ''}",
            f"{one['total']:,.0f}",
            _share(one["of_fixed"], "{:.3f}"),
            f"{one['moves']:,}",
            f"{one['switches']:,}",
            _share(one["fidelity"], "{:.0%}"),
            f"{one['regret']:,.0f}",
        )
        for one in summary["policies"]
    ]


def _share(number: float | None, form: str) -> str:
    return "–" if number is None else form.format(number)
