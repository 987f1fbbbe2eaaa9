"""`midstream simulate`: how strategies of migration behave on a scenario."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from midstream.console.options import STRATEGY_NAMES
from midstream.console.progress import progress_bar
from midstream.io.new_file import checked_folder
from midstream.io.requirements import require_libraries
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from midstream.scenarios.trials.simulator.scenario import Scenario

DATA_VARIABLE = "MIDSTREAM_DATA"
"""The environment variable with the folder of recorded streams."""


def simulate(
    scenario: Annotated[
        str | None, typer.Argument(help="A scenario file (.yaml), or the name of a ready-made scenario.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the ready-made scenarios, and exit.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="A file for the report, an HTML page. Needs matplotlib.")
    ] = None,
    charts: Annotated[
        Path | None,
        typer.Option(help="A folder for the report's charts, an SVG file each. Needs matplotlib."),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(help="A file for the chart of what policies cost, as SVG. Needs matplotlib."),
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", help="A file for everything that was measured, as JSON.")
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="A strategy to run, instead of the scenario's; may be given several times. There are "
            f"{STRATEGY_NAMES}."
        ),
    ] = None,
    repetitions: Annotated[int | None, typer.Option(help="How often, instead of the scenario's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the streams, instead of the scenario's.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            envvar=DATA_VARIABLE, help="The folder with recorded streams, for scenarios that replay them."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A first look: one repetition, and of many elements one out of ten. Policies are priced "
            "without the engine.",
        ),
    ] = False,
) -> None:
    """Run a scenario without migration, with each strategy, and with the new plans alone.

    A scenario without migrations runs each of its plans. Where it names policies, each of them decides which
    plan runs. The results, and what they cost, are compared.

    Exit status: 0 if all results mean the same, snapshot by snapshot, and all claims hold, 1 if not, 2 for
    bad input.
    """
    require_libraries(("pydantic", "PyYAML"), "simulate", "simulations need")
    from midstream.scenarios.trials.simulator.scenario import load_scenario, packaged

    if list_:
        ready = packaged()
        width = max(map(len, ready), default=0)
        for name, line in ready.items():
            typer.echo(f"{name:{width}}  {line}")
        return
    if scenario is None:
        raise typer.BadParameter(
            "found nothing, expected a file or a name; --list names those that are ready"
        )
    # A long run should not fail at its end.
    if charts is not None and not charts.is_dir():
        checked_folder(charts)
        if charts.exists():
            raise InputFileError(f"{charts}: this is a file, expected a folder", path=charts)
    for file in filter(None, (report, json_, chart)):
        checked_folder(file)
    if report is not None or charts is not None or chart is not None:
        from midstream.scenarios.reports.pictures import require_matplotlib

        require_matplotlib()
    if report is not None:
        require_libraries(["jinja2"], "simulate", "reports need")
    wished = _as_wished(load_scenario(scenario, data), strategy, 1 if quick else repetitions, seed)

    if chart is not None and not wished.policies:
        raise InputFileError(
            f"--chart: found no policies in {wished.spec.name}; --charts writes the charts of others"
        )

    from rich.console import Console

    from midstream.io.distinct_files import require_distinct_files
    from midstream.io.new_file import nothing_written, write_file
    from midstream.io.output import STDOUT
    from midstream.scenarios.reports.terminal import show_sections
    from midstream.scenarios.trials.simulator.report import (
        chart_files,
        write_charts,
        write_policy_chart,
        write_report,
    )
    from midstream.scenarios.trials.simulator.report_tables import sections
    from midstream.scenarios.trials.simulator.simulating import simulate as run_all

    written = [
        (use, path)
        for use, path in (("--report", report), ("--json", json_), ("--chart", chart))
        if path is not None
    ]
    charted = [] if charts is None else [("--charts", path) for path in chart_files(charts)]
    require_distinct_files(_files(scenario, wished), [*written, *charted])
    with progress_bar("runs") as advance, nothing_written():
        simulation = run_all(wished, advance, is_quick=quick)
    if json_ is not None:
        write_file(json_, json.dumps(simulation.as_dict(), indent=1, ensure_ascii=False) + "\n")
    if report is not None:
        write_report(simulation, report)
    if charts is not None:
        write_charts(simulation, charts)
    if chart is not None:
        write_policy_chart(simulation, chart)
    # The table goes to standard output unless a file went there.
    console = Console(stderr=any(str(path) == STDOUT for _, path in written))
    show_sections(f"{simulation.name}, seed {simulation.seed}", sections(simulation), console)
    if not (simulation.is_equal and simulation.holds):
        raise typer.Exit(1)


def _files(name: str, scenario: Scenario) -> Iterator[tuple[str, Path]]:
    """The files that a scenario is made of."""
    from midstream.scenarios.streams.stream_spec import Trace

    yield "SCENARIO", Path(name)
    for stream, spec in scenario.spec.streams.items():
        if isinstance(spec.arrivals, Trace):
            yield f"stream {stream}", spec.arrivals.path
    for plan, given in scenario.spec.plans.items():
        if given.file is not None:
            yield f"plan {plan}", Path(name).parent / given.file


def _as_wished(
    scenario: Scenario, strategies: list[str] | None, repetitions: int | None, seed: int | None
) -> Scenario:
    from midstream.migration.strategies import STRATEGIES
    from midstream.scenarios.trials.simulator.variants import Variant

    own = {variant.name: variant for variant in scenario.variants}
    if strategies and not scenario.spec.strategies:
        raise InputFileError("--strategy: found a scenario without migrations, in which each plan runs alone")
    variants = {} if strategies else own
    for name in strategies or ():
        known = list(dict.fromkeys((*own, *STRATEGIES)))
        if name not in known:
            raise InputFileError(
                f"--strategy: found {name!r}, expected one of {', '.join(known)}{suggest(name, known)}"
            )
        variants[name] = own.get(name) or Variant.of(name)
    changes: dict[str, object] = {}
    if repetitions is not None:
        if repetitions < 1:
            raise InputFileError(f"--repetitions: found {repetitions}, expected 1 or more")
        changes["repetitions"] = repetitions
    if seed is not None:
        changes["seed"] = seed
    return replace(scenario, spec=scenario.spec.model_copy(update=changes), variants=tuple(variants.values()))
