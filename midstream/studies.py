"""Studies of recorded streams, in a Spark session of yours: `from midstream import studies`.

Every function takes a session, classic or of Spark Connect. It changes no setting of the session, does not
close it, and leaves nothing in its memory. Results are plain values and lazy data frames, which can be read
while the session lives. Importing this module does not import PySpark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

    from midstream.plans.algebra.plan import Plan
    from midstream.scenarios.studies.case_runs import Findings
    from midstream.scenarios.studies.charts.stage import FoundChart
    from midstream.scenarios.studies.declaration import Study
    from midstream.scenarios.studies.generate.generate import Generated
    from midstream.scenarios.studies.ingest.ingest import Ingested
    from midstream.scenarios.studies.policies.stage import Found as FoundPolicies
    from midstream.scenarios.studies.run.study_run import StudyRun
    from midstream.scenarios.studies.simulate.stage import Simulated
    from midstream.scenarios.studies.stream_profile import Profile
    from midstream.scenarios.studies.what_if.stage import WhatIf

__all__ = [
    "Result",
    "charts",
    "generate",
    "ingest",
    "policies",
    "profile",
    "run",
    "simulate",
    "verify",
    "what_if",
]

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Result(Generic[T]):
    """The result of a stage.

    found      values, with data frames for rows per bucket
    summary    a short form as plain data for JSON, which the stage's command prints with --json
    """

    found: T
    summary: Mapping[str, Any]
    _show: Callable[[Console], None]

    def show(self) -> None:
        """Print the result as the stage's command does."""
        from rich.console import Console

        self._show(Console())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {type(self.found).__name__}: {', '.join(self.summary)}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        import io

        from rich.console import Console

        console = Console(record=True, width=100, file=io.StringIO(), force_jupyter=False)
        self._show(console)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def ingest(
    spark: SparkSession,
    streams: str | Path | Study,
    folder: str | Path,
    *,
    data: str | Path | None = None,
    slack: str | None = None,
) -> Result[Ingested]:
    """Read new files of streams, check and sort them, and add them to a folder.

    streams    a study (.toml, or a ready-made one) or a script (.sql) that declares the streams
    data       the folder to which paths are relative
    slack      rows that are later in their file than this, for example "90s", go to the quarantine

    Raises   MidstreamError, naming file and place; then the folder is unchanged.
    """
    from midstream.scenarios.studies.ingest.feeds import feeds_of_script, feeds_of_study
    from midstream.scenarios.studies.ingest.ingest import ingest as ingested
    from midstream.scenarios.studies.ingest.report import ingest_summary, show_ingested
    from midstream.scenarios.studies.ingest_command import chronons_of_slack
    from midstream.scenarios.studies.script import SCRIPTS

    if isinstance(streams, str | Path) and Path(streams).suffix in SCRIPTS:
        feeds = feeds_of_script(_absolute(streams), _absolute(Path() if data is None else data))
    else:
        feeds = feeds_of_study(_declared(streams, data))
    bound = None if slack is None else chronons_of_slack(slack, feeds[0].chronon.nanoseconds)
    _prepare(spark)
    found = ingested(spark, feeds, _absolute(folder), slack=bound)
    summary = ingest_summary(found, str(folder))
    return Result(found, summary, lambda console: show_ingested(found, summary, console))


def generate(
    spark: SparkSession,
    streams: str | Path,
    folder: str | Path,
    *,
    events: int = 1_000_000,
    seed: int | None = None,
) -> Generated:
    """Make streams in a new folder, as `ingest` does: "nexmark", or those that a file (.yaml) describes.

    events    the approximate number, for nexmark; a file has a duration instead
    """
    from midstream.scenarios.studies.generate import generate as module
    from midstream.scenarios.studies.generate_command import streams_of

    made, chronon, origin = streams_of(str(streams), events, seed)
    _prepare(spark)
    return module.generate(spark, made, folder, chronon, origin)


