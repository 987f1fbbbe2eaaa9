"""SweepAreas and what expires next: one contract, several implementations, each against a list that is
searched."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from midstream.operators.base.expiry import Expiry
from midstream.operators.joins.list_sweepareas import FifoListSweepArea, ListSweepArea
from midstream.operators.joins.ordered_sweeparea import OrderedSweepArea
from midstream.operators.joins.sweepareas import FifoHashSweepArea, HashSweepArea, SweepArea
from midstream.plans.values.streams import FOREVER, Element, Time

LENGTHS = st.one_of(st.integers(1, 20), st.just(FOREVER))
KEYS = st.one_of(st.none(), st.integers(0, 3))


def run_machine(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=settings.default.max_examples // 2,
            stateful_step_count=20,
            suppress_health_check=list(HealthCheck),
        ),
    )


class Machine(RuleBasedStateMachine):
    """What both machines share: ends that are in order where the implementation asks for that."""

    is_fifo: bool
    latest: Time = 0

    def end(self, length: Time, now: int) -> Time:
        self.latest = max(self.latest, now + length) if self.is_fifo else now + length
        return self.latest


def expiry_machine(fifo: bool) -> type[RuleBasedStateMachine]:
    class Keeping(Machine):
        """Items come with ends and are taken out."""

        is_fifo = fifo

        @initialize()
        def begin(self) -> None:
            self.expiry: Expiry[int] = Expiry()
            self.model: list[tuple[Time, int]] = []
            self.added = self.now = 0

        @rule(length=LENGTHS)
        def add(self, length: Time) -> None:
            end = self.end(length, self.now)
            self.expiry.add(end, self.added)
            self.model.append((end, self.added))
            self.added += 1

        @rule(step=st.integers(0, 6))
        def take(self, step: int) -> None:
            self.now += step
            assert list(self.expiry.expired(self.now)) == sorted(p for p in self.model if p[0] <= self.now)
            self.model = [p for p in self.model if p[0] > self.now]

        @rule(step=st.integers(0, 6), length=st.integers(0, 20))
        def take_and_add(self, step: int, length: int) -> None:
            """What is added while others are taken out is taken out as well: an operator may keep something
            anew while it looks at what expires."""
            self.now += step
            taken = []
            for pair in self.expiry.expired(self.now):
                if not taken:
                    self.latest = max(self.latest, self.now + length) if self.is_fifo else pair[0] + length
                    self.expiry.add(self.latest, self.added)
                    self.model.append((self.latest, self.added))
                    self.added += 1
                taken.append(pair)
            assert taken == sorted(p for p in self.model if p[0] <= self.now)
            self.model = [p for p in self.model if p[0] > self.now]

        @invariant()
        def check(self) -> None:
            assert self.expiry.next == min((end for end, _ in self.model), default=None)
            assert len(self.expiry) == len(self.model)
            assert sorted(self.expiry) == sorted(self.model)

    return Keeping


@pytest.mark.parametrize("fifo", [False, True], ids=["any ends", "ordered ends"])
def test_what_expires_comes_out_in_order_of_its_end_and_arrival(fifo: bool) -> None:
    run_machine(expiry_machine(fifo))


def _all_in_order(area: Any) -> list[Element]:
    return list(area.index.values()) if isinstance(area, ListSweepArea) else list(area.index)


def _bucket(area: Any, key: Any) -> list[Element]:
    bucket = area.index.get(key, {})
    if isinstance(bucket, tuple):
        return [bucket]
    return list(bucket.values()) if isinstance(bucket, dict) else list(bucket)


def _range(area: Any, key: Any) -> list[Element]:
    return [element for _, _, element in area.index.irange((key,), (key, FOREVER))]


AREAS: dict[str, tuple[Callable[[], SweepArea], bool, Callable[[Any, Any], list[Element]] | None]] = {
    "list": (ListSweepArea, False, None),
    "list, fifo": (FifoListSweepArea, True, None),
    "hash": (lambda: HashSweepArea([0]), False, _bucket),
    "hash, fifo": (lambda: FifoHashSweepArea([0]), True, _bucket),
    "ordered": (lambda: OrderedSweepArea(lambda row: row[0]), False, _range),
    "ordered, fifo": (lambda: OrderedSweepArea(lambda row: row[0]), True, _range),
}
"""How to make it, whether it asks for ends in order, and what a probe finds by a key; without, a probe reads
all."""

areas = pytest.mark.parametrize("name", AREAS)


def area_machine(name: str) -> type[RuleBasedStateMachine]:
    make, fifo, find = AREAS[name]

    class Sweeping(Machine):
        """Batches come, time goes on."""

        is_fifo = fifo

        @initialize()
        def begin(self) -> None:
            self.area = make()
            self.model: list[Element] = []
            self.arrived = self.now = self.since = 0

        @rule(arrivals=st.lists(st.tuples(st.integers(0, 2), LENGTHS, KEYS), max_size=4))
        def insert(self, arrivals: list[tuple[int, Time, int | None]]) -> None:
            batch: list[Element] = []
            for gap, length, key in arrivals:
                self.now += gap
                batch.append((self.now, self.end(length, self.now), (key, self.arrived)))
                self.arrived += 1
            self.area.insert(batch, self.since)
            self.model += [e for e in batch if e[1] > self.since and (find is None or e[2][0] is not None)]

        @rule(step=st.integers(0, 6))
        def purge(self, step: int) -> None:
            self.since += step
            self.area.purge(self.since)
            self.model = [element for element in self.model if element[1] > self.since]

        @invariant()
        def check(self) -> None:
            assert len(self.area) == len(self.model)
            assert sorted(self.area, key=lambda e: e[2][1]) == self.model
            if find is None:
                assert _all_in_order(self.area) == self.model
            else:
                for key in range(4):
                    assert find(self.area, key) == [e for e in self.model if e[2][0] == key]

        @invariant()
        def check_that_nothing_is_left_of_keys(self) -> None:
            if name.startswith("hash"):
                assert self.area.index.keys() == {e[2][0] for e in self.model}

    return Sweeping


@areas
def test_a_sweep_area_keeps_what_has_not_ended(name: str) -> None:
    """By key, in order of arrival, which is the order in which a probe meets them."""
    run_machine(area_machine(name))


@pytest.mark.parametrize("kind", [HashSweepArea, FifoHashSweepArea])
def test_two_columns_make_a_key(kind: Any) -> None:
    """Known only where both are."""
    area = kind([1, 0])
    area.insert([(0, 9, ("a", 1)), (1, 10, ("a", None)), (2, 11, (None, 1)), (3, 12, ("a", 1))], 0)
    assert set(area.index) == {(1, "a")}
    area.purge(9)
    assert _bucket(area, (1, "a")) == [(3, 12, ("a", 1))]
    area.purge(12)
    assert (len(area), area.index) == (0, {})


@pytest.mark.parametrize("keys", [1, 2, 7])
@areas
def test_a_burst_leaves_nothing_behind(name: str, keys: int) -> None:
    """A dict keeps the places of what was deleted, and iterating passes over them: one element that outlives
    a million with its key would make every later probe cost a millisecond."""
    area: Any = AREAS[name][0]()
    area.insert([(0, 10, (number % keys, number)) for number in range(20_000)], 0)
    area.insert([(0, FOREVER, (key, key)) for key in range(keys)], 0)
    area.purge(10)
    assert len(area) == keys
    kept = list(area.index.values()) if name.startswith("hash") else [area.index]
    assert sum(map(len, kept)) == keys
    assert all(sys.getsizeof(bucket) < 300 * 128 for bucket in kept)


@pytest.mark.parametrize("kind", [HashSweepArea, FifoHashSweepArea])
def test_one_element_may_be_there_twice(kind: Any) -> None:
    """The very same: a union of a stream with itself gives it so."""
    area, one = kind([0]), (0, 9, ("a",))
    area.insert([one, one], 0)
    assert (len(area), _bucket(area, "a")) == (2, [one, one])
    area.insert([one], 0)
    area.purge(9)
    assert (len(area), area.index) == (0, {})


def test_a_long_bucket_loses_its_first_element_at_once() -> None:
    """A list would move up all the others."""
    area = FifoHashSweepArea([0])
    area.insert([(number, number + 1000, ("a",)) for number in range(1000)], 0)
    area.purge(1000)
    assert type(area.index["a"]) is deque
    assert len(area.index["a"]) == 999


def test_what_is_no_number_is_in_no_range() -> None:
    """It would break the order, and nobody could find it again to take it out."""
    area = OrderedSweepArea(lambda row: row[0])
    nan = float("nan")
    area.insert([(0, 9, (2.0,)), (0, 9, (nan,)), (0, 9, (1.0,)), (0, 9, (nan,))], 0)
    assert [key for key, _, _ in area.index] == [1.0, 2.0]
    area.purge(9)
    assert len(area) == 0
