"""What a query has cost is told in the unit of the objective, each stretch of time by the plans that ran."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from drawn_statistics import statistics_for
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.autopilot.accounts import Accounts, results_inside
from midstream.autopilot.advice import Advice, Forecast
from midstream.autopilot.autopilot import LATER, Later
from midstream.operators.engine.measuring.counting import Counters
from midstream.optimizer import CostModel, Objective, Statistics
from midstream.optimizer.cost.model import PlanCost
from midstream.optimizer.cost.objective import INTERMEDIATE, MEMORY, PROCESSING
from midstream.optimizer.statistics import StreamStatistics
from midstream.plans.algebra.operators import Join
from midstream.plans.algebra.plan import Node
from midstream.plans.values.errors import StatisticsError
from midstream.testing import plans

WINDOW, STEP = 40, 5
A, B, C = (ms.stream(name, **{name: "integer"}).window(WINDOW) for name in "abc")
AB_FIRST = A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]).plan()
BC_FIRST = B.join(C, on=[("b", "c")]).join(A, on=[("b", "a")]).plan()
JOINS = [
    node for plan in (AB_FIRST, BC_FIRST) for node in plan.nodes if isinstance(node.operator, Join)
]  # of the first plan, then of the second


class Known:
    """Statistics that are other ones at each instant; as many elements come by each as that is."""

    memory = float(WINDOW)

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.lately_asked: list[int] = []
        self.now = 0

    @property
    def arrived(self) -> Mapping[Node, int]:
        return arrived(self.now)

    def statistics(self, now: int) -> Statistics:
        self.asked.append(now)
        return at(now)

    def lately(self, now: int) -> Statistics:
        self.lately_asked.append(now)
        return at(now)


SOURCES = [s.node.inputs[0] for s in (A, B, C)]


def at(now: int) -> Statistics:
    return Statistics({source: StreamStatistics(d=1.0 + now % 7, l=1.0) for source in SOURCES})


def arrived(now: int) -> Mapping[Node, int]:
    """None of the last stream, ever."""
    return dict(zip(SOURCES, (now * now, 3 * now, 0), strict=True))


def counted(*results: int) -> Counters:
    """By what the joins gave so far; the first of a plan gives intermediate results."""
    return Counters(0, 0, results[0] + results[2], dict(zip(JOINS, results, strict=True)))


NOTHING = counted(0, 0, 0, 0)


def priced(
    objective: Objective,
    plans: Sequence[ms.Plan],
    now: int,
    since: tuple[int, Counters],
    until: tuple[int, Counters],
    shared: frozenset[Node] = frozenset(),
) -> float:
    """A stretch of time by the elements and results that came in it, without shared operators."""
    (begin, before), (end, after) = since, until
    passed = end - begin
    streams = {
        source: StreamStatistics(
            d=passed / n if (n := arrived(end)[source] - arrived(begin)[source]) else math.inf, l=1.0
        )
        for source in SOURCES
    }
    rates = {node: (n - before.emitted[node]) / passed for node, n in after.emitted.items()}
    model = CostModel(Statistics(streams), None, rates)
    operators = {node: of for plan in plans for node, of in model.price(plan).operators.items()}
    return passed * objective.of(PlanCost({node: of for node, of in operators.items() if node not in shared}))


class Asked:
    """Accounts, and what they know at each look."""

    def __init__(self, objective: Objective) -> None:
        self.known = Known()
        self.shared: frozenset[Node] = frozenset()
        self.accounts = Accounts(objective, self.known, beside=lambda: self.shared)

    def spent(self, now: int, running: Sequence[ms.Plan], counted: Counters) -> float | Later | None:
        self.known.now = now
        return self.accounts.spent(now, running, counted)


@pytest.mark.parametrize("objective", [PROCESSING, MEMORY])
def test_what_operators_gave_is_priced_once_in_the_time_that_is_remembered(objective: Objective) -> None:
    accounts = Asked(objective)
    told = {}
    for now in range(0, 4 * WINDOW, STEP):
        told[now] = accounts.spent(now, [AB_FIRST], counted(now * now, 3 * now, 0, 0))
    assert accounts.known.asked == [WINDOW, 2 * WINDOW, 3 * WINDOW]
    total = 0.0
    for now, spent in told.items():
        if now and now % WINDOW == 0:
            since = now - WINDOW
            stretch = [(time, counted(time * time, 3 * time, 0, 0)) for time in (since, now)]
            total += priced(objective, [AB_FIRST], now, *stretch)
        assert spent == (pytest.approx(total) if now % WINDOW == 0 else LATER)
    assert total > 0


@pytest.mark.parametrize("objective", [PROCESSING, MEMORY])
def test_both_plans_count_while_a_migration_is_under_way_and_not_before(objective: Objective) -> None:
    """Nobody asks from the look at which it begins to the one at which it has ended."""
    accounts = Asked(objective)
    accounts.spent(0, [AB_FIRST], NOTHING)
    begun, ended, later = counted(10, 20, 0, 0), counted(40, 50, 30, 10), counted(40, 50, 90, 20)
    assert accounts.spent(10, [AB_FIRST], begun) == LATER
    total = priced(objective, [AB_FIRST], 60, (0, NOTHING), (10, begun))
    total += priced(objective, [AB_FIRST, BC_FIRST], 60, (10, begun), (60, ended))
    assert accounts.spent(60, [AB_FIRST, BC_FIRST], ended) == pytest.approx(total)
    assert accounts.spent(70, [BC_FIRST], ended) == LATER
    total += priced(objective, [BC_FIRST], 100, (60, ended), (100, later))
    assert accounts.spent(100, [BC_FIRST], later) == pytest.approx(total)


def test_a_migration_may_begin_at_a_look_at_which_something_was_priced() -> None:
    accounts = Asked(PROCESSING)
    accounts.spent(0, [AB_FIRST], NOTHING)
    before, both = counted(10, 20, 0, 0), counted(40, 50, 30, 10)
    total = accounts.spent(WINDOW, [AB_FIRST], before)
    assert isinstance(total, float)
    ended = WINDOW + STEP
    total += priced(PROCESSING, [AB_FIRST, BC_FIRST], ended, (WINDOW, before), (ended, both))
    assert accounts.spent(ended, [AB_FIRST, BC_FIRST], both) == pytest.approx(total)


def test_what_the_plans_have_in_common_is_priced_once() -> None:
    accounts = Asked(PROCESSING)
    longer = A.join(B, on=[("a", "b")]).join(C, on=[("b", "c")]).distinct().plan()
    accounts.spent(0, [AB_FIRST, longer], NOTHING)
    both = accounts.spent(WINDOW, [AB_FIRST, longer], NOTHING)
    assert both == pytest.approx(priced(PROCESSING, [longer], WINDOW, (0, NOTHING), (WINDOW, NOTHING)))


LOOKS = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.lists(st.integers(0, 99), min_size=4, max_size=4),
        st.sampled_from(["as before"] * 8 + ["migrated", "swapped"]),
    ),
    min_size=1,
    max_size=60,
)
"""After so many steps from the last one, so many more results of each join; and what has happened."""


@given(looks=LOOKS, objective=st.sampled_from([PROCESSING, MEMORY]))
def test_the_total_is_that_of_all_stretches(
    looks: list[tuple[int, list[int], str]], objective: Objective
) -> None:
    """Stretches follow each other without a gap: they end where a plan begins to run or to rest, and after a
    window."""
    accounts = Asked(objective)
    accounts.spent(0, [AB_FIRST], NOTHING)
    running, now, results, total = AB_FIRST, 0, [0, 0, 0, 0], 0.0
    paid = last = (0, NOTHING)
    for steps, more, event in looks:
        now, results = now + steps * STEP, [n + m for n, m in zip(results, more, strict=True)]
        here = now, counted(*results)
        plans = [running]
        is_told = event == "migrated"
        if event != "as before":
            if last[0] > paid[0]:
                total += priced(objective, plans, now, paid, last)
                is_told = True
            running = BC_FIRST if running == AB_FIRST else AB_FIRST
            plans = [running] if event == "swapped" else [*plans, running]
            paid = last
        is_told = is_told or now - paid[0] >= WINDOW
        if is_told:
            total += priced(objective, plans, now, paid, here)
            paid = here
        found = accounts.spent(now, plans, here[1])
        assert found == (pytest.approx(total) if is_told else LATER)
        last = here


@given(looks=LOOKS)
def test_intermediate_results_are_told_at_every_look(
    looks: list[tuple[int, list[int], str]],
) -> None:
    accounts, now, results = Asked(INTERMEDIATE), 0, [0, 0, 0, 0]
    for steps, more, _ in looks:
        assert accounts.spent(now, [AB_FIRST], counted(*results)) == results[0] + results[2]
        now, results = now + steps * STEP, [n + m for n, m in zip(results, more, strict=True)]
    assert accounts.known.asked == []


@given(plans(depth=3), st.data())
def test_results_inside_a_plan_are_those_of_its_price(plan: ms.Plan, data: st.DataObject) -> None:
    known = data.draw(statistics_for(plan))
    try:
        expected = INTERMEDIATE.of(CostModel(known).price(plan))
    except StatisticsError:
        return
    found = results_inside(plan, CostModel(known))
    size = math.fsum(one.made for one in CostModel(known).price(plan).operators.values())
    if math.isfinite(size):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * size)


def test_of_what_is_inside_two_outputs_each_counts_once() -> None:
    """A join that is an output, and is read by another output, gives intermediate results."""
    pairs = A.join(B, on=[("a", "b")])
    both = ms.Plan({"pairs": pairs.node, "all": pairs.join(C, on=[("b", "c")]).filter(ms.col("c") > 1).node})
    known = at(2)
    expected = INTERMEDIATE.of(CostModel(known).price(both))
    assert results_inside(both, CostModel(known)) == pytest.approx(expected) and expected > 0


def test_what_plans_cost_lately_is_priced_where_there_is_a_choice() -> None:
    known = Known()
    accounts = Accounts(INTERMEDIATE, known)
    alone, both = Advice[ms.Plan](5.0), Advice(5.0, (Forecast(BC_FIRST, 1.0, 4.0),))
    assert accounts.with_lately(0, AB_FIRST, alone) == alone and not known.lately_asked
    for now in range(0, WINDOW, STEP):
        advice = accounts.with_lately(now, AB_FIRST, both)
        accounts.spent(now, [AB_FIRST], NOTHING)
        assert advice.lately is not None and advice.others[0].lately is not None
    assert known.lately_asked == [0, 10, 20, 30]
    assert Accounts(PROCESSING, known).with_lately(0, AB_FIRST, both) == both


PAIRS = frozenset(JOINS[0].walk())
"""The first join of a plan with all below it, as another query may have them."""


@pytest.mark.parametrize("objective", [PROCESSING, MEMORY])
def test_shared_operators_are_paid_by_nobody(objective: Objective) -> None:
    """A period ends where other operators are shared; what the join gave counts as input of the next one."""
    accounts = Asked(objective)
    accounts.spent(0, [AB_FIRST], NOTHING)
    alone, both = counted(10, 20, 0, 0), counted(40, 50, 0, 0)
    assert accounts.spent(10, [AB_FIRST], alone) == LATER
    accounts.shared = PAIRS
    total = priced(objective, [AB_FIRST], 20, (0, NOTHING), (10, alone))
    total += priced(objective, [AB_FIRST], 20, (10, alone), (20, both), PAIRS)
    assert accounts.spent(20, [AB_FIRST], both) == pytest.approx(total)
    assert total < priced(objective, [AB_FIRST], 20, (0, NOTHING), (20, both))


def test_shared_results_are_counted_for_nobody() -> None:
    accounts = Asked(INTERMEDIATE)
    assert accounts.spent(0, [AB_FIRST], NOTHING) == 0
    assert accounts.spent(5, [AB_FIRST], counted(10, 20, 0, 0)) == 10
    accounts.shared = PAIRS
    assert accounts.spent(10, [AB_FIRST], counted(40, 50, 0, 0)) == 10
    accounts.shared = frozenset()
    assert accounts.spent(15, [AB_FIRST], counted(47, 50, 0, 0)) == 17


def test_plans_cost_lately_what_they_add() -> None:
    """They are priced again as soon as other operators are shared."""
    asked, both = Asked(INTERMEDIATE), Advice(5.0, (Forecast(BC_FIRST, 1.0, 4.0),))
    before = asked.accounts.with_lately(0, AB_FIRST, both)
    asked.shared = PAIRS
    after = asked.accounts.with_lately(STEP, AB_FIRST, both)
    assert before.lately and before.others[0].lately and after.others[0].lately
    assert after.lately == 0
