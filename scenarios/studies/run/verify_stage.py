"""The stage that tries migrations at random."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from midstream.io.requirements import require_libraries
from midstream.migration.strategies import STRATEGIES
from midstream.plans.values.schema import suggest
from midstream.scenarios.studies.contents import Report, Table
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.run.request import Request
from midstream.scenarios.studies.run.stage import Options, Outcome, Stage, Work

NAME = "verify"


class VerifyOptions(Options):
    """Options of random migrations."""

    cases: int = Field(default=1000, ge=1, description="The number of cases that count.")
    seed: int = Field(default=1, ge=0, description="The seed of the first case.")
    kinds: list[str] | None = Field(default=None, description="Kinds of queries; by default all.")
    strategies: list[str] | None = Field(default=None, description="Strategies that migrate; by default all.")


def _check(request: Request, options: VerifyOptions) -> None:
    require_libraries(["hypothesis"], "testing", "drawing cases needs")
    from midstream.testing.families import KINDS

    for key, given, known in (
        ("kinds", options.kinds, tuple(KINDS)),
        ("strategies", options.strategies, tuple(STRATEGIES)),
    ):
        for one in given or ():
            if one not in known:
                expected = f"some of {', '.join(known)}{suggest(one, known)}"
                raise request.error(key, f"found {one}, expected {expected}")


def _run(work: Work, options: VerifyOptions) -> tuple[Any, Outcome]:
    from midstream.scenarios.studies import case_runs
    from midstream.scenarios.studies.case_jobs import try_on_executors
    from midstream.scenarios.studies.verify_commands import verify_summary
    from midstream.testing.families import KINDS

    kinds, strategies = options.kinds or KINDS, options.strategies or STRATEGIES
    draw = case_runs.Draw(tuple(kinds), tuple(strategies), None)

    def tell(found: case_runs.Findings) -> None:
        work.tell(f"{found.number('counted'):,} of {options.cases:,} cases")

    portion = partial(try_on_executors, work.spark, draw)
    result = case_runs.verify(portion, options.cases, options.seed, tell)
    summary = verify_summary(result, draw, options.seed, options.cases)
    for broken in result.broken[:1]:
        work.tell("making a counter-example smaller")
        summary["counter_example"] = case_runs.shrunk(broken, draw).as_json(draw, broken.case)
    return result, Outcome(summary, {}, summary["seeds"], summary["counted"])


def _write(result: Any, outcome: Outcome, folder: Path) -> None:
    from midstream.scenarios.studies.verify_commands import write_verified

    write_verified(outcome.summary, folder)


def _tell(study: Study, outcome: Outcome) -> Report:
    summary = outcome.summary
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
    return Report(facts, advice, [table], holds=not broken)


STAGE = Stage(NAME, VerifyOptions, _run, _tell, _write, depends=lambda *_: None, check=_check)
