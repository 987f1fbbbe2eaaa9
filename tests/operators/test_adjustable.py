"""Window sizes and granules that change while the operator runs, against specifications in which the size or
granule depends on the timestamp of the element."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.windows.granularity import Granularity
from midstream.operators.windows.time_window import TimeWindow
from midstream.plans.values.errors import PlanError
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Time
from midstream.testing import elements, is_ordered

SIZES = st.sampled_from((None, 1, 2, 5, 9))
GRANULES = st.sampled_from((1, 2, 3, 4, 6))

History = Sequence[tuple[Time, Any]]


class Run:
    """An operator between batches, heartbeats and changes, with a model of what it should have in force."""

    def __init__(self, operator: Any, change: Callable[[Any, int], None], setting: Any) -> None:
        self.operator = operator
        self.change = change
        self.history: list[tuple[Time, Any]] = [(BEGINNING, setting)]
        self.forgotten = 0
        self.reached: Time = BEGINNING
        self.latest: Time = BEGINNING
        self.out: list[Element] = []

    def take(self, results: list[Element], promised: Time) -> None:
        assert all(start >= promised for start, _, _ in results)
        assert self.operator.progress() >= promised
        self.out += results
        assert is_ordered(self.out)

    def push(self, batch: list[Element]) -> None:
        self.latest = self.reached = batch[-1][0]
        promised = self.operator.progress()
        self.take(self.operator.push(0, batch), promised)

    def advance(self, time: Time) -> None:
        self.reached = max(self.reached, time)
        promised = self.operator.progress()
        self.take(self.operator.advance(0, time), promised)

    def adjust(self, setting: Any, at: int, is_allowed: Callable[[Any, int], bool]) -> None:
        """Change what is in force from a time on, or see it refused."""
        before = [entry for entry in self.history if entry[0] < at]
        promised = self.operator.progress()
        if at >= self.reached and at > self.latest and is_allowed(before[-1][1], at):
            self.change(setting, at)
            self.history = [*before, (at, setting)]
        else:
            with pytest.raises(PlanError, match="found a change"):
                self.change(setting, at)
        self.check_history()
        assert self.operator.progress() >= promised

    def forget(self, number: int) -> None:
        """Forget a number of the earliest entries, as far as they are past."""
        before = len(self.operator.setting.history)
        self.operator.setting.forget(number)
        self.forgotten += (gone := before - len(self.operator.setting.history))
        past = sum(since < self.reached for since, _ in self.history) - 1
        assert number >= gone >= min(number, past + gone - self.forgotten)
        self.check_history()

    def check_history(self) -> None:
        entries = [(at, _in_chronons(value)) for at, value in self.history[self.forgotten :]]
        assert self.operator.setting.history == [(BEGINNING, entries[0][1]), *entries[1:]]
        in_force = [value for since, value in self.history if since <= self.reached]
        assert self.operator.setting.at(self.reached) == _in_chronons(in_force[-1])


def drive(
    data: st.DataObject,
    run: Run,
    complete: list[Element],
    settings: st.SearchStrategy[Any],
    is_allowed: Callable[[Any, Any, int], bool] = lambda new, old, at: True,
) -> None:
    """Everything in any order that keeps the stream ordered, and the end."""
    rest = list(complete)
    while rest:
        match data.draw(st.integers(0, 4)):
            case 4:
                run.forget(data.draw(st.integers(0, 3)))
            case 0:
                now = 0 if run.reached == BEGINNING else run.reached
                new, at = data.draw(settings), now + data.draw(st.integers(-2, 9))
                run.adjust(new, at, lambda old, at, new=new: is_allowed(new, old, at))
            case 1:
                run.advance(rest[0][0] - data.draw(st.integers(0, 3)))
            case _:
                size = data.draw(st.integers(1, len(rest)))
                run.push(rest[:size])
                rest = rest[size:]
    run.advance(FOREVER)
    assert run.operator.size() == 0


def _in_chronons(setting: Any) -> Any:
    return FOREVER if setting is None else setting


def in_force(history: History, time: Time) -> Any:
    return [setting for since, setting in history if since <= time][-1]


def windowed(rows: Sequence[Element], history: History, slide: int, instant: int) -> Counter:
    """(17.1) with a size that depends on the timestamp of the row."""
    last = (instant + 1) // slide * slide - 1
    sizes = [(u, e, in_force(history, u)) for u, _, e in rows]
    return Counter(e for u, e, size in sizes if u <= last and (size is None or last - size < u))


@given(data=st.data(), slide=st.sampled_from((1, 1, 3, 4)), size=SIZES)
def test_a_row_has_the_size_that_is_in_force_at_its_timestamp(
    data: st.DataObject, slide: int, size: int | None
) -> None:
    operator = TimeWindow(size, slide)
    run = Run(operator, lambda size, at: operator.change(_in_chronons(size), at), size)
    rows = data.draw(elements(chronons=True))
    drive(data, run, rows, SIZES)
    for instant in range(-3, 45):
        assert snapshot(run.out, instant) == windowed(rows, run.history, slide, instant)


def granulated(complete: Sequence[Element], history: History, instant: int) -> Counter:
    """(20.1), held until the next instant, with a granule that depends on the start of the element."""
    granules = [(start, end, e, in_force(history, start)) for start, end, e in complete]
    return Counter(e for start, end, e, g in granules if start <= instant // g * g < end)


@given(data=st.data(), granule=GRANULES)
def test_an_element_has_the_granule_that_is_in_force_at_its_start(data: st.DataObject, granule: int) -> None:
    operator = Granularity(granule)
    run = Run(operator, operator.change, granule)
    complete = data.draw(elements())
    drive(data, run, complete, GRANULES, lambda new, old, at: new % old == 0 or at % old == 0)
    common = math.lcm(*(g for _, g in run.history))
    first_change = min((at for at, _ in run.history[1:]), default=FOREVER)
    for instant in range(-3, 45):
        found = snapshot(run.out, instant)
        assert found == granulated(complete, run.history, instant)
        if instant % common == 0:
            assert found == snapshot(complete, instant), "exact where all granularities agree"
        if instant < first_change:
            assert found == snapshot(complete, instant // granule * granule), "unchanged before the change"


def test_a_size_counts_from_its_instant_on_wherever_batches_end() -> None:
    rows = [(t, t + 1, t) for t in (1, 4, 5, 5, 9)]
    expected = [(1, 11, 1), (4, 14, 4), (5, 7, 5), (5, 7, 5), (9, FOREVER, 9)]
    for size in (1, 2, 5):
        window = TimeWindow(10)
        window.change(2, at=5)
        window.change(FOREVER, at=9)
        out: list[Element] = []
        for i in range(0, 5, size):
            out += window.push(0, rows[i : i + size])
        assert out == expected


def test_a_later_call_makes_void_what_was_announced_for_its_time_or_after() -> None:
    window = TimeWindow(10)
    window.change(2, at=5)
    window.change(3, at=8)
    window.change(4, at=8)
    assert window.setting.history == [(BEGINNING, 10), (5, 2), (8, 4)]
    window.change(7, at=4)
    assert window.setting.history == [(BEGINNING, 10), (4, 7)]
    assert window.push(0, [(3, 4, "a"), (4, 5, "b"), (8, 9, "c")]) == [
        (3, 13, "a"),
        (4, 11, "b"),
        (8, 15, "c"),
    ]


@pytest.mark.parametrize("make", [lambda: TimeWindow(4), lambda: Granularity(1)])
def test_a_change_may_come_at_the_progress_unless_an_element_was_first(make: Callable[[], Any]) -> None:
    def change(operator: Any, at: Any) -> None:
        operator.change(2, at)

    operator = make()
    operator.advance(0, 5)
    with pytest.raises(PlanError, match="found a change at 4, expected one at 5 or later"):
        change(operator, 4)
    change(operator, 5)
    assert operator.setting.at(5) == 2
    operator.push(0, [(6, 7, "a")])
    with pytest.raises(PlanError, match="found a change at 6, expected one at 7 or later") as refused:
        change(operator, 6)
    assert (refused.value.at, refused.value.progress) == (6, 6)
    assert operator.setting.history[1:] == [(5, 2)]
    operator.end(0)
    with pytest.raises(PlanError, match="found a change at 900"):
        change(operator, 900)
    for odd in (5.0, None, "7", True):
        with pytest.raises(PlanError, match=r"found a change at .*, expected an integer"):
            change(operator, odd)


def test_a_change_in_force_shows_in_the_progress_at_once() -> None:
    granularity = Granularity(2)
    granularity.advance(0, 7)
    assert granularity.progress() == 8
    granularity.change(10, at=7)
    assert granularity.progress() == 10
    granularity.change(5, at=20)
    granularity.advance(0, 21)
    assert granularity.progress() == 25


@pytest.mark.parametrize(
    ("old", "new", "at", "is_allowed"),
    [
        (2, 6, 5, True),  # coarser: at any time
        (6, 6, 5, True),
        (6, 2, 5, False),  # finer: at an instant of the coarser granularity
        (6, 2, 7, False),
        (6, 2, 6, True),
        (6, 4, 12, True),  # neither is finer: an instant of the old one, so that starts stay in order
        (6, 4, 18, True),
        (6, 4, 16, False),
    ],
)
def test_a_granule_changes_where_order_is_kept(old: int, new: int, at: int, is_allowed: bool) -> None:
    granularity = Granularity(old)
    if not is_allowed:
        with pytest.raises(PlanError, match=f"from granule {old} to {new} at {at}, expected one at a mult"):
            granularity.change(new, at)
        return
    granularity.change(new, at)
    assert is_ordered(granularity.push(0, [(t, t + 40, t) for t in range(at - 5, at + 5)]))


def test_without_the_rule_a_later_element_would_come_out_earlier() -> None:
    """From granule 6 to 2 at 8: an element at 7 goes to 12, one at 8 stays."""
    early = Granularity(6).push(0, [(7, 40, "a")])
    late = Granularity(2).push(0, [(8, 40, "b")])
    assert not is_ordered(early + late)


def test_a_change_may_follow_another_one_at_its_instant() -> None:
    granularity = Granularity(4)
    granularity.change(2, at=8)
    granularity.advance(0, 8)
    with pytest.raises(PlanError, match="from granule 4 to 3 at 9"):
        Granularity(4).change(3, at=9)
    granularity.change(3, at=8)
    assert granularity.setting.history == [(BEGINNING, 4), (8, 3)]
