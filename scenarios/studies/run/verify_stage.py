"""The stage that tries migrations at random."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from midstream.io.requirements import require_libraries
from midstream.migration.strategies import STRATEGIES
from midstream.plans.values.schema import suggest
from midstream.scenarios.simulator.stream_spec import Strict
from midstream.scenarios.studies.run.stage import Found, Stage, Table, Told, Work

if TYPE_CHECKING:
    from midstream.scenarios.studies.run.study_file import StudyFile

NAME = "verify"


class Options(Strict):
    """cases        until so many count
    seed         the first one
    kinds        of queries; all of them unless told otherwise
    strategies   of migration; all of them unless told otherwise
    """

    cases: int = Field(default=1000, ge=1)
    seed: int = Field(default=1, ge=0)
    kinds: list[str] | None = None
    strategies: list[str] | None = None


def _check(file: StudyFile, options: Options) -> None:
    require_libraries(["hypothesis"], "testing", "drawing cases needs")
    from midstream.testing.families import KINDS

    for key, given, known in (
        ("kinds", options.kinds, tuple(KINDS)),
        ("strategies", options.strategies, tuple(STRATEGIES)),
    ):
        for one in given or ():
            if one not in known:
                expected = f"some of {', '.join(known)}{suggest(one, known)}"
                raise file.document.error(("stages", NAME, key), f"found {one}, expected {expected}")


def _run(work: Work, options: Options) -> Found:
    from midstream.scenarios.studies import case_runs
    from midstream.scenarios.studies.case_jobs import try_on_executors
    from midstream.scenarios.studies.verify_commands import verify_summary, write_verified
    from midstream.testing.families import KINDS

    kinds, strategies = options.kinds or KINDS, options.strategies or STRATEGIES
    draw = case_runs.Draw(tuple(kinds), tuple(strategies), None)

    def tell(found: case_runs.Findings) -> None:
        work.tell(f"{found.number('counted'):,} of {options.cases:,} cases")

    portion = partial(try_on_executors, work.spark, draw)
    found = case_runs.verify(portion, options.cases, options.seed, tell)
    summary = verify_summary(found, draw, options.seed, options.cases)
    for broken in found.broken[:1]:
        work.tell("making a counter-example smaller")
        summary["counter_example"] = case_runs.shrunk(broken, draw).as_json(draw, broken.case)
    write_verified(summary, work.place)
    return Found(summary, {}, summary["seeds"], summary["counted"])


def _told(file: StudyFile, found: Found) -> Told:
    summary = found.summary
    outcomes = list(dict.fromkeys(one for counts in summary["by_strategy"].values() for one in counts))
    rows = [
        (strategy, *(f"{counts.get(one, 0):,}" for one in outcomes))
        for strategy, counts in summary["by_strategy"].items()
    ]
    broken = [one["seed"] for one in summary["broken"]]
    facts = [f"{summary['seeds']:,} migrations were tried, {summary['counted']:,} of them count."]
    advice = []
    if broken:
        advice = [
            f"Do not migrate before this is understood: cases {', '.join(map(str, broken))} break the law."
        ]
    else:
        facts.append("None breaks the law.")
    table = Table("Migrations that were tried, by strategy and outcome", ("strategy", *outcomes), rows)
    return Told(facts, advice, [table], holds=not broken)


STAGE = Stage(NAME, Options, _run, _told, reads=lambda file, options: None, check=_check)
