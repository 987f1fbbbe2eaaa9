"""The stage that prices the plans of a query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.scenarios.recordings.pricing import relative, show_cost
from midstream.scenarios.reports.contents import Picture, Report, Table
from midstream.scenarios.stages.base.advice import advice_from
from midstream.scenarios.stages.base.options import Options, PlanFile, listed
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.stages.base.summaries import bucket_facts, more_buckets
from midstream.scenarios.stages.what_if.candidates import LIMIT
from midstream.scenarios.stages.what_if.objectives import aim_of
from midstream.scenarios.stages.what_if.past import HALF_LIFE, remembered
from midstream.scenarios.stages.what_if.rows import SHOWN, order_rows, paid
from midstream.scenarios.stages.what_if.switching_costs import STRATEGIES
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs

if TYPE_CHECKING:
    from midstream.scenarios.stages.what_if.prices import Stretch
    from midstream.scenarios.stages.what_if.stage import WhatIf

NAME = "what-if"

CELLS = 250
"""The most stretches of time that a picture shows."""

SETTINGS = "with settings that `midstream study policies` finds"
"""Tells people where settings of the autopilot come from."""


class WhatIfOptions(Options):
    """Options of pricing plans."""

    plan: PlanFile = None
    objective: Annotated[
        list[str],
        Field(
            min_length=1,
            default=["processing", "intermediate"],
            description="The costs that plans are compared by: processing, memory, state, latency, rate, "
            "buffers, intermediate, or a sum such as 'processing + 0.001 memory'; the first decides.",
        ),
        BeforeValidator(listed),
    ]
    half_life: str | None = Field(
        default=None,
        description=f"The age at which statistics count half; by default {HALF_LIFE} windows.",
    )
    rows: int = Field(default=24, ge=0, description="Number of buckets to list; files have all.")
    limit: int = Field(
        default=LIMIT,
        ge=1,
        description="The largest number of plans to price; of more, the search finds the promising ones.",
    )


def _half_life(request: Request, options: WhatIfOptions) -> int:
    window = max(one.length for one in plan_inputs(request.plan(options.plan), request.study.streams))
    text = options.half_life
    half_life = HALF_LIFE * window if text is None else request.chronons("half-life", text)
    with request.errors_of("half-life", ArgumentError):
        remembered(half_life, request.bucket)
    return half_life


def _check(request: Request, options: WhatIfOptions) -> None:
    _half_life(request, options)
    with request.errors_of("objective", StatisticsError):
        for objective in options.objective:
            aim_of(objective, request.study.clock)


def _depends(request: Request, options: WhatIfOptions) -> Any:
    return [*request.part, dumps(request.plan(options.plan)), repr(units_in_use())]


def _run(work: Work, options: WhatIfOptions) -> tuple[WhatIf, Outcome]:
    from midstream.scenarios.stages.what_if.report import what_if_summary
    from midstream.scenarios.stages.what_if.stage import what_if

    query, half_life = work.request.plan(options.plan), _half_life(work.request, options)
    recording = work.recording
    work.tell("pricing plans")
    result = work.hold(
        what_if(recording, work.study, query, options.objective, half_life=half_life, limit=options.limit)
    )
    work.tell("summing up")
    summary = what_if_summary(work.study, result, options.rows)
    stretches = [prices.stretches(CELLS) for prices in result.prices]
    cells = stretches[0]
    drawn = {
        "edges": [*(cell.start for cell in cells), *(cell.end for cell in cells[-1:])],
        "objectives": [_courses(cells) for cells in stretches],
    }
    rows = len(result.plans) * len(result.starts) * len(result.prices)
    return result, Outcome(summary, drawn, work.elements, rows)


def _courses(cells: Sequence[Stretch]) -> dict[str, list[Any]]:
    """The costs of orders in each of a few stretches of time, and their regret so far."""
    return {
        "spent": [list(cell.spent) for cell in cells],
        "regret": [list(cell.regret) for cell in cells],
        "past_regret": [cell.past_regret for cell in cells],
    }


def _write(result: WhatIf, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.stages.what_if.writing import write_what_if

    write_what_if(result, outcome.summary, folder)


def _tell(study: Study, outcome: Outcome) -> Report:
    summary = outcome.summary
    first = summary["objectives"][0]
    facts = [
        *bucket_facts(study, summary),
        f"{summary['plans']:,} plans in {summary['orders']:,} orders, {_which(summary)}, were priced in each "
        f"bucket. {COUNTED if summary['is_counted'] else ESTIMATED}",
        *map(_fact, summary["objectives"]),
    ]
    tables = [table for one in summary["objectives"] for table in _tables(one)]
    if first["by_bucket"]:
        tables.append(_buckets(summary))
    numbers = range(len(summary["objectives"])) if outcome.drawn["edges"] else ()
    pictures = [_picture(study, outcome, number) for number in numbers]
    return Report(facts, _advice(summary), tables, pictures)


def _advice(summary: dict[str, Any]) -> list[str]:
    """The advice of the summary; none where no order or no time was priced."""
    advice = summary["advice"]
    return [] if advice is None else advice_from(advice).lines(SETTINGS)


COUNTED = "The results of joins below others were counted."
ESTIMATED = (
    "The results of joins were estimated, as not all joins below others have two inputs and equal columns: "
    "where bursts are shorter than a bucket, take shorter buckets."
)
"""The origin of the numbers of results of joins: counts, or estimates."""


def _which(summary: dict[str, Any]) -> str:
    """The kind of plans that were priced, in words."""
    if summary["has_all_plans"]:
        return "all that the rules make"
    return f"those that the search chose in {summary['searched_buckets']:,} buckets, of too many"


def _fact(found: dict[str, Any]) -> str:
    unpriced = f" {found['unpriced']:,} buckets have no finite cost." if found["unpriced"] else ""
    return (
        f"By {found['objective']} they differ in {found['contested']:,} buckets, and the best order changes "
        f"{found['switches']:,} times.{unpriced} Always the best order would have cost "
        f"{show_cost(found['least'])} {found['unit']}{' on average' if found['is_mean'] else ''}."
    )


def _buckets(summary: dict[str, Any]) -> Table:
    """A table of the first buckets, by the first objective."""
    first = summary["objectives"][0]
    rows = [
        (
            row["time"],
            row["best"] or "no difference",
            f"{row['count']:,}",
            *(show_cost(row[key]) for key in ("spent", "given_spent", "past_spent")),
        )
        for row in first["by_bucket"]
    ]
    titles = ("from", "best order", "elements", "its\ncost", "as\nwritten", "by the\npast")
    caption = f"The best order by bucket, by {first['objective']}"
    return Table(caption, titles, rows, 2, more_buckets(summary, len(rows)))


def _tables(found: dict[str, Any]) -> list[Table]:
    unit, rest = found["unit"], len(found["orders"]) - SHOWN
    cost = "mean" if found["is_mean"] else "cost"
    fixed = Table(
        f"What it costs to hold on to one order, by {found['objective']}",
        ("order", "plans", f"{cost},\n{unit}", f"regret,\n{unit}", "regret", "best in\nbuckets"),
        order_rows(found),
        note=f"{rest:,} orders cost more." if rest > 0 else "",
    )
    return [fixed, _turns(found)] if found["turns"] else [fixed]


def _turns(found: dict[str, Any]) -> Table:
    """The costs of switching between orders, with migrations."""
    rows = [(turn["name"], *_free(found, turn["free"]), *paid(turn)) for turn in found["turns"]]
    return Table(
        f"With the cost of migrating, {found['unit']}; in brackets, how many moves",
        ("order", "if moves\nwere free", "regret", *STRATEGIES),
        rows,
    )


def _free(found: dict[str, Any], free: float | None) -> tuple[str, str]:
    """A cost without migrations, and its regret."""
    if free is None:
        return "", ""
    return show_cost(free), f"{relative(free - found['least'], found['least']):.2%}"


def _picture(study: Study, outcome: Outcome, number: int) -> Picture:
    from midstream.scenarios.stages.what_if import pictures

    clock, edges = study.clock, outcome.drawn["edges"]
    step = clock.show_duration(edges[1] - edges[0])
    found = outcome.summary["objectives"][number]
    words = [
        f"{one['order']}: {show_cost(one['spent'])} {found['unit']}, {one['relative_regret']:.2%} more than "
        f"always the best, best in {one['best_in']:,} buckets."
        for one in found["orders"][:SHOWN]
    ]
    return Picture(
        "orders" if number == 0 else f"orders-{number + 1}",
        f"Best orders by {found['objective']}",
        "Above, what the best order costs; then which one it was, blank where all cost the same; below, the "
        f"regret so far of holding on to one, and of taking what was best by the past. Each step is {step}.",
        words,
        partial(pictures.orders, clock, found, {"edges": edges, **outcome.drawn["objectives"][number]}),
    )


STAGE = Stage(
    NAME,
    WhatIfOptions,
    _run,
    _tell,
    _write,
    files=("costs", "best", "plans", "courses", "courses.json", "what-if.json"),
    pictures=("orders",),
    reads=("plan",),
    depends=_depends,
    check=_check,
    after=("ingest",),
    help="""Price every equivalent plan of a query in every time bucket.

    Tells which join order is best when, what it costs to hold on to one all the time, and what it would have
    cost to switch between them: in hindsight, and by what was known before, with the cost of migrating.
    """,
    examples=(
        "midstream study what-if nycflights13 --data recordings --bucket 3h --output found",
        "midstream study what-if query.sql --data streams --objective processing --objective memory",
        "midstream study what-if query.sql --plan plan.json --no-pictures",
    ),
)
