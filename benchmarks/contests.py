"""Contests, each in a process of its own.

Memory that is allocated after another workload lies in the gaps that this workload left, and is slower to
reach. And no machine is equally fast all the time. So each window of an item has its own process, and the
processes take turns.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from functools import cache, partial
from multiprocessing import get_context
from typing import TypeVar

from midstream.benchmarks.item import Item, workload
from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.measuring import Contest, ItemResult, Measured
from midstream.benchmarks.options import BenchmarkError


def measure(
    item: Item,
    windows: Sequence[int | None],
    elements: int,
    seed: int,
    batch_sizes: Sequence[int],
    peers: Collection[str],
    repetitions: int,
    progress: Callable[[], object] = lambda: None,
) -> tuple[ItemResult, ...]:
    """Run all contenders for an item with each window (None for its own) in turn, again and again.

    `progress` is called after each run.

    Cost     `runs` of each window; the streams of all windows are in memory at once.
    Raises   BenchmarkError where a process ends before its time.
    """
    contests = [
        partial(_contest, item.name, window, elements, seed, tuple(batch_sizes), tuple(peers))
        for window in windows
    ]
    try:
        with ExitStack() as stack:
            processes = [
                (stack.enter_context(ProcessPoolExecutor(1, mp_context=get_context("spawn"))), contest)
                for contest in contests
            ]
            counts = [pool.submit(_ask, contest, len) for pool, contest in processes]
            for run in (Contest.warm_up, *[Contest.repeat] * repetitions):
                for number in range(counts[0].result()):
                    for pool, contest in processes:
                        pool.submit(_ask, contest, run, number).result()
                        progress()
            results = [pool.submit(_ask, contest, _result) for pool, contest in processes]
            return tuple(ItemResult(item, *result.result()) for result in results)
    except BrokenProcessPool as error:
        raise BenchmarkError(
            f"{item.name}: a process that measured it with {elements:,} elements was ended from outside, for "
            f"want of memory perhaps; try fewer --elements",
            found=item.name,
        ) from error


@cache
def _contest(
    name: str,
    window: int | None,
    elements: int,
    seed: int,
    batch_sizes: tuple[int, ...],
    peers: tuple[str, ...],
) -> Contest:
    """The contest of this process, made at the first call."""
    item = next(item for item in ITEMS if item.name == name)
    contest = Contest(workload(item, elements, seed, window), seed, batch_sizes, peers)
    # Otherwise garbage collection would traverse the inputs and the expected results during each run.
    gc.collect()
    gc.freeze()
    return contest


T = TypeVar("T")


def _ask(contest: Callable[[], Contest], do: Callable[..., T], *arguments: int) -> T:
    """Call a function with the contest of this process."""
    return do(contest(), *arguments)


def _result(contest: Contest) -> tuple[int | None, int, tuple[Measured, ...]]:
    """The fields of an ItemResult besides the item, which cannot be sent between processes."""
    result = contest.result()
    return result.window, result.elements, result.measured
