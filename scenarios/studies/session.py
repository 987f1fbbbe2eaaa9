"""Start Spark for a study, and stop it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from midstream.scenarios.studies.class_archive import archive_options
from midstream.scenarios.studies.executors import is_here, require_executors
from midstream.scenarios.studies.spark_start import started

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

LOCAL: Mapping[str, str] = {
    # Most studies on one machine end before code has paid for its full compilation, which takes a sixth of
    # their processor time. So that waits until code has run 20 times as often as it would by default.
    JAVA: "-XX:Tier4InvocationThreshold=100000 -XX:Tier4BackEdgeThreshold=800000 "
    "-XX:Tier4MinInvocationThreshold=12000 -XX:Tier4CompileThreshold=300000",
}
"""What is set besides where the driver computes all."""

QUICK: Mapping[str, str] = {
    # Code is compiled once and quickly, and not watched for a second time: a third less processor time for
    # 37,000 rows, and half as much again for the profile of a million.
    JAVA: "-XX:TieredStopAtLevel=1",
}
"""What is set there instead for a study that reads little."""


FORKED: Mapping[str, str] = {
    # A worker imports Midstream in a second and more of processor time; all are forked from one process.
    "spark.python.daemon.module": "midstream.scenarios.studies.worker_daemon",
}
"""What is set where workers run in this Python: others may have no Midstream before it is sent to them."""


@contextmanager
def spark_session(master: str, *, is_small: bool = False) -> Iterator[SparkSession]:
    """A session on a master such as `local[2]`, stopped at the end of the block.

    is_small    whether little is to be read: where the driver computes all, Java then compiles less

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
    here = {} if not is_local else QUICK if is_small else LOCAL
    workers = FORKED if is_here(master) else {}
    java = {JAVA: " ".join((here[JAVA], *archive_options()))} if here else {}
    spark = started(master, {**SETTINGS, **java, **workers})
    if is_local:
        # The default of 200 is for clusters.
        spark.conf.set("spark.sql.shuffle.partitions", str(2 * spark.sparkContext.defaultParallelism))
    try:
        require_executors(spark)
        yield spark
    finally:
        spark.stop()
