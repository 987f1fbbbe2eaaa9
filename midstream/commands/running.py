"""Run a script: from its sources through an engine to sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from midstream.commands import generated
from midstream.commands.autopilot_options import AutopilotOptions
from midstream.commands.budget_options import BudgetOptions
from midstream.commands.explaining import plan_to_run
from midstream.commands.refused import Refused
from midstream.commands.relations import load
from midstream.commands.seen_statistics import SeenStatistics
from midstream.commands.times import Times, cut_off
from midstream.console.process import Uninterrupted
from midstream.console.state_line import Show, State
from midstream.engine import Engine
from midstream.io import BadRows, Sink, open_sink, open_source
from midstream.io import Source as Input
from midstream.io.distinct_files import PossibleUse, Use, require_distinct_files
from midstream.io.file_formats import files_of
from midstream.io.new_file import NewFile, file_of, is_special
from midstream.io.output import STDOUT
from midstream.io.sources.clock import system_clock
from midstream.io.sources.rows import part
from midstream.io.text_file import read_text
from midstream.io.timestamps import Timestamps
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.plans.algebra.operators import CountWindow, PartitionedWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.sql.catalog import Catalog, Query
from midstream.plans.sql.declarations import RelationDeclaration, SourceClause, StreamDeclaration
from midstream.plans.sql.faults import Script
from midstream.plans.values.errors import InputFileError, MidstreamError, TieError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, Batch, Element, Time
from midstream.runner import Runner


@dataclass(frozen=True)
class RunSettings:
    """The settings with which a script runs.

    sources         by stream or relation, a path, "-" for standard input, or a clause; it replaces the
                    script's source
    output          a path, or "-" for standard output; each of several queries has its own file, with its
                    name before the suffix
    form            the format of the output; by default the suffix tells
    rows            the largest number of rows from each stream; of generated streams, events in all
    dead_letters    a file for rows that do not fit, or come too late; without it they end the run
    slack           the number of chronons that rows may be late
    has_header      True if CSV files begin with the names of their columns
    read            further files that are read, such as the script, and that no output may overwrite
    times           the form of times, iso or integer; by default that of the input
    stats           a file for statistics of the streams
    autopilot       the options of an autopilot
    budget          the options of a budget
    delay           the most chronons by which live rows arrive after their times; with it, time goes on by
                    the clock while they are silent
    idle            the seconds of silence after which a live source does not hold up the others
    """

    sources: Mapping[str, str | SourceClause] = field(default_factory=dict)
    output: str = "-"
    form: str | None = None
    rows: int | None = None
    dead_letters: Path | None = None
    slack: int | None = None
    has_header: bool = True
    read: Sequence[PossibleUse] = ()
    times: str | None = None
    stats: Path | None = None
    autopilot: AutopilotOptions | None = None
    budget: BudgetOptions | None = None
    delay: int | None = None
    idle: float | None = None


@dataclass(frozen=True)
class RunSummary:
    """The counts and notes of a run."""

    elements: int
    results: Mapping[str, int]
    """The number of results of each query."""
    rejected: int
    """Rows that went to the dead letters."""
    notes: Sequence[str] = ()
    """Further notes for the user."""

    def __str__(self) -> str:
        results = ", ".join(f"{count:,} results of {name}" for name, count in self.results.items())
        rejected = f", {self.rejected:,} rows rejected" if self.rejected else ""
        return f"{self.elements:,} elements, {results}{rejected}"


def run_queries(
    catalog: Catalog,
    queries: Sequence[Query],
    settings: RunSettings,
    show: Show = lambda state: None,
) -> RunSummary:
    """Run the queries of a script until their sources have ended.

    The plans are those that `explain` shows. Results are written as soon as they are ready, to files that get
    their names at the end. If the reader of standard output has gone, the run ends without an error.

    `show` gets, behind each event, the function that tells how far the run is.

    State    That of the queries; one batch per source.
    Raises   MidstreamError for faults of the sources, the queries or the sinks; SqlError, with the window's
             place, where a window counts rows of equal timestamps. An error or an interruption has notes on
             the results so far.
    """
    require_known(catalog, settings.sources)
    targets = output_targets(settings, queries)
    written: list[PossibleUse] = [("--save-stats", settings.stats)]
    deciders = [one for one in (settings.autopilot, settings.budget) if one is not None]
    for decider in deciders:
        settings = replace(settings, read=[*settings.read, *decider.reads])
        written += decider.writes
    check_files(catalog, settings, targets.values(), written)
    with ExitStack() as stack:
        bad_rows = stack.enter_context(BadRows(settings.dead_letters))
        stats_file = None if settings.stats is None else stack.enter_context(NewFile(settings.stats))
        plans = [query.plan for query in queries]
        inputs = open_inputs(stack, catalog, plans, settings, bad_rows)
        relations = load_relations(catalog, plans, settings)
        times = Times(catalog.unit, settings.times, inputs.values())
        outputs = [
            stack.enter_context(output_of(settings, query, targets[query.name], len(queries) > 1, times))
            for query in queries
        ]
        refused = Refused(inputs, bad_rows, settings.slack or 0, times)
        engine = new_engine(settings, inputs, relations, refused.bury)
        for query, output in zip(queries, outputs, strict=True):
            engine.add(plan_to_run(query.plan), output.take, name=query.name)
        seen = (
            None
            if stats_file is None
            else SeenStatistics(engine, {query.name: query.plan for query in queries})
        )
        grains = [stack.enter_context(decider.over(engine, times.instant)) for decider in deciders]
        taken, latest = 0, BEGINNING
        runner = Runner(
            engine,
            inputs,
            grain=min(grains, default=None),
            idle=settings.idle,
            now=None if settings.delay is None else system_clock(catalog.unit),
            driven=lambda trial, events: refused.driven([trial], events),
        )

        def summary() -> RunSummary:
            results = {output.name: output.count for output in outputs}
            return RunSummary(taken, results, bad_rows.count, cut_off(inputs, catalog.unit))

        def state() -> State:
            return state_of(outputs, inputs.values(), times, taken, latest)

        try:
            with streaming_gc(), ties_placed(queries):
                for kind, _, batch in runner.events():
                    if kind == "push":
                        taken += len(batch)
                        latest = max(latest, batch[-1][0])
                    for output in outputs:
                        output.sink.flush()
                    show(state)
                    if not any(output.sink.is_wanted for output in outputs):
                        break
                else:
                    engine.close()
        except KeyboardInterrupt as interruption:
            interruption.add_note(f"so far {summary()}")
            raise
        except InputFileError as error:
            if catalog.files is not None and (advice := catalog.files.advice(error)):
                error.add_note(advice)
            raise
        if seen is not None and stats_file is not None:
            seen.write(stats_file)
        return summary()


class Output:
    """Counts the results of a query and passes them to its sink, which writes to a file."""

    def __init__(self, name: str, target: str) -> None:
        self.name = name
        self.count = 0
        self.file = NewFile(target, describe=self.description)
        self.sink: Sink

    def take(self, batch: Batch) -> None:
        """Write results."""
        if self.file.is_special:  # it may wait for its reader
            self.sink.write(batch)
            self.count += len(batch)
            return
        with Uninterrupted():  # or more would be written than is counted
            self.sink.write(batch)
            self.count += len(batch)

    def description(self) -> str:
        """The number of written results in words; empty if there are none."""
        return f"{self.count:,} results of {self.name}" if self.count else ""


def state_of(
    outputs: Iterable[Output], inputs: Iterable[Input], times: Times, taken: int, latest: Time
) -> State:
    """The progress of a run, after some elements up to an instant of application time."""
    at = "" if latest == BEGINNING else times.instant(latest)
    return State(taken, total=expected(inputs, taken), results=sum(one.count for one in outputs), at=at)


def expected(inputs: Iterable[Input], taken: int) -> int | None:
    """Estimate the total number of elements from the bytes of files; None if a source's size is unknown."""
    files = [one.file_progress for one in inputs]
    sizes = [one.size for one in files if one is not None]
    read = sum(one.read for one in files if one is not None)
    return round(taken * sum(sizes) / read) if len(sizes) == len(files) and read else None


