"""The cost of an element does not grow with the window.

Operations are counted, not seconds: comparisons and hashing of timestamps and values, which every search,
heap or scan must make, and calls of functions. An operator is filled with as many valid elements as the
window holds; then the operations of the elements that follow are counted, while others expire. All that
differs between two runs is the number of elements that are valid at once.
"""

from __future__ import annotations

import gc
import math
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from midstream.operators.base.expiry import Expiry
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import running_operator
from midstream.operators.functions.accumulators import ACCUMULATORS, Maximum, Minimum
from midstream.operators.joins.list_sweepareas import FifoListSweepArea, ListSweepArea
from midstream.operators.joins.ordered_sweeparea import OrderedSweepArea
from midstream.operators.joins.sweepareas import FifoHashSweepArea, HashSweepArea
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.aggregates import avg, count, max_, min_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.streams import Element

SMALL, MEDIUM, LARGE = 1_000, 20_000, 100_000
EARLY = 4_000
"""Enough for a cost that grows to show, and soon."""

MEASURED = 500
"""Elements whose operations are counted."""

GROWTH = 1.5
"""How much a constant cost may differ from one run to the other."""

LOGARITHM = 1.2 * math.log(MEDIUM) / math.log(SMALL)
"""How much a logarithmic cost may grow."""


class Counted(int):
    """A number that counts how often it is compared or hashed."""

    operations = 0

    def __eq__(self, other: object) -> bool:
        Counted.operations += 1
        return int(self) == other

    def __lt__(self, other: Any) -> bool:
        Counted.operations += 1
        return int(self) < other

    def __le__(self, other: Any) -> bool:
        Counted.operations += 1
        return int(self) <= other

    def __gt__(self, other: Any) -> bool:
        Counted.operations += 1
        return int(self) > other

    def __ge__(self, other: Any) -> bool:
        Counted.operations += 1
        return int(self) >= other

    def __hash__(self) -> int:
        Counted.operations += 1
        return hash(int(self))


def operations(work: Callable[[], object]) -> int:
    """Comparisons, hashes, and calls of functions while something runs."""
    calls = 0
    ours = {Counted.__eq__.__code__, Counted.__lt__.__code__, Counted.__le__.__code__}
    ours |= {Counted.__gt__.__code__, Counted.__ge__.__code__, Counted.__hash__.__code__}

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        if event == "c_call" or (event == "call" and frame.f_code not in ours):
            calls += 1

    Counted.operations = 0
    gc.disable()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls + Counted.operations


Payloads = Callable[[int, int], tuple[int, ...]]
"""From an element's number and the size of the window to its payload."""


