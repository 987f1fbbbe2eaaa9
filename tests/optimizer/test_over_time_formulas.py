"""The formulas of windows, granularity and streams of changes, against numbers computed by hand: a query is
priced from the statistics of its sources."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.optimizer import Estimate, Sample, Statistics, StreamStatistics, UnitCosts, price
from midstream.optimizer.cost.gamma import gamma_tail, longest
from midstream.optimizer.cost.oldest import oldest_alone, oldest_group
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.aggregates import count
from midstream.scenarios.trials.costs.comparing import compare, error
from midstream.scenarios.trials.costs.grid import SMALL, plan_at

S = stream("s", x="integer", y="integer")
I = stream("i", intervals=True, x="integer", y="integer")  # noqa: E741 - as S, with intervals
ROWS = [(i % 5, i) for i in range(1000)]
UNITS = UnitCosts(
    round=1,
    create=10,
    output=100,
    remove=1_000,
    bucket=10_000,
    hash=100_000,
    queue=10_000_000,
)
"""So that the digits of a cost per element tell how often each step was counted."""


def root(query: Stream, d: float = 10.0, length: float = 1.0) -> Estimate:
    """What is estimated for a query's outermost operator; of its sources, a sample is known."""
    sources = [node for node in query.plan().nodes if not node.inputs]
    known = {node: StreamStatistics(d, length, sample=Sample(node.schema, ROWS)) for node in sources}
    return price(query.plan(), Statistics(known), UNITS).operators[query.node]


def characteristics(found: Estimate) -> tuple[float, float, int]:
    return round(found.d, 6), round(found.l, 6), found.g


def test_time_window() -> None:
    """(22.10): d' = d, l' = w; (22.47); (22.48): an element, an output for each of 1/10 elements."""
    found = root(S.window(60))
    assert characteristics(found) == (10.0, 60.0, 1)
    assert found.valid == pytest.approx(6.0)
    assert found.state == 0
    assert found.cost == pytest.approx(0.1 * 110)


def test_time_window_that_advances_by_more_than_one() -> None:
    """Rows come and go every 15 chronons; if every 120, half of them are never seen, and half for 120."""
    assert characteristics(root(S.window(60, slide=15))) == (10.0, 60.0, 15)
    assert characteristics(root(S.window(60, slide=120))) == (20.0, 120.0, 120)


def test_a_slide_rounds_timestamps() -> None:
    """Start and end, and whether anything is left between them, of all rows; half of them are never seen.
    What never ends has a start only."""
    assert root(S.window(60, slide=15)).cost == pytest.approx(0.1 * (2 + 1_000 + 110))
    assert root(S.window(60, slide=120)).cost == pytest.approx(0.1 * (2 + 1_000) + 0.05 * 110)
    assert root(S.window(None, slide=15)).cost == pytest.approx(0.1 * (1 + 110))
    signed = (
        Node(Physical("signed-time-window", logical(S.window(60, slide=a).node)), (S.node,)) for a in (1, 15)
    )
    known = Statistics({S.node: StreamStatistics(10.0, 1.0)})
    plain, sliding = (price(Plan(node), known, UNITS).total for node in signed)
    assert sliding - plain == pytest.approx(0.1 * (2 + 1_000))


def test_time_window_over_intervals() -> None:
    """(8.17) adds up the snapshots of 60 instants: an element that is valid for 4 counts four times."""
    assert characteristics(root(I.window(60), 10.0, 4.0)) == (2.5, 60.0, 1)


def test_unbounded_windows() -> None:
    for query in (S.window(None), S.last(None), S.last(None, by=["x"])):
        found = root(query)
        assert (found.d, found.l, found.state) == (10.0, math.inf, 0)


def test_granularity() -> None:
    """(22.9): l >= ĝ changes nothing but g; of chronons, one of 20 is at a multiple of 20, and is held.
    (22.45), (22.46): two timestamps and a check for each of 1/10 elements, an element for each result."""
    found = root(S.window(60).granularity(20))
    assert characteristics(found) == (10.0, 60.0, 20)
    assert found.cost == pytest.approx(0.1 * (2 + 1_000 + 110))
    found = root(S.granularity(20))
    assert characteristics(found) == (200.0, 20.0, 20)
    assert found.cost == pytest.approx(0.1 * (2 + 1_000) + 0.005 * 110)
    assert found.state == 0


def test_count_window() -> None:
    """(22.11): l' = N d; (22.49): N rows; (22.50): insert, ask, delete, create and output."""
    found = root(S.last(30))
    assert characteristics(found) == (10.0, 300.0, 1)
    assert found.state == 30
    assert found.cost == pytest.approx(0.1 * (2 * 10_000 + 1_000 + 110))


