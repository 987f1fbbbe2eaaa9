"""The statistics of streams for queries that come and go."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import midstream as ms
from midstream.autopilot.looks import Looks
from midstream.autopilot.source_statistics import SourceStatistics
from midstream.optimizer import StreamStatistics
from midstream.plans.values.streams import Element

A = ms.stream("a", x="integer", y="integer")
B = ms.stream("b", z="integer")
LOOKS = Looks(window=800, step=100)


def elements(start: int, end: int, distance: int) -> list[Element]:
    return [(t, t + 1, (t % 7, t % 3)) for t in range(start, end, distance)]


def looked(statistics: SourceStatistics, cells: Iterable[tuple[int, int]]) -> list[bool]:
    """Whether something changed, look by look, of stream a at some distances of elements."""
    changed = []
    for now, distance in cells:
        statistics.take("a", elements(now - 100, now, distance), now)
        changed.append(bool(statistics.learn(now, {})))
    return changed


def test_a_burst_shows_at_the_next_look_and_its_end_too() -> None:
    statistics = SourceStatistics()
    statistics.set_plans([A.window(800).plan()], LOOKS)
    steady = [(100 * i, 10) for i in range(1, 9)]
    assert looked(statistics, steady)[0]
    assert statistics.statistics().streams[A.node].d == pytest.approx(10.0)
    statistics.take("a", elements(800, 900, 1), 900)
    assert statistics.learn(900, {}) == [A.node]
    assert 0.9 < statistics.statistics().streams[A.node].d < 1.1
    statistics.take("a", elements(900, 1000, 50), 1000)
    assert statistics.learn(1000, {}) == [A.node]
    assert statistics.statistics().streams[A.node].d > 30


def test_a_steady_stream_does_not_change() -> None:
    statistics = SourceStatistics()
    statistics.set_plans([A.window(800).plan()], LOOKS)
    changed = looked(statistics, [(100 * i, 10) for i in range(1, 80)])
    assert sum(changed[:20]) <= 5, "as the sample doubles"
    assert sum(changed[40:]) <= 5, "as time passes"


def test_what_is_stated_holds_until_something_comes() -> None:
    stated = StreamStatistics(5.0, 1.0)
    statistics = SourceStatistics()
    statistics.expect({A.node: stated})
    assert statistics.knows(A.node) and not statistics.knows(B.node)
    statistics.set_plans([A.window(800).plan(), B.window(800).plan()], LOOKS)
    assert statistics.statistics().streams[A.node] is stated
    assert statistics.statistics().streams[B.node].rate == 0
    looked(statistics, [(100, 10), (200, 10), (300, 10)])
    assert statistics.statistics().streams[A.node].d == pytest.approx(10.0)
    assert not statistics.knows(B.node)


def test_a_query_that_requires_more_does_not_make_a_stream_unknown() -> None:
    statistics = SourceStatistics()
    statistics.set_plans([A.window(800).plan()], LOOKS)
    looked(statistics, [(100 * i, 10) for i in range(1, 9)])
    joined = A.window(800).join(B.window(800), on=[("x", "z")])
    statistics.set_plans([A.window(800).plan(), joined.plan()], LOOKS)
    assert statistics.statistics().streams[A.node].d == pytest.approx(10.0)
    assert "x" not in statistics.statistics().streams[A.node].distributions
    for now in range(900, 9900, 100):
        statistics.take("a", elements(now - 100, now, 10), now)
        statistics.learn(now, {})
    known = statistics.statistics().streams[A.node]
    assert 9.9 < known.d < 10.1 and len(known.distributions["x"]) == 7
    statistics.set_plans([A.window(800).plan()], LOOKS)
    assert statistics.nodes == {"a": A.node}
