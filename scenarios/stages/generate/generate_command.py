"""`midstream study generate`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from midstream.console.help import examples
from midstream.console.options import AsJson
from midstream.console.progress import telling
from midstream.io.new_file import nothing_written
from midstream.io.requirements import require_libraries, require_spark
from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.stages.base.command_options import MASTER

NEXMARK = "nexmark"
"""The streams that come with Midstream."""

EPILOG = examples(
    "midstream study generate nexmark --events 10000000 --output auctions",
    "midstream study generate streams.yaml --arrivals --output recorded",
)


def generate(
    streams: Annotated[
        str,
        typer.Argument(
            metavar="STREAMS",
            help="nexmark, for the auctions; or a file (.yaml) that describes streams as a scenario does.",
        ),
    ],
    output: Annotated[Path, typer.Option(help="A new folder for the streams.")],
    events: Annotated[
        int, typer.Option(min=1, help="About how many events; of a file, its duration says it.")
    ] = 1_000_000,
    seed: Annotated[int | None, typer.Option(help="The seed; by default that of the file, or 1.")] = None,
    arrivals: Annotated[
        bool,
        typer.Option("--arrivals", help="Write rows as they arrive, out of order, for ingest to read."),
    ] = False,
    master: MASTER = "local[*]",
    as_json: AsJson = False,
) -> None:
    """Generate streams of any size into a folder as ingest makes it.

    Equal seeds give equal streams.
    """
    require_libraries(["pydantic", "PyYAML"], "simulate")
    require_spark()
    from midstream.scenarios.spark.session import spark_session
    from midstream.scenarios.stages.generate import generate as module

    if streams == NEXMARK:
        if arrivals:
            raise MidstreamError("--arrivals: found nexmark, whose streams are in order, expected a file")
    elif output.resolve() == Path(streams).resolve():
        raise MidstreamError(f"--output: found {output}, which STREAMS reads; expected another folder")
    made, chronon, origin = streams_of(streams, events, seed)
    with ExitStack() as stack:
        with nothing_written():
            tell = stack.enter_context(telling())
            tell("starting Spark")
            spark = stack.enter_context(spark_session(master))
            tell("generating")
        if arrivals:
            rows = module.generate_arrivals(spark, made, output)
        else:
            rows = module.generate(spark, made, output, chronon, origin).rows
    if as_json:
        typer.echo(json.dumps({"folder": str(output), "rows": rows}, indent=2, ensure_ascii=False))
    else:
        typer.echo(f"{output}: {sum(rows.values()):,} elements")
        for name, count in rows.items():
            typer.echo(f"  {name}: {count:,}")


def streams_of(streams: str, events: int, seed: int | None) -> tuple[list[Any], int, dict[str, Any]]:
    """The streams to make, the nanoseconds of a chronon, and the origin as a manifest records it."""
    from midstream.scenarios.stages.generate.auctions import AuctionCells
    from midstream.scenarios.stages.generate.parametric import parametric_streams
    from midstream.scenarios.streams.nexmark.workload import (
        AuctionWorkload,
    )

    made: list[Any]
    if streams == NEXMARK:
        workload = AuctionWorkload(seed=1 if seed is None else seed)
        made, chronon = [AuctionCells.of(workload, events)], 10**9
    else:
        seed, made, chronon = parametric_streams(streams, seed)
    return made, chronon, {"streams": Path(streams).stem, "seed": 1 if seed is None else seed}