def _limited(source: Input, rows: int | None) -> Input:
    """The first rows of a source, which is closed after them."""
    return source if rows is None else replace(source, batches=_first(source, rows), file_progress=None)


def _first(source: Input, rows: int) -> Iterator[Batch]:
    with source:
        left = rows
        while left > 0 and (batch := next(source.batches, None)) is not None:
            yield part(batch, 0, left)
            left -= len(batch)


def open_inputs(
    stack: ExitStack, catalog: Catalog, plans: Sequence[Plan], settings: RunSettings, bad_rows: BadRows
) -> dict[str, Input]:
    """Open the sources of all streams that some plans read; the stack closes them."""
    names = dict.fromkeys(source.stream for plan in plans for source in plan.sources)
    return {name: stack.enter_context(opened(catalog, name, settings, bad_rows)) for name in names}


def load_relations(
    catalog: Catalog, plans: Sequence[Plan], settings: RunSettings
) -> dict[str, list[Element]]:
    """Load the rows of all relations that some plans read and the catalog declares."""
    names = dict.fromkeys(relation.relation for plan in plans for relation in plan.relations)
    return {
        name: load(catalog.relations[name], catalog.unit, settings.sources.get(name), settings.rows)
        for name in names
        if name in catalog.relations
    }


def new_engine(
    settings: RunSettings,
    inputs: Mapping[str, Input],
    relations: Mapping[str, list[Element]],
    take: Callable[[list[DeadLetter]], object],
) -> Engine:
    """Make an engine with the requested slack; `take` gets dead letters if there is a file for them."""
    return Engine(
        relations=relations,
        slack=None if settings.slack is None else dict.fromkeys(inputs, settings.slack),
        delay=None if settings.delay is None else _live(inputs, settings.delay),
        dead_letters=None if settings.dead_letters is None else take,
    )


