"""Random engines within a budget: nothing raises and nothing warns, and memory keeps within the limit.

    python tests/support/within_budget.py small --runs 5000 --seed 1 --workers 2
    python tests/support/within_budget.py large --runs 500 --seed 1 --workers 2

A *small* run lets everything happen that can happen beside a budget: relations, streams that are far behind
or far ahead of the others or silent, queries with larger windows that come, watches, an autopilot, functions
that raise. What queries without levers give must be what they give without a budget. A *large* run has
thousands of elements in its state. While rates are steady, what it holds may exceed the budget by a twentieth
in a twentieth of the time at most, and by a fifth never.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import midstream as ms
from midstream.autopilot.managing import ResourceManager
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.builder import Stream
from midstream.plans.values.errors import BudgetExceeded, FunctionError, QueryNote, StatisticsError
from midstream.plans.values.streams import Batch, Element

SEEN = (
    "adjust", "stay", "short", "relation", "behind", "ahead", "silent", "larger window", "watch", "autopilot",
    "came", "went", "raised", "admitted", "excluded", "ended early", "without bounds",
)  # fmt: skip
"""The states that a campaign of small runs must have seen."""

NAMES = "abc"


def source(name: str) -> Stream:
    return ms.stream(name, **{f"{name}k": "integer", f"{name}v": "integer"})


def windowed(name: str, size: int, least: int | None) -> Stream:
    bounds = None if least is None else (least, size)
    return source(name).window(size, bounds=bounds)


FIXED = ms.relation("items", ik="integer", iv="integer")


def picky(value: int) -> bool:
    if value == 7:
        raise ValueError("no such value")
    return value > 2


def shapes(chance: random.Random, size: int, least: int | None) -> tuple[str, Stream]:
    """A random query over windows of a size, and its kind."""
    one, other = chance.sample(NAMES, 2)
    x, y = windowed(one, size, least), windowed(other, max(2, size // chance.randrange(1, 4)), None)
    on = [(f"{one}k", f"{other}k")]
    k, v = f"{one}k", f"{one}v"
    made: dict[str, Callable[[], Stream]] = {
        "all": lambda: x,
        "filter": lambda: x.filter(ms.col(v) > 3),
        "distinct": x.distinct,
        "join": lambda: x.join(y, on=on),
        "semi-join": lambda: x.semi_join(y, on=on),
        "anti-join": lambda: x.anti_join(y, on=on),
        "group": lambda: x.group_by(k).aggregate(n=ms.count(), most=ms.max_(v)),
        "difference": lambda: x.select(v=ms.col(k)).difference(y.select(v=ms.col(f"{other}k"))),
        "union": lambda: x.select(v=ms.col(k)).union(y.select(v=ms.col(f"{other}k"))),
        "relation": lambda: FIXED.join(x, on=[("ik", k)]),
        "unmatched rows": lambda: FIXED.anti_join(x, on=[("ik", k)]),
        "granule": lambda: x.granularity(1, bounds=(1, 1 + size // 8)).group_by(k).aggregate(n=ms.median(v)),
        "sample": lambda: (
            source(one).sample(1.0, bounds=(0.1, 1.0)).window(size).group_by(k).aggregate(n=ms.count())
        ),
        "rows": lambda: source(one).last(9, bounds=(2, 9), ties="arrival").distinct(),
        "raised": lambda: x.filter(ms.opaque(picky, reads=[v], type="boolean")),
    }
    kind = chance.choice(list(made))
    return kind, made[kind]()


@dataclass
class Small:
    """A small run, by its number."""

    number: int
    seen: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        chance = self.chance = random.Random(self.number)
        self.now = dict.fromkeys(NAMES, 0)
        self.pace = {name: chance.choice((0.2, 1.0, 1.0, 3.0)) for name in NAMES}
        self.engine = ms.Engine(
            relations={"items": constant([(i, i % 3) for i in range(chance.randrange(9))])}
        )
        self.twin = ms.Engine(relations={"items": constant([(i, i % 3) for i in range(chance.randrange(9))])})
        self.size = chance.choice((8, 20, 60, 150))
        self.results: dict[str, list[Element]] = {}
        self.expected: dict[str, list[Element]] = {}
        self.counted = 0
        self.budget: ResourceManager | None = None
        self.watches: list[Callable[[], object]] = []
        for _ in range(chance.randrange(1, 4)):
            self.come()
        for number in range(chance.randrange(40, 120)):
            if self.budget is None and number >= chance.randrange(10):
                self.begin()
            self.step()
        self.end()

    def begin(self) -> None:
        chance = self.chance
        memory = chance.choice((1_000, 10_000, 100_000)) * max(1, self.size // 20)
        processor = chance.choice((None, None, None, 0.5))
        every = chance.choice((None, None, 3, 11))
        if every is None and all(q.plan is None for q in self.engine.queries.values()):
            every = 5
        deciding = chance.choice((0.05, None, 1.0))
        try:
            self.budget = self.engine.budget(
                memory=memory, processor=processor, every=every, deciding=deciding
            )
        except ms.errors.ArgumentError:  # no query has a time window
            self.budget = self.engine.budget(memory=memory, processor=processor, every=7, deciding=deciding)
        if chance.random() < 0.3:
            try:
                self.engine.autopilot(settings=ms.Settings(budget=None), every=chance.choice((None, 7)))
                self.seen["autopilot"] += 1
            except ms.errors.ArgumentError:
                pass

    def come(self) -> None:
        """A query comes, maybe with a larger window, maybe only within the budget."""
        chance = self.chance
        size = self.size * chance.choice((1, 1, 1, 2, 10))
        least = chance.choice((None, 2, max(2, size // 10)))
        kind, query = shapes(chance, size, least)
        self.counted += 1
        name = f"{kind} {self.counted}"
        results: list[Element] = []
        within = self.budget if chance.random() < 0.3 else None
        has_levers = least is not None or kind in ("granule", "sample", "rows")
        reads = [one.stream for one in query.plan().sources]
        if self.engine.streams:
            progress = [self.now[one] for one in self.engine.streams]
            fresh = [one for one in reads if one not in self.engine.streams]
            self.seen["behind"] += any(self.now[one] < max(progress) - 2 * self.size for one in fresh)
            self.seen["ahead"] += any(self.now[one] > min(progress) + 2 * self.size for one in fresh)
        try:
            self.engine.add(query, results.extend, name=name, within=within)
        except (BudgetExceeded, StatisticsError):
            assert within is not None
            self.seen["excluded"] += 1
            return
        self.seen["admitted"] += within is not None
        self.seen["relation"] += kind in ("relation", "unmatched rows")
        self.seen["larger window"] += self.budget is not None and size > self.size
        self.seen["came"] += 1
        self.results[name] = results
        if not has_levers and kind not in ("raised", "relation", "unmatched rows"):
            expected = self.expected[name] = []
            self.twin.add(query, expected.extend, name=name)
            self.seen["without bounds"] += 1

    def step(self) -> None:
        chance = self.chance
        match chance.randrange(40):
            case 0 | 1:
                self.come()
            case 2 if len(self.engine.queries) > 1:
                name = chance.choice(list(self.engine.queries))
                for engine in (self.engine, self.twin):
                    if name in engine.queries:
                        engine.remove(name)
                self.expected.pop(name, None)  # how far its results have come may differ
                self.seen["went"] += 1
            case 3 if self.engine.queries:
                watch = self.engine.watch(chance.choice(list(self.engine.queries)))
                read = watch.__enter__()
                self.watches.append(partial(watch.__exit__, None, None, None))
                read()
                self.seen["watch"] += 1
            case 4 if self.watches:
                self.watches.pop()()
            case 5:
                self.pace[chance.choice(NAMES)] = chance.choice((0.0, 0.2, 1.0, 8.0))
            case 6:
                name = chance.choice(NAMES)  # it is silent for long
                self.now[name] += self.size * chance.randrange(1, 20)
                self.seen["silent"] += 1
            case _:
                self.push()

    def push(self) -> None:
        chance = self.chance
        name = min(NAMES, key=self.now.__getitem__) if chance.random() < 0.5 else chance.choice(NAMES)
        length = max(1, self.size // chance.randrange(2, 9))
        start = self.now[name]
        self.now[name] += length
        batch: Batch = [
            (t, t + 1, (chance.randrange(9), chance.randrange(7 + (chance.random() < 0.02))))
            for t in range(start, start + length)
            for _ in range(int(self.pace[name] + chance.random()))
        ]
        size = chance.choice((1, 5, len(batch) or 1))
        for at in range(0, len(batch), size):
            self.send(name, lambda engine, at=at: engine.push(name, batch[at : at + size]))
        if chance.random() < 0.5:
            self.send(name, lambda engine: engine.advance(name, self.now[name]))

    def send(self, name: str, work: Callable[[ms.Engine], object]) -> None:
        """Let something happen on a stream; only a user's function may raise."""
        for engine in (self.engine, self.twin):
            if name in engine.streams:
                try:
                    work(engine)
                except FunctionError:
                    assert engine is self.engine
                    self.seen["raised"] += 1

    def end(self) -> None:
        chance = self.chance
        if chance.random() < 0.3:
            early = chance.choice(NAMES)
            self.send(early, lambda engine: engine.end(early))
            self.seen["ended early"] += 1
            for name in NAMES:
                if name != early:
                    self.send(
                        name, lambda engine, name=name: engine.advance(name, self.now[name] + 3 * self.size)
                    )
        for engine in (self.engine, self.twin):
            engine.close()
        for name, expected in self.expected.items():
            assert ms.equivalent(self.results[name], expected), f"run {self.number}: {name}"
        if self.budget is not None:
            events = [record.event for record in self.budget.decisions]
            failures = [
                str(record) for record in self.budget.decisions if record.event in ("failed", "refused")
            ]
            assert not failures, f"run {self.number}: {failures}"
            self.seen.update(events)