def profile(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    bucket: str = "1h",
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Result[Profile]:
    """Rates, (d, l, g) and join selectivities of recorded streams, by time bucket and in all.

    study     a declaration (.toml, or a ready-made one), a script (.sql), or the result of `load_study`
    query     the name of the query, in a script with several
    data      the folder to which the study's paths are relative
    output    a folder for the results as files, as `midstream study profile --output` writes them
    options   those of the command `midstream study profile`, with _ for -
    """
    return _stage("profile", spark, _declared(study, data, query), bucket, output, options)


def what_if(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    bucket: str = "1h",
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Result[WhatIf]:
    """Price every equivalent plan of a query in every time bucket, and the changes between them.

    options   those of the command `midstream study what-if`, such as `objective` and `limit`
    """
    return _stage("what-if", spark, _declared(study, data, query), bucket, output, options)


def charts(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    bucket: str = "1h",
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Result[FoundChart]:
    """Make the chart of a query: the best plan for each region of rates and selectivities.

    options   those of the command `midstream study charts`, such as `along`, `parts` and `objective`
    """
    return _stage("charts", spark, _declared(study, data, query), bucket, output, options)


def policies(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    grid: str = "careful,balanced,eager",
    strategy: str = "auto",
    objective: str = "intermediate",
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
) -> Result[FoundPolicies]:
    """Compute the costs of migration policies on a recording, and the settings to recommend.

    grid        settings of the autopilot to try: some of careful, balanced and eager, or a JSON file
    strategy    the strategy of the migrations
    """
    from midstream.optimizer.cost.objective import objective_of
    from midstream.scenarios.studies.policies.grid import grid_of
    from midstream.scenarios.studies.policies.report import (
        policies_summary,
        show_policies,
        write_policies,
    )
    from midstream.scenarios.studies.policies.stage import policies as replayed
    from midstream.scenarios.studies.recording import open_recording

    declared = _declared(study, data, query)
    plan, settings, aim = _query(declared), grid_of(grid), objective_of(objective)
    _prepare(spark)
    with open_recording(spark, declared, 1) as recording:  # costs have buckets of their own
        found = replayed(recording, declared, plan, settings, objective=aim, strategy=strategy)
    summary = policies_summary(declared, found)
    if output is not None:
        write_policies(found, summary, _folder(output))
    return Result(found, summary, lambda console: show_policies(declared, summary, console))


def simulate(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    slice: str = "1h",
    slices: int = 10,
    to: Sequence[str | Path] = (),
    strategies: Sequence[str] | None = None,
    at: Sequence[float] = (),
    seeds: Sequence[int] = (1,),
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
) -> Result[Simulated]:
    """Migrate the real engine on slices of the streams, and compare its results with those of the old plan.

    slice      the length of a slice; `slices` is the largest number of slices
    to         files with new plans; by default one plan of each other join order
    at         shares of a slice at which to migrate; by default a seed draws one

    `wrong` of the result lists the runs with another output, and should be empty.
    """
    from midstream.migration.strategies import STRATEGIES
    from midstream.scenarios.studies.recording import open_recording
    from midstream.scenarios.studies.simulate.making import grid_of, targets
    from midstream.scenarios.studies.simulate.report import show_simulate, simulate_summary, write_simulate
    from midstream.scenarios.studies.simulate.stage import simulate as simulated

    declared = _declared(study, data, query)
    plan, length = _query(declared), _bucket(declared, slice, "slice")
    grid = grid_of(
        declared,
        plan,
        targets(declared, plan, [Path(one) for one in to]),
        strategies=_some("strategies", strategies, tuple(STRATEGIES)),
        seeds=tuple(seeds),
        at=tuple(at),
    )
    _prepare(spark)
    with open_recording(spark, declared, length) as recording:
        found = simulated(recording, declared, grid, length, slices)
    summary = simulate_summary(declared, grid, found)
    if output is not None:
        write_simulate(found, summary, _folder(output))
    return Result(found, summary, lambda console: show_simulate(declared, summary, console))


def verify(
    spark: SparkSession,
    *,
    cases: int = 1000,
    seed: int = 1,
    kinds: Sequence[str] | None = None,
    strategies: Sequence[str] | None = None,
) -> Findings:
    """Try small random migrations until `cases` count; a seed names each, and `seed` the first.

    `broken` of the result lists the cases that break the law, and should be empty.
    """
    from midstream.io.requirements import require_libraries

    require_libraries(["hypothesis"], "testing", "drawing cases needs")
    from functools import partial

    from midstream.migration.strategies import STRATEGIES
    from midstream.scenarios.studies import case_runs
    from midstream.scenarios.studies.case_jobs import try_on_executors
    from midstream.testing.families import KINDS

    chosen = (
        _some("kinds", kinds, tuple(KINDS)),
        _some("strategies", strategies, tuple(STRATEGIES)),
    )
    _prepare(spark)
    portion = partial(try_on_executors, spark, case_runs.Draw(*chosen, None))
    return case_runs.verify(portion, cases, seed, lambda found: None)


def run(
    spark: SparkSession,
    file: str | Path,
    out: str | Path,
    *,
    data: str | Path | None = None,
    again: bool = False,
) -> StudyRun:
    """Run the study that a file (.yaml) describes, and write its log and its report into a folder.

    Stages with unchanged inputs and options are not run again, unless `again` is True.

    Raises   MidstreamError where a stage fails; the stages before it are complete.
    """
    from midstream.io.requirements import require_libraries

    require_libraries(["pydantic", "PyYAML"], "simulate", "study files need")
    require_libraries(["jinja2"], "spark", "reports need")
    require_libraries(["matplotlib"], "plot", "reports need")
    from midstream.scenarios.studies.run.reading import load_study_file
    from midstream.scenarios.studies.run.running import run_study

    found = load_study_file(str(file), data)
    _prepare(spark)
    return run_study(lambda: nullcontext(spark), found, Path(out), again=again)


def _stage(
    name: str,
    spark: SparkSession,
    study: Study,
    bucket: str,
    output: str | Path | None,
    options: Mapping[str, Any],
) -> Result[Any]:
    """Run one stage of a study by itself."""
    from midstream.io.requirements import require_libraries
    from midstream.plans.values.errors import ArgumentError
    from midstream.plans.values.schema import suggest

    require_libraries(["pydantic", "PyYAML"], "spark", "stages of studies need")
    from midstream.scenarios.studies.run.alone import options_of, ran
    from midstream.scenarios.studies.run.request import Request
    from midstream.scenarios.studies.run.stages import STAGES
    from midstream.scenarios.studies.run.terminal import show_report

    def error(option: str, message: str) -> Exception:
        return ArgumentError(f"{option.replace('-', '_') or name}: {message}")

    stage, known = STAGES[name], [*STAGES[name].options.model_fields]
    for option in options:
        if option not in known:
            raise ArgumentError(
                f"{name}: found option {option}, expected one of {', '.join(known)}{suggest(option, known)}"
            )
    request = Request(study, _bucket(study, bucket), Path(), f"study {study.name}", error)
    checked = options_of(stage, options, request)
    _prepare(spark)
    with ran(stage, spark, request, checked) as done:
        if output is not None:
            stage.write(done.result, done.outcome, _folder(output))
    return Result(
        done.result,
        done.outcome.summary,
        lambda console: show_report(study.title, done.report, console),
    )


SHOWN = 24
"""The number of buckets that a summary lists; the data frames have all."""


def _prepare(spark: SparkSession) -> None:
    from midstream.scenarios.studies.executors import require_executors

    require_executors(spark)


def _declared(study: str | Path | Study, data: str | Path | None = None, query: str | None = None) -> Study:
    from midstream.scenarios.studies.script import load_declared

    if not isinstance(study, str | Path):
        return study
    name = _absolute(study) if Path(study).exists() else str(study)
    return load_declared(name, None if data is None else _absolute(data), query)


def _absolute(path: str | Path) -> str:
    """A path that is valid from any folder: Spark may work in another one."""
    return str(path) if "://" in str(path) else str(Path(path).absolute())


def _query(study: Study) -> Plan:
    from midstream.plans.values.errors import InputFileError

    if study.query is None:
        raise InputFileError(f"study {study.name}: found no query, expected one", path=study.name)
    return study.query


def _bucket(study: Study, text: str, what: str = "bucket") -> int:
    from midstream.plans.values.errors import ArgumentError

    try:
        return study.clock.chronons(text)
    except ValueError as error:
        raise ArgumentError(f"{what}: {error}") from error


def _folder(path: str | Path) -> Path:
    folder = Path(path).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _some(what: str, given: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    from midstream.plans.values.errors import ArgumentError

    if given is None:
        return known
    for one in given:
        if one not in known:
            raise ArgumentError(f"{what}: found {one!r}, expected some of {', '.join(known)}")
    return tuple(given)