def elements(
    numbers: range, window: int, payloads: Payloads, is_jittery: bool, counted: Callable[[int], int]
) -> list[Element]:
    """One element an instant, so that `window` are valid at once; on average, if ends are out of order."""
    jitter = random.Random(len(numbers)).randrange
    return [
        (
            Counted(number),
            Counted(number + window + (jitter(-window // 2, window // 2) if is_jittery else 0)),
            tuple(map(counted, payloads(number, window))),
        )
        for number in numbers
    ]


def cost(make: Callable[[], Operator], payloads: Payloads, window: int, is_jittery: bool = False) -> float:
    """Operations per element, once `window` elements are valid and as many expire as arrive."""
    operator = make()
    ports = range(len(operator.reached))
    filled = window * 3 // 2 if is_jittery else window + MEASURED
    # Values that meet only each other while they are kept need not be counted.
    filling = elements(range(filled), window, payloads, is_jittery, int)
    for port in ports:
        operator.process(port, filling, filling[-1][0])
    arriving = elements(range(filled, filled + MEASURED), window, payloads, is_jittery, Counted)
    batches = [arriving[i : i + 100] for i in range(0, MEASURED, 100)]
    results = 0

    def work() -> None:
        nonlocal results
        for batch in batches:
            for port in ports:
                results += len(operator.process(port, batch, batch[-1][0]))

    total = operations(work)
    assert results >= MEASURED / 2, "nothing was done"
    return total / MEASURED / len(ports)


SOURCE = stream("s", k="integer", v="integer", intervals=True)
EVERY = {"n": count(), "s": sum_("v"), "a": avg("v"), "l": min_("v"), "g": max_("v")}


def _alone(number: int, window: int) -> tuple[int, ...]:
    """Every payload meets itself only."""
    return (number % (window * 2), number)


def _few_groups(number: int, window: int) -> tuple[int, ...]:
    """A hundred groups, so that groups hold more when the window does."""
    return (number % 100, hash((number, 7)) % 1000)


def _own_group(number: int, window: int) -> tuple[int, ...]:
    """As many groups as the window has elements."""
    return (number % window, hash((number, 7)) % 1000)


def _falling(number: int, window: int) -> tuple[int, ...]:
    """Every value in the window will be the largest one day."""
    return (number % 100, -number)


def maker(query: Stream, implementation: str) -> Callable[[], Operator]:
    node = Node(Physical(implementation, query.node.operator), query.node.inputs)
    return lambda: running_operator(node)


PAIRS = SOURCE.rename({"k": "k0", "v": "v0"}).join(SOURCE.rename({"k": "k1", "v": "v1"}), on=[("k0", "k1")])
CHRONONS = stream("s", k="integer", v="integer").window(SMALL)
WINDOWED = CHRONONS.rename({"k": "k0", "v": "v0"}).join(
    CHRONONS.rename({"k": "k1", "v": "v1"}), on=[("k0", "k1")]
)
COSTS = {
    "hash-join": (maker(PAIRS, "hash-join"), _alone),
    "hash-join behind windows": (maker(WINDOWED, "hash-join"), _alone),
    "hash-join-queued": (maker(PAIRS, "hash-join-queued"), _alone),
    "distinct": (maker(SOURCE.distinct(), "distinct"), _alone),
    "aggregate over all": (maker(SOURCE.aggregate(**EVERY), "aggregate"), _few_groups),
    "aggregate over all, falling": (maker(SOURCE.aggregate(**EVERY), "aggregate"), _falling),
    "aggregate, few groups": (maker(SOURCE.group_by("k").aggregate(**EVERY), "aggregate"), _few_groups),
    "aggregate, many groups": (maker(SOURCE.group_by("k").aggregate(**EVERY), "aggregate"), _own_group),
}
"""Per stateful operator, how to make it and its payloads, chosen so that the results of an element do not
grow with the window either. Nested loops are missing: they scan the other side, as their name says."""


@pytest.mark.parametrize("window", [EARLY, pytest.param(LARGE, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COSTS)
def test_an_element_costs_the_same_whatever_the_window(name: str, window: int) -> None:
    """Windows give ends in order, so nothing has to be searched for."""
    assert cost(*COSTS[name], window) <= GROWTH * cost(*COSTS[name], SMALL)


WINDOWS = pytest.mark.parametrize("window", [EARLY, pytest.param(MEDIUM, marks=pytest.mark.slow)])
"""To make elements of a large window takes seconds."""


@WINDOWS
@pytest.mark.parametrize("name", ["hash-join", "distinct", "aggregate over all"])
def test_ends_out_of_order_cost_a_logarithm(name: str, window: int) -> None:
    """Behind a join, say. What is searched for then is found by a heap or by bisection."""
    small = cost(*COSTS[name], SMALL, is_jittery=True)
    assert cost(*COSTS[name], window, is_jittery=True) <= LOGARITHM * small


@WINDOWS
@pytest.mark.parametrize("is_jittery", [False, True], ids=["ends in order", "ends out of order"])
def test_a_range_is_found_in_logarithmic_time(is_jittery: bool, window: int) -> None:
    """A band in which one element is, among thousands; and one with a single end, that few are beyond."""
    sides = SOURCE.rename({"k": "k0", "v": "v0"}), SOURCE.rename({"k": "k1", "v": "v1"})
    for on in (
        (col("k1") - 1 < col("k0")) & (col("k0") <= col("k1")),
        (col("v0") < col("v1") + 2) & (col("v0") > col("v1") - 2),
    ):
        make = maker(sides[0].join(sides[1], on=on), "band-join")
        small = cost(make, _alone, SMALL, is_jittery)
        assert cost(make, _alone, window, is_jittery) <= LOGARITHM * small


def test_pairs_that_wait_cost_a_logarithm() -> None:
    """One port runs ahead; the pairs with what the other port left wait, each until its turn comes."""

    def held(ahead: int) -> float:
        join = maker(PAIRS, "hash-join")()
        kept = [(0, 3 * ahead, (number, number)) for number in range(ahead)]
        join.process(0, kept, 0)
        early = elements(range(ahead, 2 * ahead), ahead, lambda number, _: (number - ahead, 0), False, int)
        join.process(1, early, early[-1][0])
        assert len(list(join.state())) == 3 * ahead
        steps = [Counted(number) for number in range(ahead, ahead + MEASURED)]
        out: list[Element] = []
        counted = operations(lambda: [out.extend(join.process(0, [], step)) for step in steps])
        assert len(out) == MEASURED
        return counted / MEASURED

    small = held(SMALL)
    assert held(EARLY) <= LOGARITHM * small
    assert held(MEDIUM) <= LOGARITHM * small


def test_results_that_wait_cost_a_logarithm() -> None:
    """Of ten payloads in turn, duplicate elimination gives the new part of each, far behind the progress."""
    make = maker(SOURCE.select("k").distinct(), "distinct")
    small = cost(make, lambda number, _: (number % 10,), SMALL)
    for window in (EARLY, MEDIUM):
        assert cost(make, lambda number, _: (number % 10,), window) <= LOGARITHM * small


def test_a_port_that_runs_ahead_costs_a_logarithm() -> None:
    """The union holds back what arrives early, and looks for the earliest of it again and again."""

    def held(ahead: int) -> float:
        union = maker(SOURCE.union(SOURCE), "union")()
        early = elements(range(2 * MEASURED, 2 * MEASURED + ahead), 1, _alone, False, int)
        union.process(0, early, early[-1][0])
        late = elements(range(2 * MEASURED, 3 * MEASURED), 1, _alone, False, int)
        out: list[Element] = []
        counted = operations(lambda: [out.extend(union.process(1, [one], one[0])) for one in late])
        assert len(out) == 2 * MEASURED
        return counted / MEASURED

    small = held(SMALL)
    assert held(EARLY) <= LOGARITHM * small
    assert held(MEDIUM) <= LOGARITHM * small


KEEPERS: dict[str, Callable[[], Any]] = {
    "list": ListSweepArea,
    "list, fifo": FifoListSweepArea,
    "hash": lambda: HashSweepArea([0]),
    "hash, fifo": lambda: FifoHashSweepArea([0]),
    "ordered": lambda: OrderedSweepArea(lambda row: row[0]),
    "expiry": Expiry,
}
"""What keeps items until their ends."""


@pytest.mark.parametrize(
    ("name", "is_jittery"),
    [(name, jitter) for name in KEEPERS for jitter in (False, True) if "fifo" not in name or not jitter],
)
def test_purging_is_paid_by_what_is_purged(name: str, is_jittery: bool) -> None:
    """Each element leaves once, whatever else is kept; to look for what has expired, and find nothing, costs
    the same whether ten or thousands of elements are kept."""
    total = 8_000
    for window in (10, total // 2):
        kept = KEEPERS[name]()
        numbers = elements(range(total), window, _alone, is_jittery, int)

        def purge(time: int, kept: Any = kept) -> None:
            if isinstance(kept, Expiry):
                assert all(end <= time for end, _ in kept.expired(time))
            else:
                kept.purge(time)

        def insert(one: Element, kept: Any = kept) -> None:
            kept.add(one[1], one) if isinstance(kept, Expiry) else kept.insert([one], 0)

        for one in numbers[: total // 2]:
            insert(one)
        idle = operations(lambda purge=purge: [purge(0) for _ in range(100)])
        assert idle <= 100 * 8
        steps = operations(
            lambda purge=purge, insert=insert, numbers=numbers: [
                (insert(one), purge(int(one[0]))) for one in numbers[total // 2 :]
            ]
        )
        purge(3 * total)
        assert len(kept) == 0
        # A heap compares twice on each of its levels, and tuples compare their ends twice.
        # So does the search for a place in an order of keys.
        levels = math.log2(total) if is_jittery or name.startswith("ordered") else 1
        assert steps <= total * (20 + 4 * levels)


@pytest.mark.parametrize("kind", [Maximum, Minimum])
@pytest.mark.parametrize("shape", ["rising", "falling", "sawtooth", "random", "equal"])
def test_an_extreme_is_amortised(kind: type[Maximum], shape: str) -> None:
    """A value may push out thousands, but each is pushed out once: with ends in order, three comparisons a
    value in all, in the worst order of values too."""
    total = 6_000
    values = {
        "rising": lambda i: i,
        "falling": lambda i: -i,
        "sawtooth": lambda i: -(i % 1000) if i % 1000 else total,
        "random": lambda i: hash((i, 3)) % 1000,
        "equal": lambda i: 7,
    }[shape]
    accumulator = kind()
    arrivals = [(i, Counted(values(i)), Counted(i + 2_000)) for i in range(total)]

    def work() -> None:
        for now, value, end in arrivals:
            accumulator.add(value, end)
            accumulator.value(now)

    work_done = operations(work)
    assert work_done <= total * 20


@pytest.mark.parametrize("kind", [Maximum, Minimum])
def test_an_extreme_of_ends_out_of_order_is_found_by_bisection(kind: type[Maximum]) -> None:
    """A scan of the values that are kept would cost thousands of comparisons."""
    accumulator = kind()
    sign = -1 if kind is Maximum else 1
    for i in range(20_000):  # the later the end, the farther from the extreme: all are kept
        accumulator.add(sign * i, Counted(10 * i))
    among = [(sign * (i + 0.5), Counted(10 * i + 5)) for i in range(5, 19_995, 20)]
    found = operations(lambda: [accumulator.add(value, end) for value, end in among])
    assert found <= len(among) * (10 + 3 * math.log2(20_000))


@pytest.mark.parametrize("function", ACCUMULATORS)
def test_an_accumulator_costs_the_same_however_many_values_are_in(function: str) -> None:
    def value(number: int) -> Any:
        weights = {"scaled_sum": (0.5,), "standard_error": (0.5, int(number))}.get(function)
        return number if weights is None else (number, *weights)

    def steps(window: int) -> int:
        accumulator = ACCUMULATORS[function]()
        for i in range(window):
            accumulator.add(value(-i), i + window)

        def work() -> None:
            for i in range(window, window + MEASURED):
                accumulator.remove(value(window - i))
                accumulator.add(value(Counted(-i)), Counted(i + window))
                accumulator.value(i)

        return operations(work)

    small = steps(SMALL)
    assert steps(EARLY) <= GROWTH * small
    assert steps(LARGE) <= GROWTH * small


def test_nested_loops_cost_a_scan() -> None:
    """The other side of the guard: counting does see a scan."""

    def probing(kept: int) -> int:
        join = maker(PAIRS, "nested-loops-join")()
        join.process(0, elements(range(kept), kept, _alone, False, int), kept)
        late = elements(range(kept, kept + 20), kept, _alone, False, int)
        return operations(lambda: join.process(1, late, late[-1][0]))

    assert probing(1_000) >= 4 * probing(200)
