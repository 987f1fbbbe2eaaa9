"""`midstream study`: what recorded streams are like over time, and what other plans would have cost."""

from __future__ import annotations

from contextlib import ExitStack

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.io.new_file import nothing_written
from midstream.io.requirements import require_spark
from midstream.scenarios.studies.charts.command import EPILOG as CHARTS_EPILOG
from midstream.scenarios.studies.charts.command import charts
from midstream.scenarios.studies.declaration import load_study
from midstream.scenarios.studies.generate_command import generate
from midstream.scenarios.studies.ingest_command import ingest
from midstream.scenarios.studies.options import (
    BUCKET,
    DATA,
    FOLDER,
    MASTER,
    NAME,
    SHOWN_ROWS,
    bucket_length,
    make_folder,
    print_found,
    replaced_in,
    require_files_apart,
)
from midstream.scenarios.studies.policies_command import EPILOG as POLICIES_EPILOG
from midstream.scenarios.studies.policies_command import policies
from midstream.scenarios.studies.run.command import EPILOG as RUN_EPILOG
from midstream.scenarios.studies.run.command import run
from midstream.scenarios.studies.simulate.command import EPILOG as SIMULATE_EPILOG
from midstream.scenarios.studies.simulate.command import simulate
from midstream.scenarios.studies.steps import steps
from midstream.scenarios.studies.verify_commands import EPILOG as VERIFY_EPILOG
from midstream.scenarios.studies.verify_commands import verify
from midstream.scenarios.studies.verify_run_command import EPILOG as VERIFY_RUN_EPILOG
from midstream.scenarios.studies.verify_run_command import verify_run
from midstream.scenarios.studies.what_if.command import EPILOG as WHAT_IF_EPILOG
from midstream.scenarios.studies.what_if.command import what_if

app = typer.Typer(
    help="Studies of recorded streams, on Spark.", no_args_is_help=True, pretty_exceptions_enable=False
)

app.command(
    epilog=examples(
        "midstream study ingest nycflights13 --data recordings --output streams",
        "midstream study ingest query.sql --data recordings --output streams",
    )
)(ingest)

app.command(
    epilog=examples(
        "midstream study generate nexmark --events 10000000 --output auctions",
        "midstream study generate streams.yaml --arrivals --output recorded",
    )
)(generate)


@app.command(
    epilog=examples(
        "midstream study profile nycflights13 --data recordings --bucket 3h",
        "midstream study profile study.toml --output found --json",
    )
)
def profile(
    study: NAME,
    data: DATA = None,
    bucket: BUCKET = "1h",
    master: MASTER = "local[*]",
    output: FOLDER = None,
    rows: SHOWN_ROWS = 24,
    as_json: AsJson = False,
) -> None:
    """Rates, (d, l, g) and join selectivities of recorded streams, by time bucket and in all."""
    declared = load_study(study, data)
    length = bucket_length(declared, bucket)
    require_spark()
    from midstream.scenarios.studies.recording import open_recording
    from midstream.scenarios.studies.report import profile_summary, show_profile
    from midstream.scenarios.studies.session import spark_session
    from midstream.scenarios.studies.stream_profile import profile as profiled
    from midstream.scenarios.studies.writing import PROFILE, write_profile

    require_files_apart(study, declared, None, replaced_in(output, PROFILE))
    make_folder(output)
    with ExitStack() as stack:
        with nothing_written():
            step = stack.enter_context(
                steps("starting Spark", "reading the streams", "counting pairs", "summing up")
            )
            spark = stack.enter_context(spark_session(master))
            step()
            recording = stack.enter_context(open_recording(spark, declared, length))
            step()
            found = stack.enter_context(profiled(recording, declared))
            step()
            summary = profile_summary(declared, found, rows)
        if output is not None:
            write_profile(found, summary, output)
    print_found(declared, summary, as_json, show_profile)


app.command("what-if", epilog=WHAT_IF_EPILOG)(what_if)
app.command("policies", epilog=POLICIES_EPILOG)(policies)
app.command("run", epilog=RUN_EPILOG)(run)
app.command("charts", epilog=CHARTS_EPILOG)(charts)
app.command("simulate", epilog=SIMULATE_EPILOG)(simulate)
app.command("verify", epilog=VERIFY_EPILOG)(verify)
app.command("verify-run", epilog=VERIFY_RUN_EPILOG)(verify_run)