def small(number: int) -> Counter[str]:
    """Make a small run, in which a warning is a failure; returns the states that it saw."""
    run = Small(number)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=QueryNote)
        try:
            run.run()
        except Exception as error:
            error.add_note(f"in small run {number}")
            raise
    return run.seen


# Promises


WINDOW = 1_500
"""The largest window of a large run."""

LEAST = 2_000
"""The elements of a budget, below which chance alone exceeds it now and then."""

LARGE: dict[str, Callable[[random.Random], Stream]] = {
    "all": lambda c: lever(c, "a"),
    "distinct": lambda c: lever(c, "a").distinct(),
    "join": lambda c: lever(c, "a").join(lever(c, "b"), on=[("ak", "bk")]),
    "semi-join": lambda c: lever(c, "b").semi_join(lever(c, "c"), on=[("bk", "ck")]),
    "anti-join": lambda c: lever(c, "c").anti_join(lever(c, "a"), on=[("ck", "ak")]),
    "group": lambda c: lever(c, "b").group_by("bk").aggregate(n=ms.count(), least=ms.min_("bv")),
    "median": lambda c: lever(c, "c").group_by("ck").aggregate(n=ms.median("cv")),
    "filter": lambda c: lever(c, "b").filter(ms.col("bv") > 3).distinct(),
    "difference": lambda c: (
        lever(c, "a").select(k=ms.col("ak")).difference(lever(c, "b").select(k=ms.col("bk")))
    ),
}


