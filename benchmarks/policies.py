"""What policies cost that choose among the orders of a join: the table of `midstream bench policies`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, cast, get_args

from rich.console import Console
from rich.table import Table

from midstream.benchmarks.options import BenchmarkError
from midstream.io.new_file import write_file
from midstream.scenarios.policies.case import Case
from midstream.scenarios.policies.generated import GENERATED
from midstream.scenarios.policies.policy import How
from midstream.scenarios.policies.recorded import RECORDED
from midstream.scenarios.policies.regret import Regrets, regrets
from midstream.scenarios.simulator.courses import Course, Times
from midstream.scenarios.simulator.pictures import plain_svg, require_matplotlib
from midstream.scenarios.simulator.results import Kind, PolicyMove

CASES = (*RECORDED, *GENERATED)


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """All cases."""

    seed: int
    cases: tuple[Regrets, ...]

    @property
    def is_equal(self) -> bool:
        """Whether the engine counted what the replay did."""
        return all(one.is_equal for one in self.cases)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        cases: list[Mapping[str, Any]] = [one.as_dict() for one in self.cases]
        return {"format": "midstream-policies", "version": 1, "seed": self.seed, "cases": cases}


def chosen_cases(names: str | None, data: Path | None) -> list[str]:
    """The cases that are wanted; by default the generated ones, and where there is data the recorded ones.

    Raises   BenchmarkError for a name that there is not, and for a recorded one without data.
    """
    if names is None:
        return list(CASES if data is not None else GENERATED)
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in chosen:
        if name not in CASES:
            raise BenchmarkError(f"--cases: found {name!r}, expected some of {', '.join(CASES)}", found=name)
        require_data(name, data)
    return chosen


def require_data(name: str, data: Path | None) -> None:
    """Raise BenchmarkError for a case that is recorded, without data."""
    if name in RECORDED and data is None:
        raise BenchmarkError(
            f"--cases: found {name}, which is recorded; expected its folder, with --data", found=name
        )


def chosen_strategy(name: str) -> How:
    """A strategy that can be replayed. Raises BenchmarkError for another one."""
    if name in get_args(How):
        return cast(How, name)
    raise BenchmarkError(
        f"--strategy: found {name!r}, expected one of {', '.join(get_args(How))}", found=name
    )


def judge(
    names: list[str], data: Path | None, how: How, seed: int, *, with_engine: bool
) -> Iterator[Regrets]:
    """One case after the other."""
    for name in names:
        yield regrets(case_of(name, data, seed), how, with_engine=with_engine)


def case_of(name: str, data: Path | None, seed: int) -> Case:
    """A case by its name; a recorded one needs the folder with data."""
    if name in GENERATED:
        return GENERATED[name](seed)
    assert data is not None
    return RECORDED[name](data)


def show_policies(found: PolicyRun, console: Console) -> None:
    """A table for each case."""
    for one in found.cases:
        title = f"{one.case}: {one.arrivals:,} elements; the best orders of buckets give {one.hindsight:,}"
        table = Table(title=title, title_justify="left")
        table.add_column("policy", no_wrap=True)
        for heading in ("results", "engine", "moves", "/ fixed", "/ clairvoyant", "CPU, s", "/ fixed"):
            table.add_column(heading, justify="right")
        for row in (*one.judged, *one.flown):
            counted = "" if row.counted is None else f"{row.counted:,}"
            ratios = (_two_places(ratio) for ratio in (row.of_fixed, row.regret, row.seconds, row.of_seconds))
            table.add_row(row.policy, f"{row.total:,}", counted, str(row.moves), *ratios)
        console.print(table)


def _two_places(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


POINTS = 400
"""Of each line of a chart."""


def draw_policies(found: PolicyRun, file: Path) -> None:
    """Write a chart of what policies have cost so far, a panel for each case, as SVG or PNG.

    Raises   MissingExtra without matplotlib; ConnectorError where the file cannot be written.
    """
    require_matplotlib()
    from midstream.io.pictures import write_picture
    from midstream.scenarios.simulator.course_charts import costs_of_several

    panels = [(one.case, courses_of(one), times_of(one.priced)) for one in found.cases]
    if file.suffix == ".svg":
        write_file(file, plain_svg(lambda: costs_of_several(panels), "policies"))
    else:
        write_picture(costs_of_several(panels), file, "png")


def times_of(case: Case) -> Times:
    """All of a case, in windows."""
    duration = case.beyond - case.first
    return Times(case.first, duration / POINTS, duration, "application time, windows", case.window)


def courses_of(found: Regrets) -> list[Course]:
    """What each policy has cost by when."""
    case, times = found.priced, times_of(found.priced)
    ends = [*(ceil(case.first + times.every * (i + 1)) for i in range(POINTS - 1)), case.beyond]
    courses, names = [], [f"{order[0]} ⋈ {order[1]} first" for order in case.orders]
    for i, (one, bill) in enumerate(zip(found.judged, found.bills, strict=True)):
        kind: Kind = "fixed" if i < len(case.orders) else "policy"
        before = case.costs.spent_before(bill)
        courses.append(
            Course(
                one.policy,
                "clairvoyant" if one.policy == "clairvoyant" else kind,
                names[bill.start],
                [before(end) for end in ends],
                [
                    PolicyMove(move.at, move.until, names[move.old], names[move.new], move.strategy)
                    for move in bill.moves
                ],
            )
        )
    return courses
