"""`midstream run` and `midstream explain`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.commands import options
from midstream.console.options import AsJson
from midstream.console.state_line import showing
from midstream.plans.values.errors import MidstreamError

if TYPE_CHECKING:
    from midstream.commands.autopilot_options import AutopilotOptions
    from midstream.commands.budget_options import BudgetOptions
    from midstream.commands.comparing import Comparison
    from midstream.commands.explaining import Stage

Drawing = tuple[str, str, Path]
"""An option, the query that it draws, and the file."""


def run(
    script: options.Script,
    source: options.Sources = None,
    output: options.Output = "-",
    form: options.Format = None,
    rows: options.Rows = None,
    dead_letters: options.DeadLetters = None,
    slack: options.Slack = None,
    delay: options.Delay = None,
    idle: options.Idle = None,
    header: options.Header = True,
    times: options.Times = None,
    save_stats: Annotated[
        Path | None, typer.Option(help="A file for statistics of the streams (JSON), as explain reads them.")
    ] = None,
    autopilot: Annotated[
        str | None,
        typer.Option(
            help="Move queries to cheaper plans as streams change: careful, balanced, eager, or a file of "
            "settings (JSON). Decisions are printed on standard error."
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(help="A file for the autopilot's decisions (JSON Lines), which are printed else."),
    ] = None,
    autopilot_chart: Annotated[
        Path | None,
        typer.Option(help="A file for a chart (.svg, .png) of migrations and of costs of plans."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="The most memory for elements, such as 100MB: windows, granules and samples with bounds "
            "follow it. Adjustments are printed on standard error."
        ),
    ] = None,
    processor: Annotated[
        str | None, typer.Option(help="The largest share of one processor, such as 30%, likewise.")
    ] = None,
    reserve: Annotated[
        str, typer.Option(help="The share of the budget that stays free, for bursts.")
    ] = "10%",
    budget_decisions: Annotated[
        Path | None,
        typer.Option(help="A file for the looks at the budget (JSON Lines), which are printed else."),
    ] = None,
    budget_chart: Annotated[
        Path | None,
        typer.Option(help="A file for a chart (.svg, .png) of memory and adjustments beside the budget."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            help="The application time between looks of the autopilot and at the budget, such as 90s or '5 "
            "minutes'; by default an eighth of the largest window. Queries without a time window need it."
        ),
    ] = None,
    unit: options.Unit = None,
    functions: options.Functions = None,
) -> None:
    """Run the queries of a script and write their results as soon as they are ready.

    Each line is {"start": 1000, "end": 6000, "row": {"item": 7}}, in order of start; "end": null is for ever.
    """
    from midstream.commands.running import RunSettings, run_queries

    catalog, queries = options.read(script, unit, functions)
    looks = options.every_of(every, catalog)
    within = _budget_options(
        memory, processor, reserve, budget_decisions, budget_chart, looks, catalog.unit.nanoseconds / 1000
    )
    is_flown = within is None or any(one is not None for one in (autopilot, decisions, autopilot_chart))
    settings = RunSettings(
        options.sources_of(catalog, source or []),
        output,
        form,
        rows,
        dead_letters,
        options.slack_of(slack, catalog),
        header,
        options.also_read(script, functions),
        times,
        save_stats,
        _autopilot_options(autopilot, decisions, autopilot_chart, looks) if is_flown else None,
        within,
        options.delay_of(delay, catalog),
        options.idle_of(idle),
    )
    with showing(beside_results=output == "-", form=form) as show:
        summary = run_queries(catalog, queries, settings, show)
    if output != "-":
        typer.echo(str(summary), err=True)
    options.tell(summary.notes)


def _autopilot_options(
    settings: str | None, decisions: Path | None, chart: Path | None, every: int | None
) -> AutopilotOptions | None:
    """The autopilot's settings; None if no option mentions an autopilot."""
    from midstream.commands.autopilot_chart import require_form
    from midstream.commands.autopilot_options import AutopilotOptions

    if settings is None and decisions is None and chart is None and every is None:
        return None
    if chart is not None:
        require_form(chart, "--autopilot-chart")
    return AutopilotOptions(
        settings or "balanced", decisions, chart, lambda line: typer.echo(line, err=True), every
    )


def _budget_options(
    memory: str | None,
    processor: str | None,
    reserve: str,
    decisions: Path | None,
    chart: Path | None,
    every: int | None,
    chronon: float,
) -> BudgetOptions | None:
    """The settings of a budget; None if no option mentions one."""
    from midstream.commands.autopilot_chart import require_form
    from midstream.commands.budget_options import BudgetOptions
    from midstream.optimizer.allocation.limits import bytes_of, share_of

    if memory is None and processor is None:
        if decisions is not None or chart is not None:
            raise MidstreamError("--budget-decisions and --budget-chart need --memory, --processor or both")
        return None
    if memory is not None:
        bytes_of(memory, "--memory")
    if processor is not None:
        share_of(processor, "--processor")
    if chart is not None:
        require_form(chart, "--budget-chart")
    free = 0.0 if reserve in ("0", "0%") else share_of(reserve, "--reserve")
    return BudgetOptions(
        memory,
        processor,
        free,
        decisions,
        chart,
        lambda line: typer.echo(line, err=True),
        chronon,
        every,
    )


