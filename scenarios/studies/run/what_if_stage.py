"""The stage that prices the plans of a query."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.inputs import plan_inputs
from midstream.scenarios.studies.pricing import show_cost
from midstream.scenarios.studies.run.contents import Picture, Report, Table
from midstream.scenarios.studies.run.request import Request
from midstream.scenarios.studies.run.stage import Options, Outcome, PlanFile, Stage, Work, listed
from midstream.scenarios.studies.what_if.candidates import LIMIT
from midstream.scenarios.studies.what_if.objectives import aim_of
from midstream.scenarios.studies.what_if.past import HALF_LIFE, remembered
from midstream.scenarios.studies.what_if.rows import SHOWN, order_rows, paid
from midstream.scenarios.studies.what_if.turns import STRATEGIES

if TYPE_CHECKING:
    from midstream.scenarios.studies.what_if.stage import WhatIf

NAME = "what-if"

CELLS = 250
"""How many stretches of time a picture shows at most."""

WORTH = 0.01
"""What changing the plan has to save of what one order costs, to be recommended."""


class WhatIfOptions(Options):
    """Options of pricing plans."""

    plan: PlanFile = None
    objective: Annotated[
        list[str],
        Field(
            min_length=1,
            default=["processing"],
            description="The costs that plans are compared by: processing, memory, state, latency, rate, "
            "buffers, intermediate, or a sum such as 'processing + 0.001 memory'; the first decides.",
        ),
        BeforeValidator(listed),
    ]
    half_life: str | None = Field(
        default=None,
        description=f"The age at which statistics count half; by default {HALF_LIFE} windows.",
    )
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
    from midstream.scenarios.studies.what_if.report import what_if_summary
    from midstream.scenarios.studies.what_if.stage import what_if

    query, half_life = work.request.plan(options.plan), _half_life(work.request, options)
    recording = work.recording
    work.tell("pricing plans")
    result = work.hold(
        what_if(recording, work.study, query, options.objective, half_life=half_life, limit=options.limit)
    )
    summary = what_if_summary(work.study, result, 0)
    cells = result.prices[0].stretches(CELLS)
    drawn = {
        "edges": [*(cell.start for cell in cells), *(cell.end for cell in cells[-1:])],
        "spent": [list(cell.spent) for cell in cells],
        "regret": [list(cell.regret) for cell in cells],
        "past_regret": [cell.past_regret for cell in cells],
    }
    rows = len(result.plans) * len(result.starts) * len(result.prices)
    return result, Outcome(summary, drawn, work.elements, rows)


def _write(result: WhatIf, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.studies.what_if.writing import write_what_if

    write_what_if(result, outcome.summary, folder)


def _tell(study: Study, outcome: Outcome) -> Report:
    summary = outcome.summary
    first = summary["objectives"][0]
    facts = [
        f"{summary['plans']:,} plans in {summary['orders']:,} orders were priced in each of "
        f"{summary['buckets']:,} buckets."
    ]
    facts += [
        f"By {one['objective']} they differ in {one['contested']:,} buckets, and the best order changes "
        f"{one['switches']:,} times. Always the best order would have cost {show_cost(one['least'])} "
        f"{one['unit']}{' on average' if one['is_mean'] else ''}."
        for one in summary["objectives"]
    ]
    tables = [table for one in summary["objectives"] for table in _tables(one)]
    pictures = [_picture(study, outcome)] if outcome.drawn["edges"] else []
    return Report(facts, _advice(first), tables, pictures)


def _tables(found: dict[str, Any]) -> list[Table]:
    unit, rest = found["unit"], len(found["orders"]) - SHOWN
    fixed = Table(
        f"What it costs to hold on to one order, by {found['objective']}",
        ("order", "plans", f"cost, {unit}", f"regret, {unit}", "regret", "best in buckets"),
        order_rows(found),
        note=f"{rest:,} orders cost more." if rest > 0 else "",
    )
    return [fixed, _turns(found)] if found["turns"] else [fixed]


def _turns(found: dict[str, Any]) -> Table:
    """What it costs to take turns, with migrations."""
    rows = [
        (turn["name"], "" if turn["free"] is None else show_cost(turn["free"]), *paid(turn))
        for turn in found["turns"]
    ]
    return Table(
        f"With the cost of migrating, {found['unit']}; in brackets, how many moves",
        ("order", "if moves were free", *STRATEGIES),
        rows,
    )


def _advice(found: dict[str, Any]) -> list[str]:
    """Which order to hold on to, and whether changing it pays, with what migrations cost."""
    orders = found["orders"]
    best = orders[0]
    given = next(one for one in orders if one["is_given"])
    if not best["spent"]:
        return []
    saved = 1 - best["spent"] / given["spent"]
    held = (
        "Hold on to the order as written: no other costs less in all."
        if best["is_given"]
        else f"Run {best['order']}: it costs {saved:.1%} less than the order as written."
    )
    turns = {turn["name"]: turn for turn in found["turns"]}
    if "clairvoyant" not in turns:
        return [held]
    most, past = (
        max(1 - one["spent"] / best["spent"] for key, one in turns[name].items() if isinstance(one, dict))
        for name in ("clairvoyant", "best by the past")
    )
    if most < WORTH:
        return [
            held,
            f"Do not change it while it runs: with what migrations cost, that would save {most:.1%} at most.",
        ]
    known = f"save {past:.1%}" if past > 0 else f"cost {-past:.1%} more"
    return [
        held,
        f"Changing it while it runs would save up to {most:.1%} more, migrations paid. To take always what "
        f"was best so far would {known}.",
    ]


def _picture(study: Study, outcome: Outcome) -> Picture:
    from midstream.scenarios.studies.run import pictures

    clock, edges = study.clock, outcome.drawn["edges"]
    step = clock.show_duration(edges[1] - edges[0])
    first = outcome.summary["objectives"][0]
    words = [
        f"{one['order']}: {show_cost(one['spent'])} {first['unit']}, {one['relative_regret']:.2%} more than "
        f"always the best, best in {one['best_in']:,} buckets."
        for one in first["orders"][:SHOWN]
    ]
    return Picture(
        "orders",
        "Which order was best",
        "Above, what the best order costs; then which one it was, blank where all cost the same; below, the "
        f"regret so far of holding on to one, and of taking what was best by the past. Each step is {step}.",
        words,
        partial(pictures.orders, clock, first, outcome.drawn),
    )


STAGE = Stage(NAME, WhatIfOptions, _run, _tell, _write, depends=_depends, after=("ingest",), check=_check)
