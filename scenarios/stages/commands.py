"""`midstream study`: what recorded streams are like over time, and what other plans would have cost."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from midstream.console.process import QuickGroup
from midstream.io.requirements import require_libraries
from midstream.scenarios.stages.generate import generate_command
from midstream.scenarios.stages.run import command as run_command
from midstream.scenarios.stages.verify import verify_case_command
from midstream.scenarios.stages.verify_run import verify_run_command

STAGES = {
    "charts": "Show which plan of a query is best for which rates and selectivities, on Spark.",
    "ingest": (
        "Read recorded streams into sorted Parquet files, with bad rows apart, and a manifest of all files."
    ),
    "policies": (
        "Costs of policies of migration on recorded streams, and settings of the autopilot to recommend."
    ),
    "profile": "Rates, values and selectivities of recorded streams, by time bucket and in all.",
    "simulate": (
        "Migrate the real engine on slices of recorded streams, and compare with the plan that stays."
    ),
    "verify": "Try random migrations: a query moves to another plan, and must give the specified results.",
    "what-if": "Price every equivalent plan of a query in every time bucket.",
}
"""The stages whose commands are made of their declarations on demand, as these need pydantic and the engine.

A list of commands shows these lines, which a test compares with the declarations.
"""


class Commands(QuickGroup):
    """The commands of studies, including those of stages."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, in order."""
        return sorted([*STAGES, *super().list_commands(ctx)])

    _is_listed = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the lines of STAGES."""
        self._is_listed = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._is_listed = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        if cmd_name not in STAGES:
            return super().get_command(ctx, cmd_name)
        if self._is_listed:
            return TyperCommand(cmd_name, help=STAGES[cmd_name])
        require_libraries(["pydantic", "PyYAML"], "spark", "stages of studies need")
        from midstream.scenarios.stages.run import stages
        from midstream.scenarios.stages.run.stage_command import add_command

        made = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        add_command(made, stages.STAGES[cmd_name])
        return typer.main.get_command(made)


app = typer.Typer(
    cls=Commands,
    help="Studies of recorded streams, on Spark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.command("generate", epilog=generate_command.EPILOG)(generate_command.generate)
app.command("run", epilog=run_command.EPILOG)(run_command.run)
app.command("verify-case", epilog=verify_case_command.EPILOG)(verify_case_command.verify_case)
app.command("verify-run", epilog=verify_run_command.EPILOG)(verify_run_command.verify_run)
