"""Start Spark for a study, and stop it; messages of its Java go to a file, not to the terminal."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread
from typing import IO, Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.spark.class_archive import archive_options
from midstream.scenarios.spark.executors import is_here, require_executors
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS

SETTINGS: Mapping[str, str] = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    # Counts that do not fit must fail, not wrap around.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    # Else each function of a plan costs a look at the stack and a further call of Java, to say where it is
    # from if it fails: a tenth of the processor time of a small study.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

JAVA = "spark.driver.extraJavaOptions"

# Most studies on one machine end before code has paid for its full compilation, which takes a sixth of
# their processor time. So that waits until code has run 20 times as often as it would by default.
LOCAL = (
    "-XX:Tier4InvocationThreshold=100000 -XX:Tier4BackEdgeThreshold=800000 "
    "-XX:Tier4MinInvocationThreshold=12000 -XX:Tier4CompileThreshold=300000"
)
"""Options of Java where the driver computes all."""

# Code is compiled once and quickly, and not watched for a second time: a third less processor time for
# 37,000 rows, and half as much again for the profile of a million. With that, Java would keep 48 MB of
# compiled code. Some studies in one session fill these; then Java forgets again and again what it has
# compiled, for up to 3 s of processor time a study. Garbage is collected by one thread: those that do it
# beside the program take a tenth of Java's time.
QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=128m -XX:+UseSerialGC"
"""Options of Java instead of these for a study that reads little."""


FORKED: Mapping[str, str] = {
    # A worker imports Midstream in a second and more of processor time; all are forked from one process.
    "spark.python.daemon.module": "midstream.scenarios.stages.worker_daemon",
}
"""Settings where workers run in this Python: others may have no Midstream before it is sent to them."""


MOST = 1 << 16
"""The most bytes of Java's messages that are read."""

_said: list[IO[bytes]] = []
"""The messages of this process's Java, which also serves sessions that follow one another."""


@contextmanager
def spark_session(master: str, *, is_small: bool = False) -> Iterator[SparkSession]:
    """A session on a master such as `local[2]`, stopped at the end of the block.

    is_small    true if little is to be read: where the driver computes all, Java then compiles less

    A session that is under way in this process is used as it is, and left alone: there cannot be two.
    """
    if (active := SparkSession.getActiveSession()) is not None:
        yield active
        return
    is_local = master.startswith("local")
    # Workers of another Python version cannot read what the driver sends.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    workers = FORKED if is_here(master) else {}
    java = {JAVA: " ".join((QUICK if is_small else LOCAL, *archive_options()))} if is_local else {}
    spark = started(master, {**SETTINGS, **java, **workers})
    if is_local:
        # The default of 200 is for clusters.
        spark.conf.set("spark.sql.shuffle.partitions", str(2 * spark.sparkContext.defaultParallelism))
    try:
        require_executors(spark)
        if is_here(master):
            Thread(target=_wake_worker, args=(spark,), daemon=True).start()
        yield spark
    finally:
        spark.stop()


def _wake_worker(spark: SparkSession) -> None:
    """Have Spark start a Python worker, which imports for a second, while the driver plans what to read."""
    with suppress(Exception):  # the session, or this process, may end before
        spark.range(1).mapInArrow(lambda batches: batches, "id long").collect()


def started(master: str, settings: Mapping[str, str]) -> SparkSession:
    """Start a session on a master; `sc://` leads to a server of Spark Connect.

    There must be no session.

    Raises   MidstreamError where Spark does not start, with the messages of its Java.
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
    """The gateway to Java; None where this process has one already."""
    if SparkContext._gateway is not None:
        return None
    _said[:] = [tempfile.TemporaryFile()]  # noqa: SIM115 - Java writes there as long as it lives
    return launch_gateway(conf, {"stdout": _said[0], "stderr": _said[0]})  # type: ignore[no-untyped-call]


def _last_said() -> str:
    """The first line of Java's messages that speaks of an error; else the last line."""
    if not _said:
        return ""
    said = os.pread(_said[0].fileno(), MOST, 0).decode("utf-8", "replace").splitlines()
    told = [line for line in said if "Exception" in line or "Error" in line]
    return (told or said or [""])[0 if told else -1].strip()
