"""Elements per second of single operators behind the engine, and of a hand-written loop for the same job.

    python benchmarks/throughput.py [--elements N]

One run, the same seeded data, the same results (compared): only ratios mean something.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict, deque
from collections.abc import Callable
from time import perf_counter

import midstream as ms

WINDOW = 5_000
KEYS = 5_000


def elements(count: int, seed: int) -> list:
    """One element a chronon: (key, value)."""
    rng = random.Random(seed)
    return [(t, t + 1, (rng.randrange(KEYS), t)) for t in range(count)]


def source(name: str) -> ms.Stream:
    """A windowed stream."""
    return ms.stream(name, k="integer", v="integer").alias(name).window(WINDOW)


def by_hand(left: list, right: list) -> list:
    """The windowed equi-join as one loop over both streams in step, a deque a key, purged when looked at."""
    kept: tuple[dict, dict] = (defaultdict(deque), defaultdict(deque))
    out = []
    for pair in zip(left, right, strict=True):
        for side, (start, _, row) in enumerate(pair):
            end = start + WINDOW
            bucket = kept[1 - side][row[0]]
            while bucket and bucket[0][1] <= start:
                bucket.popleft()
            for start2, end2, other in bucket:
                both = row + other if side == 0 else other + row
                out.append((max(start, start2), min(end, end2), both))
            kept[side][row[0]].append((start, end, row))
    return out


def timed(work: Callable[[], list]) -> tuple[float, list]:
    """Seconds and results."""
    start = perf_counter()
    results = work()
    return perf_counter() - start, results


def through_engine(plan: ms.Plan, streams: dict[str, list], batch_size: int) -> list:
    """Results of a plan, its streams pushed in step."""
    results: list = []
    engine = ms.Engine(plan, results.extend)
    for at in range(0, max(map(len, streams.values())), batch_size):
        for name, stream in streams.items():
            engine.push(name, stream[at : at + batch_size])
    engine.close()
    return results


def main() -> None:
    """Print a line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=50_000, help="elements a stream")
    count = parser.parse_args().elements
    left, right = elements(count, 1), elements(count, 2)
    pairs = source("l").join(source("r"), on=[("l.k", "r.k")]).plan()
    seconds, expected = timed(lambda: by_hand(left, right))
    print(f"join by hand          {2 * count / seconds:12,.0f} elements/s")
    for batch_size in (1, 64, 1024):
        took, results = timed(lambda: through_engine(pairs, {"l": left, "r": right}, batch_size))  # noqa: B023
        assert ms.equivalent(results, expected)
        print(
            f"join, batches of {batch_size:<5}{2 * count / took:12,.0f} elements/s  "
            f"{seconds / took:.2f} of by hand"
        )
    s = source("s")
    plans = {
        "filter and project": s.filter((ms.col("s.v") % 2).eq(0)).select("s.k"),
        "distinct": s.select("s.k").distinct(),
        "max and avg": s.aggregate(top=ms.max_("s.v"), mean=ms.avg("s.v")),
        "count by key": s.group_by("s.k").aggregate(n=ms.count()),
    }
    for name, query in plans.items():
        took, _ = timed(lambda: through_engine(query.plan(), {"s": left}, 1024))  # noqa: B023
        print(f"{name:<22}{count / took:12,.0f} elements/s")


if __name__ == "__main__":
    main()
