"""Workers of sessions of our own are forked where Midstream has been imported already."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

IMPORTS = """
import os, sys
import midstream.scenarios.stages.worker_daemon
print(len(os.listdir("/proc/self/task")), "pyarrow" in sys.modules, "pandas" in sys.modules)
"""


def test_nothing_that_is_imported_before_a_fork_starts_a_thread() -> None:
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'midstream[spark]'")
    if not Path("/proc/self/task").is_dir():
        pytest.skip("where threads cannot be counted")
    # Spark sets the number of threads for calculations in the same way.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "False", "False"]


@pytest.mark.spark
def test_workers_have_midstream_from_the_beginning(spark: Any) -> None:
    from pyspark.sql import functions as F

    ask = F.udf(has_midstream(), "boolean", useArrow=False)
    rows = spark.range(0, 4, 1, 4).select(ask("id").alias("found")).collect()
    assert [row["found"] for row in rows] == [True] * 4


def has_midstream() -> Callable[[int], bool]:
    """A function that is sent by value: to have it, a worker imports nothing. What was imported before is
    also not looked through for garbage after each task."""

    def has(_: int) -> bool:
        import gc
        import sys

        return "midstream.scenarios.recordings.pricing" in sys.modules and gc.get_freeze_count() > 10_000

    has.__module__ = "__main__"
    has.__annotations__.clear()
    return has