def test_count_window_that_advances_by_more_than_one() -> None:
    """Between advances by 5 rows, 0 to 4 wait. Of 60 rows, those that advance by 60 show 30."""
    found = root(S.last(30, slide=5))
    assert characteristics(found) == (10.0, 300.0, 1)
    assert found.state == 30 + 2
    # Each row waits in a queue, and is made anew.
    assert found.cost == pytest.approx(0.1 * (2 * 10_000_000 + 10 + 2 * 10_000 + 1_000 + 110))
    assert root(S.last(None, slide=5)).cost == pytest.approx(0.1 * (2 * 10_000_000 + 10 + 110))
    assert root(S.last(None)).cost == pytest.approx(0.1 * 110)
    assert characteristics(root(S.last(30, slide=60))) == (20.0, 600.0, 1)


def test_partitioned_window() -> None:
    """(22.12): l' = n N d = 5 · 3 · 10. The list of rows goes back to the oldest of any group."""
    found = root(S.last(3, by=["x"]))
    assert characteristics(found) == (10.0, 150.0, 1)
    assert 15 < found.state == pytest.approx(5 * longest(3, 5))
    assert found.cost == pytest.approx(0.1 * (100_000 + 40_000 + 1_000 + 110))


def test_partitioned_window_that_advances_by_more_than_one() -> None:
    """The queue of a group is looked up, and each row waits in it."""
    plain, sliding = root(S.last(4, by=["x"])), root(S.last(4, by=["x"], slide=2))
    assert sliding.cost - plain.cost == pytest.approx(0.1 * (100_000 + 2 * 10_000_000))
    assert root(S.last(None, by=["x"], slide=3)).state == pytest.approx(5 * 1)


@pytest.mark.parametrize(("rows", "slide"), [(3, 3), (3, 2), (7, 3), (2, 3), (2, 5), (20, 10)])
def test_rows_of_a_partitioned_window_with_a_slide(rows: int, slide: int) -> None:
    """Against those that a running one keeps. With formulas for a slide of 1, these are up to 24 % off."""
    at = replace(SMALL[0], elements=8000)
    query = stream("s", x="integer", y="integer").last(rows, by=["y"], slide=slide, ties="arrival")
    assert error(compare("", at, plan_at(lambda _: query, at)).state) < 0.05


def test_rows_that_wait_for_a_window_that_passes_over_some() -> None:
    """Of 5 rows that one advances by, a window of 2 takes the last ones: 0, 0, 0, 0, 1 wait."""
    assert root(S.last(2, slide=5)).state == pytest.approx(2 + 1 / 5)


def test_cuts_of_a_partitioned_window() -> None:
    """Whether the oldest is due is asked for each row; what is cut goes to the end of the list."""
    plain, cut = root(S.last(3, by=["x"])), root(S.last(3, by=["x"], delay=50))
    cuts = cut.rate - plain.rate
    assert cuts > 0.1
    assert cut.cost - plain.cost == pytest.approx(0.1 * 1_000 + cuts * (1_000 + 110 + 2 * 10_000))


def test_partitioned_window_with_a_delay() -> None:
    """Of one row, which lasts until the next: how often it is cut until then."""
    one = StreamStatistics(1000.0, 1.0, sample=Sample(S.schema, [(1, 1)] * 9))
    query = S.last(1, by=["x"], delay=1)
    # It is seen that a row is due when the next one comes, here after 1000 chronons: 1 / (e - 1) cuts a row.
    found = price(query.plan(), Statistics({S.node: one})).operators[query.node]
    assert found.d == pytest.approx(1000 / (1 + 1 / (math.e - 1)), rel=5e-3)
    assert found.l == found.d


def test_windows_of_unknown_groups_have_some() -> None:
    query = S.last(3, by=["x"])
    found = price(query.plan(), Statistics({S.node: StreamStatistics(10.0, 1.0)})).operators[query.node]
    assert found.l == pytest.approx(10 * 3 * 10)


def test_changes() -> None:
    """Rows that are all different never take each other's place. Of 5 kinds, in each chronon a fiftieth of
    an element starts and ends; both do with a probability of about its square."""
    for query in (S.window(60).istream(), S.window(60).dstream()):
        assert root(query).d == pytest.approx(10.0, rel=1e-5)
    for change in (S.select("x").window(60).istream(), S.select("x").window(60).dstream()):
        assert root(change).rate == pytest.approx(0.1 - 5 * 0.02**2, abs=1e-4)
    assert root(S.window(None).istream()).rate == 0.1
    assert root(S.window(None).dstream()).rate == 0


def test_split() -> None:
    """(22.8): six pieces of ten; an element is kept until the last one begins."""
    found = root(S.window(60).split(10))
    assert characteristics(found) == (round(10 / 6, 6), 10.0, 1)
    assert found.state == pytest.approx(0.1 * 50)


