"""`midstream study verify`: cases of migrations at random, on Spark or in this process alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written, write_file
from midstream.io.plan_files import MOST_BYTES
from midstream.io.requirements import require_libraries, require_spark
from midstream.io.text_file import read_text
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.scenarios.studies.options import make_folder, reachable_mutant, some_of

if TYPE_CHECKING:
    from midstream.scenarios.studies.case_runs import Draw, Findings

ALONE = "none"
"""The master that stands for this process alone."""

SUMMARY = "verify.json"

EPILOG = examples(
    "midstream study verify --cases 50000 --output found",
    "midstream study verify --master none --cases 200 --strategies genmig,swap",
    "midstream study verify --mutant split-too-early --output found",
    "midstream study verify --case found/counter-example-17.json",
)


def verify(
    cases: Annotated[int, typer.Option(min=1, help="How many cases that count to try.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first case.")] = 1,
    strategies: Annotated[str | None, typer.Option(help="Those that migrate; by default all.")] = None,
    kinds: Annotated[str | None, typer.Option(help="Of queries; by default all.")] = None,
    mutant: Annotated[str | None, typer.Option(help="A planted fault that is to be found.")] = None,
    case: Annotated[
        Path | None, typer.Option(help="Try only this counter-example, which an earlier run wrote.")
    ] = None,
    master: Annotated[
        str, typer.Option(help="Where Spark runs, or none: this process alone, without Spark.")
    ] = "local[*]",
    output: Annotated[
        Path | None, typer.Option(help="A folder for the summary, and for counter-examples.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try random migrations: a query moves to another plan, and must give what is specified.

    Each case is named by a seed. Exit status 1 where one breaks the law.
    """
    require_libraries(["hypothesis"], "testing", "drawing cases needs")
    if case is not None:
        _try_again(case, as_json)
        return
    draw = _draw(kinds, strategies, mutant)
    if master != ALONE:
        require_spark()
    make_folder(output)
    from midstream.scenarios.studies import case_runs

    with ExitStack() as stack:
        with nothing_written():
            tell = stack.enter_context(_progress(cases))
            portion = stack.enter_context(_portions(master, draw))
            found = case_runs.verify(portion, cases, seed, tell)
            summary = verify_summary(found, draw, seed, cases)
            for broken in found.broken[:1]:
                summary["counter_example"] = case_runs.shrunk(broken, draw).as_json(draw, broken.case)
        if output is not None:
            write_verified(summary, output)
    _print(found, summary, draw, output, as_json)
    if found.broken:
        raise typer.Exit(1)


def _draw(kinds: str | None, strategies: str | None, mutant: str | None) -> Draw:
    """The choices from which cases are drawn.

    Raises   BadParameter, naming the option.
    """
    from midstream.migration.strategies import STRATEGIES
    from midstream.scenarios.studies.case_runs import Draw
    from midstream.testing.families import KINDS

    return Draw(
        some_of(KINDS, kinds, "--kinds"),
        some_of(STRATEGIES, strategies, "--strategies"),
        reachable_mutant(mutant),
    )


@contextmanager
def _portions(master: str, draw: Draw) -> Iterator[Callable[[range], Findings]]:
    """A function that tries the cases of a range of seeds."""
    if master == ALONE:
        from midstream.scenarios.studies.case_runs import try_seeds

        yield partial(try_seeds, draw=draw)
        return
    from midstream.scenarios.studies.case_jobs import try_on_executors
    from midstream.scenarios.studies.session import spark_session

    with spark_session(master) as spark:
        yield partial(try_on_executors, spark, draw)


def _try_again(file: Path, as_json: bool) -> None:
    """Try a counter-example; exit status 1 where it still breaks the law."""
    from midstream.testing.cases import case_from_json, failure_of

    try:
        data = json.loads(read_text(file, MOST_BYTES))
        case, mutant = case_from_json(data["case"]), data["mutant"]
    except (ValueError, KeyError, TypeError, MidstreamError) as error:
        if isinstance(error, InputFileError):
            raise
        raise InputFileError(f"{file}: found no counter-example: {error}", path=file) from error
    failure = failure_of(case, mutant)
    if as_json:
        typer.echo(json.dumps({"failure": failure, "mutant": mutant}, indent=2))
    else:
        typer.echo(f"{file}: {failure or 'it keeps the law'}")
    if failure is not None:
        raise typer.Exit(1)


def verify_summary(found: Findings, draw: Draw, seed: int, cases: int) -> dict[str, Any]:
    """Counts by strategy and outcome, and the seeds that break the law, as plain data for JSON."""
    counts: dict[str, dict[str, int]] = {}
    for (strategy, outcome), n in sorted(found.counts.items()):
        counts.setdefault(strategy or "any", {})[outcome] = n
    return {
        "first_seed": seed,
        "seeds": found.tried,
        "asked": cases,
        "counted": found.number("counted"),
        "kinds": list(draw.kinds),
        "strategies": list(draw.strategies),
        "mutant": draw.mutant,
        "by_strategy": counts,
        "broken": [{"seed": one.seed, "failure": one.failure} for one in found.broken],
    }


def write_verified(summary: dict[str, Any], folder: Path) -> None:
    """Write the counter-example, then the summary: so a summary that exists is complete."""
    if (one := summary.get("counter_example")) is not None:
        name = f"counter-example-{one['seed']}.json"
        write_file(folder / name, json.dumps(one, indent=2) + "\n")
    write_file(folder / SUMMARY, json.dumps(summary, indent=2) + "\n")


def _print(found: Findings, summary: dict[str, Any], draw: Draw, output: Path | None, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    from midstream.scenarios.studies.case_runs import table

    console = Console()
    header, *lines = table(found, draw.strategies)
    console.print(_table(header, lines))
    first = summary["first_seed"]
    console.print(f"{found.tried:,} cases, seeds {first} to {first + found.tried - 1}.", highlight=False)
    if not found.broken:
        console.print("None breaks the law.")
        return
    console.print(f"Seeds that break the law: {', '.join(str(one.seed) for one in found.broken)}")
    one = summary["counter_example"]
    console.print(
        f"The simplest case from seed {one['seed']}: {one['failure']}", highlight=False, markup=False
    )
    if output is not None:
        file = output / f"counter-example-{one['seed']}.json"
        console.print(f"To try it again: midstream study verify --case {file}", highlight=False, markup=False)


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, name in enumerate(header):
        found.add_column(name, justify="right" if i else "left")
    for line in lines:
        found.add_row(*line)
    return found


@contextmanager
def _progress(cases: int) -> Iterator[Callable[[Findings], None]]:
    """Show on stderr, if that is a terminal, the number of cases that count so far."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("cases that count", total=cases)
        yield lambda found: bar.update(task, completed=min(found.number("counted"), cases))
