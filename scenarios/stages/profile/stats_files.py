"""Statistics as files, for `explain --stats`, the autopilot and programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from midstream.io.new_file import write_file
from midstream.optimizer.statistics import Statistics
from midstream.optimizer.statistics_file import dump_statistics

if TYPE_CHECKING:
    from midstream.scenarios.stages.profile.query_profile import BucketCounts

EACH = "{start}.json"
"""The name of a bucket's file."""


def write_stats(statistics: Statistics, file: Path) -> None:
    """Write statistics for `optimizer.read_statistics`."""
    write_file(file, dump_statistics(statistics) + "\n")


def write_bucket_stats(buckets: BucketCounts, folder: Path) -> None:
    """Write a file for each bucket in which every stream has elements, and replace the folder's contents."""
    from midstream.scenarios.spark.writing import new_folder

    with new_folder(folder) as place:
        for start, statistics in buckets.each():
            if all(one.rate for one in statistics.streams.values()):
                write_stats(statistics, place / EACH.format(start=start))