def test_coalesce_puts_pieces_together_again() -> None:
    found = root(S.window(60).split(10).coalesce(30))
    assert characteristics(found) == (5.0, 30.0, 1)
    assert found.state == pytest.approx(0.2 * 20)


def test_coarser_granules_make_fewer_segments() -> None:
    """(22.6) over (22.9) over (22.10): a query at another granule, before it runs."""
    rates = [root(S.window(600).granularity(g).aggregate(n=count())).rate for g in (1, 10, 30, 60)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(0.2, rel=0.1)
    assert rates[-1] == pytest.approx(1 / 60, rel=0.01)


def test_state_grows_with_the_window() -> None:
    """Figure 24.1: what a join keeps is linear in the window."""
    other = stream("t", z="integer", w="integer")
    kept = [root(S.window(w).join(other.window(w), on=[("x", "z")])).state for w in (300, 600, 1200)]
    assert kept[1] - kept[0] == pytest.approx((kept[2] - kept[1]) / 2, rel=0.01)


def test_what_was_observed_of_a_window_comes_first() -> None:
    """A window of 60 that gives elements of 50: observed characteristics, and work by formula."""
    query = S.window(60)
    source, seen = StreamStatistics(10.0, 1.0), StreamStatistics(8.0, 50.0, 2)
    both = price(query.plan(), Statistics({S.node: source, query.node: seen}))
    assert characteristics(both.operators[query.node]) == (8.0, 50.0, 2)
    assert both.total > 0
    alone = price(query.distinct().plan(), Statistics({query.node: seen}))
    assert query.node not in alone.operators


def test_a_signed_window_keeps_its_negatives() -> None:
    plan = Plan(Node(Physical("signed-time-window", logical(S.window(60).node)), (S.node,)))
    found = price(plan, Statistics({S.node: StreamStatistics(10.0, 1.0)})).operators[plan.root]
    assert found.state == pytest.approx(6 + 1)


NUMBERS = [1e-300, 1e-9, 1.0, 1e9, 1e300, math.inf]
QUERIES = {
    str(query.node.operator): query
    for query in (
        S.window(60),
        S.window(10**18, slide=10**17),
        S.window(None, slide=7),
        S.last(3),
        S.last(3, slide=9),
        S.last(10**9, by=["x"]),
        S.last(3, by=["y"], slide=2, delay=5),
        S.granularity(10**18),
        S.window(60).istream(),
        S.window(None).dstream(),
        I.split(7),
        I.coalesce(7),
        I.split(7).coalesce(70),
    )
}


@pytest.mark.parametrize("name", QUERIES)
@given(st.sampled_from(NUMBERS), st.sampled_from([0.0, *NUMBERS]), st.integers(0, 3))
def test_no_number_is_too_large_or_too_small(name: str, d: float, length: float, rows: int) -> None:
    query = QUERIES[name]
    (source,) = (node for node in query.plan().nodes if not node.inputs)
    known = StreamStatistics(d, length, sample=Sample(source.schema, ROWS[:rows]) if rows else None)
    for found in price(query.plan(), Statistics({source: known})).operators.values():
        numbers = (found.d, found.l, found.valid, found.cost, found.state, found.lag, found.delay)
        assert all(number >= 0 for number in numbers), found


def test_the_time_until_so_many_events() -> None:
    """Against drawn times."""
    rng = random.Random(1)
    for events, groups in ((1, 1), (1, 30), (4, 1), (4, 30), (40, 5), (300, 3)):
        drawn = [[rng.gammavariate(events, 1) for _ in range(groups)] for _ in range(4000)]
        assert longest(events, groups) == pytest.approx(sum(map(max, drawn)) / 4000, rel=0.03)
        spread = max(1, events // 2)
        fewer = [[rng.gammavariate(events - rng.randrange(spread), 1) for _ in times] for times in drawn]
        assert longest(events, groups, spread) == pytest.approx(sum(map(max, fewer)) / 4000, rel=0.03)
        for time in (0.5 * events, events, 1.5 * events):
            share = sum(times[0] > time for times in drawn) / 4000
            assert gamma_tail(events, time) == pytest.approx(share, abs=0.03)


@given(st.floats(1e-3, 1e6), st.floats(1e3, 1e300))
@example(94.52706955539223, 1e300)
def test_the_oldest_of_very_many_is_as_old_as_can_be(length: float, rate: float) -> None:
    """Rounding may take the last age beyond the length: then no row is open, and not fewer than none."""
    assert 0 < oldest_alone(rate, length, 1.0, 0.0) <= length * 1.001
    assert 0 < oldest_group(rate, 1e-3, length) <= length * 1.001
