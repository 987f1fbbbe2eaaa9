"""Queries over streams on which an autopilot must pay for itself, in processor time.

Streams are long at one rate: a larger scale adds windows, and repeats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Literal

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Element
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.generated import GENERATED
from midstream.scenarios.trials.policies.on_engine import plan_of
from midstream.scenarios.trials.policies.recorded import RECORDED

Gain = Literal["none", "some", "against"]
"""The gain of other plans: none; some; or some until the autopilot has moved."""

Equality = tuple[str, str]


@dataclass(frozen=True)
class Situation:
    """Streams and equivalent plans of a query.

    window   the largest window, in chronons
    plans    by name, the plans from which the autopilot begins
    beside   another query that runs all the time
    """

    window: int
    streams: Mapping[str, Sequence[Element]]
    plans: Mapping[str, Plan]
    gain: Gain
    beside: Plan | None = None

    @property
    def first(self) -> int:
        """The start of the first element."""
        return int(min(elements[0][0] for elements in self.streams.values() if elements))

    @property
    def windows(self) -> float:
        """The length of the streams, in windows."""
        last = int(max(elements[-1][0] for elements in self.streams.values() if elements))
        return (last - self.first) / self.window


Column = Callable[[Random], int]

Rate = Callable[[float], float]
"""Elements per chronon, by the number of windows since the beginning."""


def uniform(values: int) -> Column:
    """Values that are equally likely."""
    return lambda chance: chance.randrange(values)


def skewed(values: int) -> Column:
    """Values of which the n-th is n times as rare as the first, about."""
    return lambda chance: min(values - 1, int(values ** chance.random()) - 1)


def elements_of(
    name: str, window: int, windows: float, rate: Rate, columns: Sequence[Column]
) -> list[Element]:
    """Elements with random gaps."""
    chance, time = Random(name), 0.0
    found: list[Element] = []
    while time < windows * window:
        time += chance.expovariate(rate(time / window))
        found.append((int(time), int(time) + 1, tuple(column(chance) for column in columns)))
    return found


def orders(inputs: Mapping[str, Stream], on: Sequence[Equality]) -> dict[str, Plan]:
    """All left-deep orders of a join of connected inputs, up to the sides of the first two."""
    columns = [column for one in inputs.values() for column in one.schema.names]
    return {
        " ".join(names): joined.select(*columns).plan()
        for names in permutations(inputs)
        if names[0] < names[1]
        for joined in _joined(names, inputs, on)
    }


def _joined(names: Sequence[str], inputs: Mapping[str, Stream], on: Sequence[Equality]) -> Iterator[Stream]:
    joined = inputs[names[0]]
    for name in names[1:]:
        added = inputs[name]
        pairs = [pair for one, other in on for pair in ((one, other), (other, one))]
        matching = [(a, b) for a, b in pairs if a in joined.schema.names and b in added.schema.names]
        if not matching:
            return
        joined = joined.join(added, on=matching)
    yield joined


def _windowed(window: int, **columns: str) -> dict[str, Stream]:
    """Streams of integer columns, named by the stream and a letter, with windows."""
    return {
        name: stream(name, {f"{name}{letter}": "integer" for letter in letters}).window(window)
        for name, letters in columns.items()
    }


CHAIN = (("ax", "bx"), ("by", "cy"))
"""a.x = b.x and b.y = c.y."""


def chain(gain: Gain, window: int, windows: float, rates: Sequence[Rate], x: Column, y: Column) -> Situation:
    """A join of three streams in a chain."""
    inputs = _windowed(window, a="x", b="xy", c="y")
    made = zip("abc", rates, ((x,), (x, y), (y,)), strict=True)
    streams = {name: elements_of(name, window, windows, rate, columns) for name, rate, columns in made}
    return Situation(window, streams, orders(inputs, CHAIN), gain)


def steady(per_window: float, window: int) -> Rate:
    """So many elements in each window."""
    return lambda at: per_window / window


def better_order(scale: float) -> Situation:
    """One order gives a tenth of the other's intermediate results, all the time."""
    rate = steady(500, 5000)
    return chain("some", 5000, 30 * scale, (rate, rate, rate), uniform(20), uniform(200))


def scan(scale: float) -> Situation:
    """The worst order joins two streams on a column with few values: most of its results match nothing."""
    rates = steady(700, 5000), steady(700, 5000), steady(30, 5000)
    return chain("some", 5000, 20 * scale, rates, uniform(6), uniform(700))


def few_results(scale: float) -> Situation:
    """Hardly anything matches, so that all orders cost the same."""
    rate = steady(500, 5000)
    return chain("none", 5000, 800 * scale, (rate, rate, rate), uniform(50_000), uniform(60_000))


def skew(scale: float) -> Situation:
    """Values of one column are skewed, those of the other are not."""
    rate = steady(300, 5000)
    return chain("some", 5000, 80 * scale, (rate, rate, rate), skewed(500), uniform(60))