def explain(
    script: options.Script,
    svg: Annotated[
        Path | None,
        typer.Option(
            help="A file for a drawing of the physical plan; of several queries, each has one with its name."
        ),
    ] = None,
    dot: Annotated[Path | None, typer.Option(help="A file for the same in Graphviz' language.")] = None,
    stage: Annotated[
        str, typer.Option(help="The plan to draw: physical, logical, or the number of a stage from 1.")
    ] = "physical",
    all_: Annotated[
        bool,
        typer.Option(
            "--all", help="Show every rewriting, the properties of each operator, and how the plan was found."
        ),
    ] = False,
    notes: Annotated[
        bool, typer.Option(help="Show the properties of each operator, with --all and in drawings.")
    ] = True,
    number: Annotated[
        int | None,
        typer.Option(
            "--alternatives",
            min=1,
            help="Show this number of the cheapest plans instead, and why the first wins.",
        ),
    ] = None,
    stats: options.Stats = None,
    objective: Annotated[
        str,
        typer.Option(
            help="The costs to keep small: processing, memory, state, latency, rate (1 / results), buffers, "
            "intermediate (results); sums such as 'processing + 0.001 memory'; or om(0.4, 0.6)."
        ),
    ] = "processing",
    as_json: AsJson = False,
    unit: options.Unit = None,
    functions: options.Functions = None,
) -> None:
    """Show how the queries of a script are carried out: the plan that runs, and the rules that led to it.

    --all shows the plan as written, each rewriting, and the facts about each operator. Costs need statistics.
    """
    from midstream.commands.comparing import compare
    from midstream.commands.explaining import explain as explained
    from midstream.commands.explaining import shared_parts
    from midstream.commands.running import source_files
    from midstream.io.distinct_files import require_distinct_files
    from midstream.optimizer.cost.objective import objective_of
    from midstream.optimizer.statistics_file import read_statistics

    catalog, queries = options.read(script, unit, functions)
    wanted = replace(objective_of(objective), chronon=catalog.unit.nanoseconds / 1000)
    known = None if stats is None else read_statistics(stats, [query.plan for query in queries])
    reads = [*options.also_read(script, functions), *source_files(catalog, {}), ("--stats", stats)]
    drawings = _drawings({"--svg": svg, "--dot": dot}, [query.name for query in queries])
    require_distinct_files(reads, [(option, path) for option, _, path in drawings])
    if svg is not None and svg.suffix.lower() not in ("", ".svg"):
        raise MidstreamError(f"--svg: found {svg}, expected a file in .svg")
    if number is not None:
        if stage != "physical":
            raise MidstreamError(f"--stage: found {stage!r}, expected none beside --alternatives")
        compared = {query.name: compare(query.plan, number, known, wanted) for query in queries}
        ways = {"--svg": lambda name: compared[name].svg(), "--dot": lambda name: compared[name].dot()}
        if not _draw(drawings, ways):
            _show_alternatives(compared, as_json, catalog.unit.name)
        return
    explanations = {query.name: explained(query.plan, known, objective=wanted) for query in queries}

    def drawn(query: str) -> Stage:
        return _stage(explanations[query].stages, stage)

    draw = {"--svg": lambda name: drawn(name).svg(notes), "--dot": lambda name: drawn(name).dot(notes)}
    if _draw(drawings, draw):
        return
    parts = shared_parts(explanations, known) if len(queries) > 1 else ()
    if as_json:
        shown = {
            name: {
                **one.as_dict(),
                "shared": [part.as_dict() for part in parts if name in part.users],
                "time_unit": catalog.unit.name,
            }
            for name, one in explanations.items()
        }
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        for query in queries:
            title = f"{query.name}\n\n" if len(queries) > 1 else ""
            explanation = explanations[query.name]
            text = explanation.all_text(notes) if all_ else explanation.text()
            typer.echo(f"{title}{text}\ntime is counted in {catalog.unit.name}\n")
        for part in parts:
            cost = "" if known is None else f": {part.cost:.4g} µs per chronon"
            typer.echo(f"{' and '.join(part.users)} share {part.node.operator}{cost}")
        if not all_:
            typer.echo("--all shows every rewriting, and the facts about each operator")


def _show_alternatives(compared: Mapping[str, Comparison], as_json: bool, unit: str) -> None:
    """Print the cheapest plans of each query."""
    if as_json:
        shown = {name: {**one.as_dict(), "time_unit": unit} for name, one in compared.items()}
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    for name, one in compared.items():
        title = f"{name}\n\n" if len(compared) > 1 else ""
        typer.echo(f"{title}{one.text()}\ntime is counted in {unit}\n")


def _drawings(paths: Mapping[str, Path | None], queries: Sequence[str]) -> list[Drawing]:
    """The drawings that the options ask for; each of several queries has its own file.

    Raises   MidstreamError where several queries would be drawn to standard output.
    """
    from midstream.io.new_file import file_of, is_special
    from midstream.io.output import STDOUT

    found: list[Drawing] = []
    for option, path in paths.items():
        if path is None:
            continue
        if len(queries) == 1:
            found.append((option, queries[0], path))
        elif str(path) == STDOUT or is_special(path):
            raise MidstreamError(
                f"{option}: found {len(queries)} queries, expected one to draw to {path}; in a name such as "
                f"plan{option.replace('--', '.')} each has a file of its own"
            )
        else:
            found += [(option, query, file_of(path, query)) for query in queries]
    return found


def _draw(drawings: Sequence[Drawing], draw: Mapping[str, Callable[[str], str]]) -> bool:
    """Write drawings in the form of each option; True if one went to standard output."""
    from midstream.io.new_file import write_file
    from midstream.io.output import STDOUT

    for option, query, path in drawings:
        write_file(path, draw[option](query))
    return any(str(path) == STDOUT for _, _, path in drawings)


def _stage(stages: Sequence[Stage], wanted: str) -> Stage:
    if wanted in ("physical", "logical"):
        return stages[-1 if wanted == "physical" else 0]
    if wanted.isascii() and wanted.isdigit() and 0 < int(wanted) <= len(stages):
        return stages[int(wanted) - 1]
    raise MidstreamError(
        f"--stage: found {wanted!r}, expected physical, logical or a number from 1 to {len(stages)}"
    )
