"""A block in which an executor of a local cluster dies."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any


@contextmanager
def one_killed(spark: Any, after: int) -> Iterator[None]:
    """A block in which one executor is killed as soon as it has begun so many jobs, which are not all."""
    tracker = spark.sparkContext.statusTracker()
    before, is_over, killed = len(tracker.getJobIdsForGroup(None)), Event(), list[int]()

    def watch() -> None:
        while not is_over.is_set():
            if len(tracker.getJobIdsForGroup(None)) - before >= after:
                killed.append(executors(spark)[0])
                os.kill(killed[0], signal.SIGKILL)
                return
            time.sleep(0.02)

    watching = Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        watching.join()
    assert len(tracker.getJobIdsForGroup(None)) - before > after + 1
    assert killed and killed[0] not in executors(spark)


def executors(spark: Any) -> list[int]:
    """The processes that compute for a session."""
    listed = subprocess.run(["ps", "-Awwo", "pid=,command="], capture_output=True, text=True, check=True)
    own = ("CoarseGrainedExecutorBackend", spark.sparkContext.applicationId)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if all(one in line for one in own)]