def bursts(scale: float) -> Situation:
    """Each stream is quiet, and for half a window in ten it is twenty times as fast, one after the other."""

    def rate(turn: int) -> Rate:
        return lambda at: (1200 if (at - 3 * turn) % 10 < 0.5 else 60) / 5000

    return chain("none", 5000, 1200 * scale, (rate(0), rate(1), rate(2)), uniform(100), uniform(110))


def four_inputs(scale: float) -> Situation:
    """A join of four streams in a chain, with one column that has few values."""
    window, windows = 5000, 80 * scale
    inputs = _windowed(window, a="x", b="xy", c="yz", d="z")
    kinds = {"a": (20,), "b": (20, 150), "c": (150, 150), "d": (150,)}
    rate = steady(250, window)
    streams = {
        name: elements_of(name, window, windows, rate, [uniform(values) for values in kinds[name]])
        for name in inputs
    }
    return Situation(window, streams, orders(inputs, (*CHAIN, ("cz", "dz"))), "some")


def sharing(scale: float) -> Situation:
    """A query beside another one over one of its joins, which the order as written shares."""
    found = chain("none", 5000, 120 * scale, [steady(300, 5000)] * 3, uniform(60), uniform(75))
    inputs = _windowed(5000, a="x", b="xy")
    beside = inputs["a"].join(inputs["b"], on=[CHAIN[0]]).plan()
    return Situation(found.window, found.streams, found.plans, "none", beside)


def against(scale: float) -> Situation:
    """The better order changes about when a move has paid for the evidence: every three windows."""
    window, windows = 5000, 60 * scale
    inputs = _windowed(window, a="x", b="xy", c="y")
    chance = Random("against")
    streams: dict[str, list[Element]] = {name: [] for name in "abc"}
    for name in "abc":
        time = 0.0
        while time < windows * window:
            time += chance.expovariate(400 / window)
            x, y = (20, 200) if time / window % 6 < 3 else (200, 20)
            row = {"a": (x,), "b": (x, y), "c": (y,)}[name]
            streams[name].append((int(time), int(time) + 1, tuple(map(chance.randrange, row))))
    return Situation(window, streams, orders(inputs, CHAIN), "against")


def one_filter(scale: float) -> Situation:
    """A filter: there is no other plan."""
    read = stream("a", ax="integer")
    plan = read.window(5000).filter(col("ax") < 50).plan()
    rate = steady(5000, 5000)
    return Situation(
        5000, {"a": elements_of("a", 5000, 400 * scale, rate, [uniform(100)])}, {"as written": plan}, "none"
    )


def two_inputs(scale: float) -> Situation:
    """A join of two streams: plans differ in sides only."""
    inputs = _windowed(5000, a="x", b="x")
    rate = steady(1000, 5000)
    streams = {name: elements_of(name, 5000, 400 * scale, rate, [uniform(1000)]) for name in inputs}
    plan = inputs["a"].join(inputs["b"], on=[("ax", "bx")]).plan()
    return Situation(5000, streams, {"as written": plan}, "none")


def filter_above(scale: float) -> Situation:
    """A filter that was written above a join, and belongs below it."""
    found = better_order(scale)
    inputs = _windowed(5000, a="x", b="xy", c="y")
    columns = ("ax", "bx", "by", "cy")
    joined = inputs["a"].join(inputs["b"], on=[CHAIN[0]])
    joined = joined.join(inputs["c"], on=[CHAIN[1]]).select(*columns)
    below = {**inputs, "a": inputs["a"].filter(col("ax") < 1)}
    plans = {"filter above": joined.filter(col("ax") < 1).plan()} | {
        f"filter below, {name}": plan for name, plan in orders(below, CHAIN).items()
    }
    return Situation(found.window, found.streams, plans, "some")


def of_case(case: Case, gain: Gain, longer: int = 1) -> Situation:
    """The streams and orders of a case of the benchmark of intermediate results, with longer windows."""
    case = replace(case, window=longer * case.window)
    streams = {name: [(time, time + 1, row) for time, row in rows] for name, rows in case.streams.items()}
    plans = {f"{one} {other} first": plan_of(case, (one, other)) for one, other in case.orders}
    return Situation(case.window, streams, plans, gain)


MADE: Mapping[str, Callable[[float], Situation]] = {
    "one filter": one_filter,
    "two inputs": two_inputs,
    "few results": few_results,
    "bursts": bursts,
    "sharing": sharing,
    "better order": better_order,
    "filter above": filter_above,
    "scan": scan,
    "skew": skew,
    "four inputs": four_inputs,
    "against": against,
    "selectivity-flip": lambda scale: of_case(GENERATED["selectivity-flip"](1), "some"),
    "stationary-150": lambda scale: of_case(GENERATED["stationary-150"](1), "some"),
}
"""Situations that need no data, by name."""

READ: Mapping[str, Callable[[Path], Situation]] = {
    "flights": lambda data: of_case(RECORDED["flights"](data), "some", 30),
    "packets": lambda data: of_case(RECORDED["packets"](data), "some", 12),
    "roads": lambda data: of_case(RECORDED["roads"](data), "some", 20),
}
"""Situations of recorded streams, by name; with their own windows a run takes some hundredths of a second."""
