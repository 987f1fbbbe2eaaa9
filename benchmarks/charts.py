"""The rounds in which charts choose the best plan, their hits: `python -m midstream.benchmarks charts`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from midstream.scenarios.trials.fidelity.following import Fidelity
from midstream.scenarios.trials.fidelity.running import FidelityComparison, parts

HEADLINE = {10: 0.80, 40: 0.95}
"""OM's results for two plans, by k; reproduced where values stay within a quarter of the ranges."""
NEAR = 0.03


@dataclass(frozen=True, slots=True)
class ChartsRun:
    """All experiments."""

    seed: int
    followed: tuple[Fidelity, ...]
    trees: tuple[FidelityComparison, ...]

    @property
    def is_good(self) -> bool:
        """True if OM's headline result is reproduced, and trees hit more often than grids."""
        found = {
            one.parts: one.followed.fidelity
            for one in self.followed
            if (one.trace, one.over, one.seen) == ("within a quarter", "given", "as they are")
            and one.experiment == "two filters"
        }
        return all(abs((found.get(k) or 0.0) - told) <= NEAR for k, told in HEADLINE.items()) and all(
            one.of_tree > one.of_grid for one in self.trees
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "format": "midstream-fidelity",
            "version": 1,
            "seed": self.seed,
            "followed": [{**asdict(one), "fidelity": one.followed.fidelity} for one in self.followed],
            "trees": [asdict(one) for one in self.trees],
        }


def measure_charts(
    data: Path | None, seed: int, *, is_quick: bool, tell: Callable[[int, int], None]
) -> ChartsRun:
    """Run everything; `tell` takes the number of finished parts and of all parts."""
    todo = list(parts(data, seed, is_quick=is_quick))
    followed: list[Fidelity] = []
    trees: list[FidelityComparison] = []
    for done, part in enumerate(todo, 1):
        found = part()
        if isinstance(found, FidelityComparison):
            trees.append(found)
        else:
            followed += found
        tell(done, len(todo))
    return ChartsRun(seed, tuple(followed), tuple(trees))


def show_charts(run: ChartsRun, console: Console) -> None:
    """Print a table for each trace of an experiment, and one for trees."""
    for (experiment, trace), found in _grouped(run.followed):
        table = Table(title=f"{experiment}, {trace}: hits, and moves/switches", title_justify="left")
        table.add_column("values, ranges")
        for number in sorted({one.parts for one in found}):
            table.add_column(f"k = {number}", justify="right", no_wrap=True)
        for row in _rows(found):
            cells = (_shown(one) for one in sorted(row, key=lambda one: one.parts))
            table.add_row(f"{row[0].seen}, {row[0].over}", *cells)
        console.print(table)
    table = Table(title="Trees beside grids: hits", title_justify="left")
    for heading in ("streams", "questions", "grid", "tree", "leaves"):
        table.add_column(heading, justify="right")
    for tree in run.trees:
        shares = f"{100 * tree.of_grid:.0f} %", f"{100 * tree.of_tree:.0f} %"
        table.add_row(str(tree.dimensions), str(tree.questions), *shares, str(tree.leaves))
    console.print(table)


def _shown(one: Fidelity) -> str:
    fidelity = one.followed.fidelity
    share = "–" if fidelity is None else f"{100 * fidelity:.0f} %"
    return f"{share}\n{one.followed.moves}/{one.followed.switches}"


def _grouped(found: Iterable[Fidelity]) -> Iterator[tuple[tuple[str, str], list[Fidelity]]]:
    groups: dict[tuple[str, str], list[Fidelity]] = {}
    for one in found:
        groups.setdefault((one.experiment, one.trace), []).append(one)
    yield from groups.items()


def _rows(found: Iterable[Fidelity]) -> list[list[Fidelity]]:
    """Groups of those that differ only in the number of parts."""
    rows: dict[tuple[str, str], list[Fidelity]] = {}
    for one in found:
        rows.setdefault((one.seen, one.over), []).append(one)
    return list(rows.values())