def _live(inputs: Mapping[str, Input], delay: int) -> dict[str, int]:
    """The delay of each stream whose source is live and has times; recorded rows are of any age."""
    return {name: delay for name, source in inputs.items() if source.is_live and source.now is None}


def require_known(catalog: Catalog, sources: Mapping[str, Any]) -> None:
    """Raise MidstreamError where a source has the name of no declared stream or relation."""
    known = [*catalog.streams, *catalog.relations]
    for name in sources:
        if name not in known:
            raise MidstreamError(
                f"--source {name}=…: the script declares no stream or relation {name}{suggest(name, known)}"
            )


def opened(catalog: Catalog, name: str, settings: RunSettings, bad_rows: BadRows) -> Input:
    """Open the source of a stream: the requested one, or that of its declaration."""
    declared = catalog.streams.get(name)
    if declared is None:
        raise InputFileError(f"stream {name} was not declared in SQL, so that it has no source")
    source = settings.sources.get(name, declared.source)
    if isinstance(source, SourceClause) and source.kind.lower() == generated.KIND:
        return generated.generated_stream(declared, catalog.unit, source, settings.rows)
    timestamps = Timestamps(catalog.unit, declared.unit)
    opened = open_source(declared, timestamps, source, bad_rows=bad_rows, has_header=settings.has_header)
    return _limited(opened, settings.rows)


def output_targets(settings: RunSettings, queries: Sequence[Query]) -> dict[str, str]:
    """The target of each query's results.

    Standard output, devices and pipes take the results of all queries. Otherwise each of several queries has
    its own file.
    """
    path = Path(settings.output)
    if len(queries) == 1 or settings.output == STDOUT or is_special(path):
        return dict.fromkeys((query.name for query in queries), settings.output)
    return {one.name: str(file_of(path, one.name)) for one in queries}


def check_files(
    catalog: Catalog, settings: RunSettings, targets: Iterable[str], written: Sequence[PossibleUse] = ()
) -> None:
    """Raise MidstreamError where a file that is written is also read, or written twice."""
    reads = [*settings.read, *source_files(catalog, settings.sources)]
    writes = [("--output", target) for target in dict.fromkeys(targets)]
    require_distinct_files(reads, [*writes, ("--dead-letters", settings.dead_letters), *written])


def source_files(catalog: Catalog, replacements: Mapping[str, str | SourceClause]) -> Iterator[Use]:
    """The files of a script's streams and relations; `replacements` take the place of declared sources."""
    declarations: list[StreamDeclaration | RelationDeclaration]
    declarations = [*catalog.streams.values(), *catalog.relations.values()]
    for declared in declarations:
        source = replacements.get(declared.name, declared.source)
        use = f"--source {declared.name}" if declared.name in replacements else f"SOURCE of {declared.name}"
        if isinstance(source, str):
            for path in files_of(source):
                yield use, path
        elif source is not None and source.kind.lower() == "stdin":
            yield use, "-"
        elif source is not None and source.arguments and isinstance(source.arguments[0], str):
            # It may be a host or the name of a generated stream: then no file has that name.
            for path in files_of(source.arguments[0].removeprefix("sqlite:///")):
                yield use, path


@contextmanager
def output_of(
    settings: RunSettings, query: Query, target: str, is_one_of_several: bool, times: Times
) -> Iterator[Output]:
    """The output of a query, to a file that gets its name at the end."""
    output = Output(query.name, target)
    with output.file as file:
        name = query.name if is_one_of_several and file.is_special else None
        with open_sink(
            file.place, query.plan.root.schema, settings.form, name=target, times=times, query=name
        ) as sink:
            output.sink = sink
            yield output


@contextmanager
def ties_placed(queries: Sequence[Query]) -> Iterator[None]:
    """Add the place in the script to an error about a window that met rows of equal timestamps."""
    try:
        yield
    except TieError as error:
        kind = PartitionedWindow if hasattr(error, "group") else CountWindow
        places = {
            at: query.script
            for query in queries
            for node, at in query.places.items()
            if isinstance(operator := logical(node), kind) and operator.ties == "error"
        }
        if not places:
            raise
        at, script = next(iter(places.items()))
        message = str(error).partition(";")[0]
        # An operator does not know which of several windows it implements.
        which = "" if len(places) == 1 else ", here or in another such window"
        raise script.fault(
            f"{message}{which}; write TIES BY ARRIVAL behind ROWS where the order of arrival decides", at
        ) from error


def read_script(path: str) -> Script:
    """Read a script file in UTF-8; "-" is standard input.

    Raises   InputFileError.
    """
    return Script(read_text(path), "standard input" if path == "-" else path)
