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

IMPATIENT = {"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "100ms"}
"""Settings by which executors do not wait for one that is gone, which would take 15 s each time."""


@contextmanager
def one_killed(spark: Any, after: int) -> Iterator[None]:
    """A block in which one executor is killed while it computes, as soon as so many jobs have begun.

    It fails where none was killed so, or where no job began afterwards.
    """
    tracker = spark.sparkContext.statusTracker()
    before, is_over, killed = _jobs(tracker), Event(), list[tuple[int, int]]()

    def watch() -> None:
        while not is_over.is_set():
            if (begun := _jobs(tracker) - before) >= after and (busy := _computing(spark)):
                killed.append((executors(spark)[busy[0]], begun))
                os.kill(killed[0][0], signal.SIGKILL)
                return
            time.sleep(0.02)

    watching = Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        watching.join()
    assert killed, f"found no executor that computes after {after} jobs have begun, expected one to kill"
    ((process, begun),) = killed
    assert 0 < begun < _jobs(tracker) - before
    assert process not in executors(spark).values()


def _jobs(tracker: Any) -> int:
    """How many jobs a session has begun."""
    return len(tracker.getJobIdsForGroup(None))


def _computing(spark: Any) -> list[str]:
    """The executors that have a task."""
    listed = spark._jsc.sc().statusStore().executorList(True)
    every = [listed.apply(i) for i in range(listed.size())]
    return [one.id() for one in every if one.id() in executors(spark) and one.activeTasks() > 0]


def executors(spark: Any) -> dict[str, int]:
    """The processes that compute for a session, by what Spark calls them."""
    listed = subprocess.run(["ps", "-Awwo", "pid=,command="], capture_output=True, text=True, check=True)
    own = ("CoarseGrainedExecutorBackend", spark.sparkContext.applicationId)
    of_session = [line.split() for line in listed.stdout.splitlines() if all(one in line for one in own)]
    return {words[words.index("--executor-id") + 1]: int(words[0]) for words in of_session}
