"""The collector of cyclic garbage, set for streams."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

import midstream as ms
from midstream.operators.engine.garbage_collection import THRESHOLDS

WINDOW = 500


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """A test that fails leaves the collector as it was; what others have frozen is frozen again."""
    thresholds, is_on, is_frozen = gc.get_threshold(), gc.isenabled(), gc.get_freeze_count() > 0
    gc.unfreeze()
    yield
    if is_frozen:
        gc.freeze()
    gc.set_threshold(*thresholds)
    gc.enable() if is_on else gc.disable()


def about(frozen: int) -> Any:
    """That many: something that is frozen may still go, as nothing needs it any more."""
    return pytest.approx(frozen, rel=0.001)


def test_settings_are_back_after_nesting_and_after_an_error() -> None:
    gc.set_threshold(123, 4, 5)
    frozen = gc.get_freeze_count()
    with ms.streaming_gc():
        inside = gc.get_freeze_count()
        assert gc.get_threshold() == THRESHOLDS
        assert inside > frozen
        with pytest.raises(ZeroDivisionError), ms.streaming_gc():
            assert gc.get_freeze_count() == about(inside)
            raise ZeroDivisionError
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() == about(inside)
    assert gc.get_threshold() == (123, 4, 5)
    assert gc.get_freeze_count() == frozen


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with ms.streaming_gc():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_what_its_owner_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with ms.streaming_gc():
            assert gc.get_freeze_count() == about(frozen)
        assert gc.get_freeze_count() == about(frozen)
        assert gc.get_threshold() != THRESHOLDS
    finally:
        gc.unfreeze()


class Knot:
    """An object that refers to itself."""

    living = 0

    def __init__(self, value: int) -> None:
        self.value = value
        self.me = self
        self.ballast = [value] * 20
        Knot.living += 1

    def __del__(self) -> None:
        Knot.living -= 1


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [False, True], ids=["at once", "after a window"])
def test_cycles_that_users_make_are_collected(is_kept: bool) -> None:
    """Garbage at once, and garbage that has grown old in the state of a window."""
    gc.collect()
    Knot.living = 0
    knots = ms.stream("s", k="integer").select(knot=ms.opaque(Knot, ["k"]))
    query = knots if not is_kept else knots.window(WINDOW).union(knots.window(1))
    engine = ms.Engine(query.plan(), lambda batch: None)
    most = [0, 0]
    total = 300_000
    with ms.streaming_gc():
        for at in range(0, total, 1000):
            engine.push("s", [(t, t + 1, (t,)) for t in range(at, at + 1000)])
            half = 2 * at // total
            most[half] = max(most[half], Knot.living)
    assert 0 < most[1] <= 1.2 * most[0]
    assert most[1] < total / 2


def _tracked(query: ms.Stream, elements: int) -> int:
    """How many objects the collector has to look at more after so many more elements."""
    gc.freeze()  # what other tests have left need not be gone through each time
    engine = ms.Engine(query.plan(), lambda batch: None)
    counts = []
    for begin in (0, elements):
        for at in range(begin, begin + elements, 500):
            engine.push("s", [(t, t + 1, (t % 50, float(t))) for t in range(at, at + 500)])
        # A tuple is let go of when what it holds has been: first rows, then the elements around them.
        for _ in range(3):
            gc.collect()
        counts.append(len(gc.get_objects()))
    return counts[1] - counts[0]


SOURCE = ms.stream("s", k="integer", v="float").window(20_000)
QUERIES: dict[str, ms.Stream] = {
    "window": SOURCE,
    "aggregate": SOURCE.aggregate(n=ms.count(), top=ms.max_("v"), mean=ms.avg("v")),
    "grouped": SOURCE.group_by("k").aggregate(n=ms.count(), top=ms.max_("v"), mean=ms.avg("v")),
    "distinct": SOURCE.distinct(),
    "join": SOURCE.join(SOURCE.rename({"k": "k2", "v": "v2"}), on=[("v", "v2")]),
}


@pytest.mark.parametrize("name", QUERIES)
def test_state_is_what_the_collector_does_not_look_at(name: str) -> None:
    """But for a few objects a group, or a key: elements in a window cost it nothing."""
    assert _tracked(QUERIES[name], 10_000) < 500


PAIRS = SOURCE.join(SOURCE.rename({"k": "k2", "v": "v2"}), on=[("k", "k2")])
OF_MANY_KEYS: dict[str, tuple[ms.Stream, float]] = {
    "distinct": (SOURCE.select("v").distinct(), 0.1),
    "grouped count": (SOURCE.group_by("v").aggregate(n=ms.count()), 1.3),
    "grouped extreme": (SOURCE.group_by("v").aggregate(n=ms.count(), top=ms.max_("k")), 2.3),
    "difference": (SOURCE.select("v").difference(SOURCE.filter(ms.col("k") < 5).select("v")), 1.3),
    "expansive join": (PAIRS, 0.1),
}


@pytest.mark.parametrize("name", OF_MANY_KEYS)
def test_a_key_costs_the_collector_a_few_objects(name: str) -> None:
    """Where every element has a key of its own, and where every element meets many."""
    query, most = OF_MANY_KEYS[name]
    assert _tracked(query, 2_000) <= most * 2_000


def test_the_test_sees_what_is_tracked() -> None:
    """The other side of the guard."""
    kept: deque[Any] = deque()
    gc.freeze()
    before = len(gc.get_objects())
    kept.extend([number] for number in range(10_000))
    assert len(gc.get_objects()) - before >= 9_900  # something else may have gone meanwhile
