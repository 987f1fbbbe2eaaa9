"""Changes are noticed soon and seldom where there are none, and statistics begin anew with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.operators.engine.measuring.statistics_collector import Collector
from midstream.optimizer.online.changes import Changes, PageHinkley
from midstream.optimizer.online.decayed_statistics import DecayedStatistics
from midstream.optimizer.online.restarting_statistics import RestartingStatistics
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.values.streams import Element
from midstream.scenarios.trials.policies.generated import adversarial

WINDOW, STEP = 800, 100
HALF_LIFE = 2 * WINDOW
A, B = (ms.stream(name, {f"{name}_x": "integer"}) for name in "ab")


def query() -> Plan:
    return A.window(WINDOW).join(B.window(WINDOW), on=[("a_x", "b_x")]).plan()


@pytest.mark.parametrize("seed", range(10))
def test_what_does_not_change_is_left_alone(seed: int) -> None:
    random, test = Random(seed), PageHinkley()
    assert all(test.take(time, random.gauss(5, 2)) is None for time in range(2000))


@pytest.mark.parametrize("shift", [-4, 4])
@pytest.mark.parametrize("seed", range(10))
def test_a_shift_by_two_deviations_is_noticed_soon_and_dated(seed: int, shift: int) -> None:
    random, test = Random(seed), PageHinkley()
    told = [
        (time, since)
        for time in range(200)
        if (since := test.take(time, random.gauss(5 + shift * (time >= 100), 2))) is not None
    ]
    assert len(told) == 1
    ((time, since),) = told
    assert 100 <= time < 130
    assert 90 <= since <= 105


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.floats(1, 1e6))
def test_a_change_is_never_dated_before_what_was_seen_since_the_last(
    numbers: list[float], scale: float
) -> None:
    test, last = PageHinkley(threshold=4), -1.0
    for time, x in enumerate(numbers):
        since = test.take(time, x * scale)
        if since is not None:
            assert last < since <= time
            last = time


def test_of_several_numbers_any_may_change_and_all_begin_anew() -> None:
    changes, random = Changes(), Random(1)
    found = []
    for time in range(300):
        numbers = {
            "still": random.gauss(0, 1),
            "first": random.gauss(4 * (time >= 100), 1),
            "second": random.gauss(4 * (time >= 200), 1),
        }
        if (since := changes.take(time, numbers)) is not None:
            found.append(since)
    assert [round(since, -1) for since in found] == [100, 200]


def streams(seed: int, windows: int, flip: int | None = None) -> dict[str, list[Element]]:
    """20 values, of which after some windows only 4 are left."""
    random = Random(seed)
    return {
        name: [
            (t, t + 1, (random.randrange(4 if flip is not None and t >= flip * WINDOW else 20),))
            for t in range(0, windows * WINDOW, 10)
        ]
        for name in "ab"
    }


def cells(known: Mapping[str, Sequence[str]], of: Mapping[str, Sequence[Element]], until: int) -> list:  # type: ignore[type-arg]
    collector = Collector(query().sources, known, STEP)
    for name, elements in of.items():
        collector.take(name, [element for element in elements if element[0] < until], until)
    return collector.cells(until)


def told(known: DecayedStatistics | RestartingStatistics, now: int) -> Mapping[Node, StreamStatistics]:
    statistics = known.at(now)
    assert statistics is not None
    return statistics.streams


def share(known: DecayedStatistics | RestartingStatistics, now: int) -> float:
    """Of all pairs, those with equal values."""
    one, other = (
        told(known, now)[stream.node].distributions[f"{name}_x"] for name, stream in (("a", A), ("b", B))
    )
    return sum(p * other.get(value, 0.0) for value, p in one.items())


@pytest.mark.parametrize("seed", range(5))
def test_a_change_makes_statistics_begin_anew(seed: int) -> None:
    """1.5 windows later, decayed counts are not half-way there."""
    now = 20 * WINDOW + WINDOW * 3 // 2
    decayed, restarting = (
        DecayedStatistics(query(), HALF_LIFE),
        RestartingStatistics(query(), HALF_LIFE, WINDOW),
    )
    taken = cells(decayed.columns, streams(seed, 22, flip=20), now)
    decayed.take(taken)
    restarting.take(taken)
    assert share(decayed, now) < 0.16
    assert share(restarting, now) == pytest.approx(0.25, abs=0.05)
    assert restarting.changed is not None
    assert abs(restarting.changed - 20 * WINDOW) <= WINDOW // 2


def test_of_a_change_that_is_noticed_at_once_a_window_is_known_of() -> None:
    """Else what is to be joined first would be decided by a handful of pairs."""
    known, of = RestartingStatistics(query(), HALF_LIFE, WINDOW), streams(1, 22)
    crowd = [(t, t + 1, (t % 2,)) for t in range(20 * WINDOW, 22 * WINDOW)]
    of = {name: [element for element in of[name] if element[0] < 20 * WINDOW] + crowd for name in "ab"}
    taken, now = cells(known.columns, of, 22 * WINDOW), 20 * WINDOW
    known.take(cell for cell in taken if cell.end <= now)
    while known.changed is None:
        now += STEP
        known.take([cell for cell in taken if cell.end == now])
    assert known.changed == 20 * WINDOW and now < 20 * WINDOW + WINDOW // 2
    lately = DecayedStatistics(query(), HALF_LIFE)
    lately.take(cell for cell in taken if now - WINDOW <= cell.start and cell.end <= now)
    assert known.at(now).streams == lately.at(now).streams


@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_changes_they_are_decayed_statistics(seed: int) -> None:
    now = 60 * WINDOW
    decayed, restarting = (
        DecayedStatistics(query(), HALF_LIFE),
        RestartingStatistics(query(), HALF_LIFE, WINDOW),
    )
    taken = cells(decayed.columns, streams(seed, 60), now)
    decayed.take(taken)
    restarting.take(taken)
    assert restarting.changed is None
    assert told(restarting, now) == told(decayed, now)


@given(st.integers(0, 50 * STEP), st.integers(0, 50 * STEP), st.integers(1, 2 * WINDOW // STEP))
def test_within_a_window_of_the_first_element_they_tell_nothing(a: int, b: int, cells_each: int) -> None:
    known, first = RestartingStatistics(query(), HALF_LIFE, WINDOW), min(a, b)
    of = {name: [(t, t + 1, (1,)) for t in range(begin, 8000, 7)] for name, begin in (("a", a), ("b", b))}
    taken = cells(known.columns, of, 8000)
    for now in range(0, 8000, cells_each * STEP):
        known.take(cell for cell in taken if now - cells_each * STEP < cell.end <= now)
        assert (known.at(now) is None) == (now < first + WINDOW)


def test_orders_that_take_turns_every_four_windows_are_noticed_by_their_ratio() -> None:
    """The pairs of either order alone do not change by so much that it would be noticed in time."""
    case = adversarial(4)
    a, b, c = (
        ms.stream(name, {f"{name}_{column}": "integer" for column in columns}).window(case.window)
        for name, columns in case.columns.items()
    )
    plan = a.join(b, on=[("a_x", "b_x")]).join(c, on=[("b_y", "c_y")]).plan()
    known, turns = RestartingStatistics(plan, 2 * case.window, case.window), range(4, 80, 4)
    collector = Collector(plan.sources, known.columns, case.window // 8)
    for name, rows in case.streams.items():
        collector.take(name, [(t, t + 1, row) for t, row in rows], case.beyond)
    noticed, changed = list[int](), known.changed
    for now in range(0, 80 * case.window, case.window // 8):
        known.take(collector.cells(now))
        if known.changed != changed:
            noticed.append(now)
            changed = known.changed
    soon = [turn for turn in turns if any(0 <= now - turn * case.window < 2 * case.window for now in noticed)]
    assert len(soon) > 0.75 * len(turns)


def test_a_stream_that_falls_silent_has_changed() -> None:
    known = RestartingStatistics(query(), HALF_LIFE, WINDOW)
    of = streams(1, 30)
    of["b"] = [element for element in of["b"] if element[0] < 20 * WINDOW]
    known.take(cells(known.columns, of, 30 * WINDOW))
    assert known.changed is not None
    assert 20 * WINDOW <= known.changed < 21 * WINDOW


@pytest.mark.parametrize("window", [0, -5, float("inf"), "long", None])
def test_a_window_is_a_number_of_chronons(window: object) -> None:
    with pytest.raises(ms.MidstreamError, match="window"):
        RestartingStatistics(query(), HALF_LIFE, window)  # type: ignore[arg-type]


@pytest.mark.parametrize("first", [100, 700, 800, 1600])
@pytest.mark.parametrize("then", [100, 700, 800, 3200])
def test_cells_of_another_length_are_no_change(first: int, then: int) -> None:
    """Rates and shares are the same all the time; only the time from look to look changes."""
    chance = Random(first + then)
    known = RestartingStatistics(query(), HALF_LIFE, WINDOW)
    collector = Collector(query().sources, known.columns, 100)
    end = 0
    for length in [first] * 16 + [then] * 30:
        start, end = end, end + length
        for name in "ab":
            elements = [
                (t, t + 1, (chance.randrange(10),)) for t in range(start, end) if chance.random() < 0.3
            ]
            collector.take_cell(name, elements, start, end)
        known.take(collector.cells(end))
    assert known.changed is None
