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

    from midstream.scenarios.stages.charts.stage import ChartResult
    from midstream.scenarios.stages.generate.generate import Generated
    from midstream.scenarios.stages.ingest.ingest import Ingested
    from midstream.scenarios.stages.policies.stage import PolicyComparison
    from midstream.scenarios.stages.profile.stream_profile import Profile
    from midstream.scenarios.stages.run.study_run import StudyRun
    from midstream.scenarios.stages.simulate.stage import Simulated
    from midstream.scenarios.stages.verify.case_runs import Findings
    from midstream.scenarios.stages.what_if.stage import WhatIf
    from midstream.scenarios.streams.recorded.declaration import Study
    from midstream.scenarios.streams.recorded.feeds import Feed

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

    value      the full result, with data frames for rows per bucket
    summary    a short form as plain data for JSON, which the stage's command prints with --json
    """

    value: T
    summary: Mapping[str, Any]
    _show: Callable[[Console], None]

    def show(self) -> None:
        """Print the result as the stage's command does."""
        from rich.console import Console

        self._show(Console())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {type(self.value).__name__}: {', '.join(self.summary)}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        import io

        from rich.console import Console

        console = Console(record=True, width=100, file=io.StringIO(), force_jupyter=False)
        self._show(console)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def ingest(
    spark: SparkSession,
    streams: str | Path,
    folder: str | Path,
    *,
    data: str | Path | None = None,
    **options: Any,
) -> Result[Ingested]:
    """Read new files of streams, check and sort them, and add them to a folder.

    streams    a script (.sql) that declares the streams, or the name of a ready-made one
    data       the folder to which paths are relative
    options    those of the command `midstream study ingest`, such as `slack`

    Raises   MidstreamError, naming file and place; then the folder is unchanged.
    """
    from midstream.scenarios.streams.recorded.script import load_feeds

    study, feeds = load_feeds(_place(streams), _absolute(Path() if data is None else data))
    return _stage("ingest", spark, study, None, folder, options, feeds)


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
    from midstream.scenarios.stages.generate import generate as module
    from midstream.scenarios.stages.generate.generate_command import streams_of

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

    study     a script (.sql), the name of a ready-made one, or the result of `load_study`
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
) -> Result[ChartResult]:
    """Make the chart of a query: the best plan for each region of rates and selectivities.

    options   those of the command `midstream study charts`, such as `along`, `parts` and `objective`
    """
    return _stage("charts", spark, _declared(study, data, query), bucket, output, options)


def policies(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Result[PolicyComparison]:
    """Compute the costs of migration policies on a recording, and the settings to recommend.

    options   those of the command `midstream study policies`, such as `grid`, `strategy` and `objective`
    """
    return _stage("policies", spark, _declared(study, data, query), None, output, options)


def simulate(
    spark: SparkSession,
    study: str | Path | Study,
    *,
    query: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Result[Simulated]:
    """Migrate the real engine on slices of the streams, and compare its results with those of the old plan.

    options   those of the command `midstream study simulate`, such as `slice`, `to` and `strategies`

    `wrong` of the value lists the runs with another output, and should be empty.
    """
    return _stage("simulate", spark, _declared(study, data, query), None, output, options)


def verify(
    spark: SparkSession | None, *, output: str | Path | None = None, **options: Any
) -> Result[Findings]:
    """Try small random migrations until enough of them count; a seed names each.

    spark     None for this process alone
    options   those of the command `midstream study verify`, such as `cases`, `seed` and `strategies`

    `broken` of the value lists the cases that break the law, and should be empty.
    """
    from midstream.scenarios.stages.base.request import without_streams

    return _stage("verify", spark, without_streams("verify"), None, output, options)


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
    from midstream.scenarios.stages.run.reading import load_study_file
    from midstream.scenarios.stages.run.running import run_study

    found = load_study_file(str(file), data)
    _prepare(spark)
    return run_study(lambda: nullcontext(spark), found, Path(out), again=again)


def _stage(
    name: str,
    spark: SparkSession | None,
    study: Study,
    bucket: str | None,
    output: str | Path | None,
    options: Mapping[str, Any],
    feeds: Sequence[Feed] = (),
) -> Result[Any]:
    """Run one stage of a study by itself."""
    from midstream.io.requirements import require_libraries
    from midstream.plans.values.errors import ArgumentError
    from midstream.plans.values.schema import suggest

    require_libraries(["pydantic", "PyYAML"], "spark", "stages of studies need")
    from midstream.scenarios.reports.terminal import show_report
    from midstream.scenarios.stages.base.command_options import make_folder
    from midstream.scenarios.stages.base.request import Request
    from midstream.scenarios.stages.run.alone import options_of, ran
    from midstream.scenarios.stages.run.stages import STAGES

    def error(option: str, message: str) -> Exception:
        return ArgumentError(f"{option.replace('-', '_') or name}: {message}")

    stage, known = STAGES[name], [*STAGES[name].options.model_fields]
    for option in options:
        if option not in known:
            raise ArgumentError(
                f"{name}: found option {option}, expected one of {', '.join(known)}{suggest(option, known)}"
            )
    request = Request.alone(study, bucket, error, feeds)
    checked = options_of(stage, options, request)
    if spark is not None:
        _prepare(spark)
    folder = None if output is None else Path(output).absolute()
    if folder is not None:
        make_folder(folder)
    with ran(stage, spark, request, checked, folder) as done:
        return Result(
            done.result,
            done.outcome.summary,
            lambda console: show_report(study.title, done.report, console),
        )


def _prepare(spark: SparkSession) -> None:
    from midstream.scenarios.spark.executors import require_executors

    require_executors(spark)


def _declared(study: str | Path | Study, data: str | Path | None = None, query: str | None = None) -> Study:
    from midstream.scenarios.streams.recorded.script import load_study

    if not isinstance(study, str | Path):
        return study
    return load_study(_place(study), _absolute(Path() if data is None else data), query)


def _place(study: str | Path) -> str:
    """A path that is valid from any folder, or a name."""
    return _absolute(study) if Path(study).exists() else str(study)


def _absolute(path: str | Path) -> str:
    """A path that is valid from any folder: Spark may work in another one."""
    return str(path) if "://" in str(path) else str(Path(path).absolute())
