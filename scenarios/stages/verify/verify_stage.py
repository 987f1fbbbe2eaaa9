"""The stage that tries migrations at random."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from midstream.io.new_file import write_file
from midstream.io.requirements import require_libraries
from midstream.migration.strategies import STRATEGIES
from midstream.plans.values.artefacts import artefact_text
from midstream.scenarios.reports.contents import Report, Table
from midstream.scenarios.stages.base.options import Mutant, Names, Options, require_names
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.stages.base.stage import Outcome, Stage, Work
from midstream.scenarios.stages.base.summaries import Summary
from midstream.scenarios.streams.recorded.declaration import Study

if TYPE_CHECKING:
    from midstream.scenarios.stages.verify.case_runs import Draw, Findings

NAME = "verify"

SUMMARY = "verify.json"
"""The file with the counts, and with a counter-example."""


class VerifyOptions(Options):
    """Options of random migrations."""

    cases: int = Field(default=1000, ge=1, description="The number of cases that count.")
    seed: int = Field(default=1, ge=0, description="The seed of the first case.")
    kinds: Names | None = Field(
        default=None, description="Kinds of queries, with commas between; by default all."
    )
    strategies: Names | None = Field(
        default=None, description="Strategies that migrate, with commas between; by default all."
    )
    mutant: Mutant = None


def _check(request: Request, options: VerifyOptions) -> None:
    require_libraries(["hypothesis"], "testing", "drawing cases needs")
    from midstream.testing.families import KINDS

    require_names(request, "kinds", options.kinds or (), KINDS)
    require_names(request, "strategies", options.strategies or (), STRATEGIES)


def _run(work: Work, options: VerifyOptions) -> tuple[Findings, Outcome]:
    from midstream.scenarios.stages.verify import case_runs
    from midstream.testing.families import KINDS

    kinds, strategies = options.kinds or KINDS, options.strategies or STRATEGIES
    draw = case_runs.Draw(tuple(kinds), tuple(strategies), options.mutant)

    def tell(found: Findings) -> None:
        work.tell(f"{found.number('counted'):,} of {options.cases:,} cases")

    if work.session is None:
        portion = partial(case_runs.try_seeds, draw=draw)
    else:
        from midstream.scenarios.stages.verify.case_jobs import try_on_executors

        portion = partial(try_on_executors, work.session, draw)
    result = case_runs.verify(portion, options.cases, options.seed, tell)
    summary = _summary(result, draw, options)
    for broken in result.broken[:1]:
        work.tell("making a counter-example smaller")
        summary["counter_example"] = case_runs.shrunk(broken, draw).as_json(draw, broken.case)
    return result, Outcome(summary, {}, summary["seeds"], summary["counted"])


def _summary(found: Findings, draw: Draw, options: VerifyOptions) -> Summary:
    """Counts by strategy and outcome, and the seeds that break the law."""
    counts: dict[str, dict[str, int]] = {}
    for (strategy, outcome), n in sorted(found.counts.items()):
        counts.setdefault(strategy or "any", {})[outcome] = n
    return {
        "first_seed": options.seed,
        "seeds": found.tried,
        "asked": options.cases,
        "counted": found.number("counted"),
        "kinds": list(draw.kinds),
        "strategies": list(draw.strategies),
        "mutant": draw.mutant,
        "by_strategy": counts,
        "broken": [{"seed": one.seed, "failure": one.failure} for one in found.broken],
    }


def _write(result: Any, outcome: Outcome, folder: Path) -> None:
    """Write the counter-example, then the summary: so a summary that exists is complete."""
    if (one := outcome.summary.get("counter_example")) is not None:
        write_file(folder / _file(one), artefact_text({}, one, indent=2) + "\n")
    write_file(folder / SUMMARY, artefact_text({}, outcome.summary, indent=2) + "\n")


def _file(counter_example: Summary) -> str:
    return f"counter-example-{counter_example['seed']}.json"


def _tell(study: Study, outcome: Outcome) -> Report:
    summary = outcome.summary
    first = summary["first_seed"]
    facts = [f"{summary['seeds']:,} cases, seeds {first} to {first + summary['seeds'] - 1}."]
    advice = []
    if broken := [str(one["seed"]) for one in summary["broken"]]:
        one = summary["counter_example"]
        advice = [f"Do not migrate before this is understood: seeds {', '.join(broken)} break the law."]
        facts += [
            f"The simplest case from seed {one['seed']}: {one['failure']}",
            f"To try it again: midstream study verify-case {_file(one)}",
        ]
    else:
        facts.append("None breaks the law.")
    return Report(facts, advice, [_table(summary)], holds=not broken)


def _table(summary: Summary) -> Table:
    """The outcomes of each strategy, and of all."""
    from midstream.scenarios.stages.verify.case_runs import BROKEN
    from midstream.testing.cases import OUTCOMES

    by_strategy = summary["by_strategy"]
    totals = {one: sum(counts.get(one, 0) for counts in by_strategy.values()) for one in (*OUTCOMES, BROKEN)}
    shown = [one for one, n in totals.items() if n or one in OUTCOMES[:4]]
    rows = [
        (strategy, *(f"{by_strategy.get(strategy, {}).get(one, 0):,}" for one in shown))
        for strategy in summary["strategies"]
    ]
    rows.append(("all", *(f"{totals[one]:,}" for one in shown)))
    return Table("Migrations that were tried, by strategy and outcome", ("strategy", *shown), rows)


STAGE = Stage(
    NAME,
    VerifyOptions,
    _run,
    _tell,
    _write,
    files=(SUMMARY,),
    depends=lambda *_: None,
    check=_check,
    asks=(),
    help="""Try random migrations: a query moves to another plan, and must give the specified results.

    Each case is named by a seed. A folder for --output gets the counts as verify.json, and a counter-example
    for `midstream study verify-case`. Exit status 1 where a case breaks the law.
    """,
    examples=(
        "midstream study verify --cases 50000 --output found",
        "midstream study verify --master none --cases 200 --strategies genmig,swap",
        "midstream study verify --mutant split-too-early --output found",
    ),
)
