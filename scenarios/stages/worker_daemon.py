"""The process from which Spark forks its Python workers; it imports most of their modules once.

Spark starts it by its name: `python -m midstream.scenarios.stages.worker_daemon pyspark.worker`.
"""

import gc

from pyspark import daemon, worker

from midstream.autopilot.costs import series
from midstream.optimizer.online import merging
from midstream.scenarios.recordings import orders, pricing, remaining_values
from midstream.scenarios.stages.what_if import objectives
from midstream.scenarios.streams.recorded import declaration, inputs

IMPORTED = (worker, merging, declaration, inputs, orders, pricing, remaining_values, series, objectives)
"""Modules that start no thread, which a fork would lose: Arrow and pandas are left to the workers."""

if __name__ == "__main__":
    # Workers look for garbage after each task. What was imported is none: to look through it takes 0.1 s.
    gc.freeze()
    daemon.manager()