def lever(chance: random.Random, name: str) -> Stream:
    size = chance.choice((WINDOW, WINDOW, WINDOW // 2))
    return source(name).window(size, bounds=(size // chance.choice((5, 10, 50)), size))


def large(number: int) -> list[float]:
    """Run queries with thousands of elements in their state, at rates that are steady but for two changes.

    Returns what was held, as a multiple of the budget, at instants from one largest window behind a change
    on. Instants are left out at which the least settings do not suffice.
    """
    chance = random.Random(number)
    queries = [LARGE[kind](chance) for kind in chance.sample(list(LARGE), chance.randrange(2, 5))]
    keys = chance.choice((20, 300, 5_000))
    rates = {name: chance.choice((0.8, 1.5, 3.0)) for name in NAMES}
    step = 50
    kept: list[float] = []

    def run(start: int, end: int) -> None:
        for t in range(start, end, step):
            for name in engine.streams:
                number = max(0, round(chance.gauss(rates[name] * step, math.sqrt(rates[name] * step))))
                times = sorted(t + chance.randrange(step) for _ in range(number))
                engine.push(name, [(u, u + 1, (chance.randrange(keys), chance.randrange(10))) for u in times])
                engine.advance(name, t + step)
            if budget is not None and t >= changed + WINDOW and budget.decisions[-1].event != "short":
                held = sum(engine.held(in_bytes=True).values())
                kept.append(held / limit)

    budget, changed, limit, elements = None, 0, 0.0, 0
    while elements < LEAST:
        engine = ms.Engine()
        for i, query in enumerate(queries):
            engine.add(query, lambda batch: None, name=f"query {i}")
        run(0, WINDOW + 500)
        share = chance.uniform(0.3, 0.9)
        limit = share * sum(engine.held(in_bytes=True).values())
        elements = int(share * sum(engine.held().values()))
        rates = {name: rate * (1.0 if elements >= LEAST else 1.5) for name, rate in rates.items()}
    changed = 2 * WINDOW + 500  # as nothing is known at first
    budget = engine.budget(memory=limit)
    run(WINDOW + 500, changed)
    for _ in range(3):
        run(changed, changed + 4 * WINDOW)
        changed += 4 * WINDOW
        name = chance.choice(NAMES)
        rates[name] *= chance.choice((0.3, 0.6, 1.6, 3.0))
    return kept


def is_kept(ratios: Sequence[float]) -> bool:
    """Whether a run kept its budget."""
    return sum(ratio > 1.05 for ratio in ratios) <= 0.05 * len(ratios) and max(ratios, default=0.0) <= 1.2


def main() -> int:
    """Make many runs, and tell what they saw; the status is 1 where one fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["small", "large"])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    numbers = range(chosen.seed, chosen.seed + chosen.runs)
    seen: Counter[str] = Counter()
    missed, instants, above = [], 0, 0
    with ProcessPoolExecutor(chosen.workers) as pool:
        if chosen.kind == "small":
            for number, states in zip(numbers, pool.map(small, numbers, chunksize=20), strict=True):
                seen += states
                _tell(f"{number - chosen.seed + 1:,} runs, {seen.total():,} states")
            missed = [state for state in SEEN if not seen[state]]
            print(f"\n{', '.join(f'{state} {n:,}' for state, n in seen.most_common())}; not seen: {missed}")
        else:
            for number, ratios in zip(numbers, pool.map(large, numbers), strict=True):
                instants, above = instants + len(ratios), above + sum(ratio > 1.05 for ratio in ratios)
                if not is_kept(ratios):
                    missed.append(number)
                    print(f"\nrun {number}: {max(ratios):.2f} of the budget at the most")
                _tell(f"{number - chosen.seed + 1:,} runs, {above / max(1, instants):.2%} above 1.05")
            print(f"\nruns that exceed their budget: {len(missed)} of {chosen.runs}")
    return 1 if missed else 0


def _tell(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{line}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
