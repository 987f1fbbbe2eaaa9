"""Start Spark without its noise: what its Java says of itself goes to a file, not to the terminal."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.studies.spark_errors import SPARK_ERRORS

MOST = 1 << 16
"""How many bytes of what Java said are looked at."""

_said: list[IO[bytes]] = []
"""What the Java of this process says. It is one, also for sessions that follow one another."""


def started(master: str, settings: Mapping[str, str]) -> SparkSession:
    """A new session on a master; `sc://` leads to a server of Spark Connect. There must be no session.

    Raises   MidstreamError where Spark does not start, with what its Java said.
    """
    if master.startswith("sc://"):
        return SparkSession.builder.remote(master).getOrCreate()
    conf = SparkConf().setMaster(master).setAppName("midstream study")
    for name, value in settings.items():
        conf.set(name, value)
    try:
        context = SparkContext(conf=conf, gateway=_gateway(conf))
        return SparkSession(context)
    except SPARK_ERRORS as error:
        raise MidstreamError(f"Spark did not start on {master}: {_last_said() or error}") from error


def _gateway(conf: SparkConf) -> Any:
    """The way to Java; None where this process has one already."""
    if SparkContext._gateway is not None:
        return None
    _said[:] = [tempfile.TemporaryFile()]  # noqa: SIM115 - Java writes there as long as it lives
    return launch_gateway(conf, {"stdout": _said[0], "stderr": _said[0]})  # type: ignore[no-untyped-call]


def _last_said() -> str:
    """The first line of what Java said that tells of an error; else its last line."""
    if not _said:
        return ""
    said = os.pread(_said[0].fileno(), MOST, 0).decode("utf-8", "replace").splitlines()
    told = [line for line in said if "Exception" in line or "Error" in line]
    return (told or said or [""])[0 if told else -1].strip()
