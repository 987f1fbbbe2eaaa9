"""The stage that prices the plans of a query."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.inputs import plan_inputs
from midstream.scenarios.studies.pricing import show_cost
from midstream.scenarios.studies.run.stage import Found, Picture, Stage, Table, Told, Work
from midstream.scenarios.studies.what_if.candidates import LIMIT
from midstream.scenarios.studies.what_if.objectives import aim_of
from midstream.scenarios.studies.what_if.past import HALF_LIFE, remembered
from midstream.scenarios.studies.what_if.rows import SHOWN, order_rows, paid
from midstream.scenarios.studies.what_if.turns import STRATEGIES

if TYPE_CHECKING:
    from midstream.scenarios.studies.run.study_file import StudyFile

NAME = "what-if"

CELLS = 250
"""How many stretches of time a picture shows at most."""

WORTH = 0.01
"""What changing the plan has to save of what one order costs, to be recommended."""


class Options(Strict):
    """plan       a file with a plan instead of the study's query, relative to the study file
    objective     what plans are compared by; or a list, the first of which decides
    half_life     when what lies before a bucket counts half
    limit         how many plans to price at most
    """

    plan: str | None = None
    objective: Annotated[
        list[str],
        Field(min_length=1, default=["processing"]),
        BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    ]
    half_life: str | None = Field(default=None, alias="half-life")
    limit: int = Field(default=LIMIT, ge=1)


def _half_life(file: StudyFile, options: Options) -> int:
    place = ("stages", NAME, "half-life")
    window = max(one.length for one in plan_inputs(file.query(NAME, options.plan), file.study.streams))
    given = options.half_life
    half_life = HALF_LIFE * window if given is None else file.chronons(place, given)
    with file.document.errors_at(place, ArgumentError):
        remembered(half_life, file.bucket)
    return half_life


def _check(file: StudyFile, options: Options) -> None:
    _half_life(file, options)
    with file.document.errors_at(("stages", NAME, "objective"), StatisticsError):
        for objective in options.objective:
            aim_of(objective, file.study.clock)


def _reads(file: StudyFile, options: Options) -> Any:
    return [*file.part, dumps(file.query(NAME, options.plan)), repr(units_in_use())]


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies.what_if.report import what_if_summary
    from midstream.scenarios.studies.what_if.stage import what_if
    from midstream.scenarios.studies.what_if.writing import write_what_if

    query, half_life = work.file.query(NAME, options.plan), _half_life(work.file, options)
    recording = work.recording
    work.tell("pricing plans")
    with what_if(
        recording, work.study, query, options.objective, half_life=half_life, limit=options.limit
    ) as found:
        summary = what_if_summary(work.study, found, 0)
        write_what_if(found, summary, work.place)
        cells = found.prices[0].stretches(CELLS)
        drawn = {
            "edges": [*(cell.start for cell in cells), *(cell.end for cell in cells[-1:])],
            "spent": [list(cell.spent) for cell in cells],
            "regret": [list(cell.regret) for cell in cells],
            "past_regret": [cell.past_regret for cell in cells],
        }
        rows = len(found.plans) * len(found.starts) * len(found.prices)
        return Found(summary, drawn, work.elements, rows)


def _told(file: StudyFile, found: Found) -> Told:
    summary = found.summary
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
    pictures = [_picture(file, found)] if found.drawn["edges"] else []
    return Told(facts, _advice(first), tables, pictures)


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


def _picture(file: StudyFile, found: Found) -> Picture:
    from midstream.scenarios.studies.run import pictures

    clock, edges = file.study.clock, found.drawn["edges"]
    step = clock.show_duration(edges[1] - edges[0])
    first = found.summary["objectives"][0]
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
        partial(pictures.orders, clock, first, found.drawn),
    )


STAGE = Stage(NAME, Options, _run, _told, reads=_reads, after=("ingest",), check=_check)
