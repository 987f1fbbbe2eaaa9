"""The stage that replays policies, and recommends settings of the autopilot."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from midstream.migration.strategies import find_strategy
from midstream.optimizer.cost.objective import objective_of
from midstream.plans.algebra.serialise import dumps
from midstream.plans.values.errors import ArgumentError, MigrationRefused, StatisticsError
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.policies.grid import grid_of
from midstream.scenarios.studies.policies.judging import CLAIRVOYANT, flown
from midstream.scenarios.studies.policies.rows import TITLES, policy_rows
from midstream.scenarios.studies.run.stage import Found, Picture, Stage, Table, Told, Work

if TYPE_CHECKING:
    from midstream.autopilot.settings import Settings
    from midstream.scenarios.studies.run.study_file import StudyFile

NAME = "policies"

WORTH = 0.01
"""What an autopilot has to save of what the best fixed order costs, to be recommended."""


class Options(Strict):
    """plan       a file with a plan instead of the study's query, relative to the study file
    grid         which settings of the autopilot to try: names, or a JSON file
    strategy     how migrations are made
    objective    what the autopilot compares plans by
    charts       in so many parts charts cut costs
    repeat       after how long the best order is repeated
    """

    plan: str | None = None
    grid: Annotated[
        str, BeforeValidator(lambda given: ",".join(map(str, given)) if isinstance(given, list) else given)
    ] = "careful,balanced,eager"
    strategy: str = "auto"
    objective: str = "intermediate"
    charts: list[Annotated[int, Field(ge=1)]] | None = None
    repeat: str | None = None


def _grid(file: StudyFile, options: Options) -> dict[str, Settings]:
    place = file.folder / options.grid
    return grid_of(str(place) if Path(options.grid).suffix == ".json" else options.grid)


def _period(file: StudyFile, options: Options) -> int | None:
    given = options.repeat
    return None if given is None else file.chronons(("stages", NAME, "repeat"), given)


def _check(file: StudyFile, options: Options) -> None:
    file.query(NAME, options.plan)
    _period(file, options)
    for key, check in (
        ("grid", lambda: _grid(file, options)),
        ("strategy", lambda: find_strategy(options.strategy)),
        ("objective", lambda: objective_of(options.objective)),
    ):
        with file.document.errors_at(("stages", NAME, key), ArgumentError, MigrationRefused, StatisticsError):
            check()


def _reads(file: StudyFile, options: Options) -> Any:
    grid = {name: one.dumps() for name, one in _grid(file, options).items()}
    return [file.study.since, file.study.until, dumps(file.query(NAME, options.plan)), grid]


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies.policies.report import policies_summary, write_policies
    from midstream.scenarios.studies.policies.stage import CHARTS, policies

    recording = work.recording
    work.tell("replaying")
    found = policies(
        recording,
        work.study,
        work.file.query(NAME, options.plan),
        _grid(work.file, options),
        objective=objective_of(options.objective),
        strategy=options.strategy,
        charts=options.charts or CHARTS,
        period=_period(work.file, options),
    )
    summary = policies_summary(work.study, found)
    write_policies(found, summary, work.place)
    return Found(summary, {}, work.elements, len(found.judged))


def _told(file: StudyFile, found: Found) -> Told:
    summary = found.summary
    unit = summary["cost_unit"]
    table = Table(
        f"What policies cost, {unit} of all plans that ran",
        [title.replace("\n", " ") for title in TITLES],
        policy_rows(summary),
        note="* marks what nothing else beats in both cost and moves.",
    )
    facts = [
        f"Migrations are made by {' or '.join(summary['strategies'])}. Orders differ in "
        f"{summary['contested']:,} of {summary['buckets']:,} buckets."
    ]
    return Told(facts, _advice(summary), [table], [_picture(summary)])


def _advice(summary: dict[str, Any]) -> list[str]:
    """Which settings to give the autopilot, or to leave it out."""
    policies = {one["policy"]: one for one in summary["policies"]}
    best = policies[flown(summary["recommended"])]
    of_fixed, least = best["of_fixed"], policies[CLAIRVOYANT]["of_fixed"]
    if of_fixed is None or least is None:
        return []
    possible = f"the cheapest way that there was costs {least:.3f} of it"
    if of_fixed > 1 - WORTH:
        return [
            f"Do not let the autopilot decide: with the settings {summary['recommended']}, it costs "
            f"{of_fixed:.3f} of the best fixed order; {possible}."
        ]
    return [
        f"Let the autopilot decide, with the settings {summary['recommended']} in {NAME}/autopilot.json: it "
        f"costs {of_fixed:.3f} of the best fixed order, with {best['moves']:,} migrations; {possible}."
    ]


def _picture(summary: dict[str, Any]) -> Picture:
    from midstream.scenarios.studies.run import pictures

    words = [
        f"{one['policy']}: {one['total']:,.0f} {summary['cost_unit']}, {one['moves']:,} migrations."
        for one in summary["policies"]
    ]
    return Picture(
        "policies",
        "What policies cost",
        "Each point is a policy: what all plans that ran cost, over the number of migrations. The line joins "
        "those that nothing else beats in both.",
        words,
        partial(pictures.policies, summary),
    )


STAGE = Stage(NAME, Options, _run, _told, reads=_reads, after=("ingest",), check=_check)
