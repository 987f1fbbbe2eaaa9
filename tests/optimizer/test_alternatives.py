"""The several cheapest plans are those that enumeration finds, and nobody is told that there are no others
where there may be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, product, repeat

import pytest
from drawn_statistics import statistics_for
from hypothesis import event, given, settings
from hypothesis import strategies as st

from midstream.commands.explaining import assumed_statistics
from midstream.optimizer import (
    INTERMEDIATE,
    LATENCY,
    MEMORY,
    OUTPUT_RATE,
    PROCESSING,
    CostModel,
    Milliseconds,
    Objective,
    Statistics,
    StreamStatistics,
    alternatives,
    enumerate_plans,
    om,
    optimize,
)
from midstream.optimizer.rules import RULES, Rule, Stage
from midstream.optimizer.search.alternative_plans import COMPARED, _explored
from midstream.optimizer.search.budget import Steps
from midstream.optimizer.search.choice import Choice, Search
from midstream.optimizer.search.enumeration import with_linked_joins
from midstream.optimizer.search.exploring import Exploration
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.several_cheapest import Ranked, Sides, combinations_by_cost
from midstream.optimizer.search.trees import Trees
from midstream.optimizer.verification.certificates import check_proof
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.expressions.operands import col
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import ArgumentError, StatisticsError
from midstream.plans.values.verdicts import Answer
from midstream.scenarios.streams.nexmark.scripts import SCRIPTS, auction_catalog
from midstream.testing import plans

MOST = 3000
"""So many plans are enumerated at most."""
ALL = Objective(processing=1.0, memory=1e-3, state=1e-2)
OBJECTIVES = (PROCESSING, MEMORY, ALL, INTERMEDIATE, LATENCY, OUTPUT_RATE, om(0.4, 0.6))


def enumerated(
    plan: Plan, chosen: Choice, statistics: Statistics, objective: Objective, rules: Sequence[Rule | Stage]
) -> dict[int, float] | None:
    """By what plans have in common that differ only in sides: what the cheapest of them comes to. None where
    there are too many plans.

    Rules that simplify find another plan in what was simplified before, so plans that stand in a memo may
    depend on the order of rules. Those of `enumerate_plans` are made of the given plan, and those of
    `beyond` of the chosen one, too.
    """
    model, found = CostModel(statistics), dict[int, float]()
    listed = list(islice(enumerate_plans(plan, rules), MOST + 1))
    others = list(islice(beyond(chosen, rules), MOST + 1))
    if max(len(listed), len(others)) > MOST:
        return None
    memo = all_known(plan, rules)
    for each in [listed[0], *(one for one in listed if is_lean(one, memo)), *others]:
        try:
            value = objective.of(model.price(each))
        except StatisticsError:
            continue
        number = SIDES.of(each.root)
        found[number] = min(value, found.get(number, math.inf))
    return found


def beyond(chosen: Choice, rules: Sequence[Rule | Stage]) -> Iterator[Plan]:
    """What rules make of a given plan and of the one that is chosen for it, one by one."""
    explored = _explored(chosen, rules, Steps(COMPARED))
    if not explored.is_complete:
        return repeat(chosen.plan)  # so that there are too many
    return Trees(explored.memo, lambda group: group.expressions).plans({"out": explored.start})


SIDES = Sides()


def chosen_for(
    plan: Plan, statistics: Statistics, objective: Objective, rules: Sequence[Rule | Stage]
) -> Choice:
    """The choice that alternatives begin with."""
    return Search(plan, statistics, rules=rules, budget=Steps(COMPARED), objective=objective).finish()


def all_known(plan: Plan, rules: Sequence[Rule | Stage]) -> Memo:
    """A memo with all that rules make of a plan."""
    memo, (root,) = Memo(), with_linked_joins(logical_plan(plan)).outputs.values()
    memo.group(root)
    exploration = Exploration(memo, rules)
    while not exploration.is_complete:
        for _ in exploration.round():
            pass
    return memo


def is_lean(plan: Plan, memo: Memo) -> bool:
    """Whether no two subplans mean the same. Plans that are found before this is known may have such."""
    return len({memo.group(node) for node in plan.nodes}) == len(plan.nodes)


def assert_enumerated(
    plan: Plan,
    statistics: Statistics,
    number: int,
    objective: Objective = PROCESSING,
    rules: Sequence[Rule | Stage] = RULES,
) -> bool:
    """The plans are those that cost least among all. Gives whether it is known."""
    found = alternatives(plan, statistics, number, objective=objective, rules=rules)
    expected = enumerated(plan, chosen_for(plan, statistics, objective, rules), statistics, objective, rules)
    model = CostModel(statistics)
    values = [objective.of(choice.cost) for choice in found]
    assert values == pytest.approx(sorted(values))  # where two cost the same, the chosen one is the first
    assert 1 <= len(found) <= number
    for choice in found:
        assert choice.cost == model.price(choice.plan)
        assert choice.plan.schema == plan.schema
    if expected is None:
        return False
    # The given plan may stay as it is, though rules write it in another way.
    given = found[0].plan == plan
    numbers = [SIDES.of(choice.plan.root) for choice in found[int(given) :]]
    assert len(set(numbers)) == len(numbers)
    assert all(
        expected[each] == pytest.approx(value)
        for each, value in zip(numbers, values[int(given) :], strict=True)
    )
    if found[0].is_complete:
        assert values == pytest.approx(sorted(expected.values())[:number])
    return found[0].is_complete


@settings(max_examples=settings().max_examples // 2)
@given(plans(depth=2), st.data(), st.sampled_from(OBJECTIVES), st.integers(1, 8))
def test_they_are_what_enumeration_finds(
    plan: Plan, data: st.DataObject, objective: Objective, number: int
) -> None:
    is_known = assert_enumerated(plan, data.draw(statistics_for(plan)), number, objective)
    event(f"known: {is_known}")


def nexmark(number: int) -> Plan:
    """The query of a script."""
    (query,) = auction_catalog().execute(SCRIPTS[number].read_text(encoding="utf-8"))
    return query.plan


DECLARED = """
SET time_unit = 'seconds';
CREATE STREAM bids(ts TIMESTAMP, item INTEGER, bidder INTEGER, price INTEGER) ORDERED BY ts;
CREATE STREAM items(ts TIMESTAMP, id INTEGER, kind INTEGER) ORDERED BY ts;
CREATE STREAM people(ts TIMESTAMP, id INTEGER, city INTEGER) ORDERED BY ts;
"""
QUERIES = {
    "three streams": "SELECT * FROM bids WINDOW(RANGE 1 MINUTE) b, items WINDOW(RANGE 5 MINUTES) i, "
    "people WINDOW(RANGE 2 MINUTES) p WHERE b.item = i.id AND b.bidder = p.id",
    "a filter": "SELECT b.price FROM bids WINDOW(RANGE 1 MINUTE) b, items WINDOW(RANGE 5 MINUTES) i "
    "WHERE b.item = i.id AND i.kind = 7",
    "a product": "SELECT i.kind, p.city, b.price FROM bids WINDOW(RANGE 1 MINUTE) b, "
    "items WINDOW(RANGE 5 MINUTES) i, people WINDOW(RANGE 2 MINUTES) p WHERE b.item = i.id AND p.city = 1",
    "distinct": "SELECT DISTINCT i.kind FROM bids WINDOW(RANGE 1 MINUTE) b, items WINDOW(RANGE 5 MINUTES) i "
    "WHERE b.item = i.id",
    "grouping": "SELECT i.kind, MAX(b.price) AS most FROM bids WINDOW(RANGE 1 MINUTE) b, "
    "items WINDOW(RANGE 5 MINUTES) i WHERE b.item = i.id AND i.kind > 7 GROUP BY i.kind",
    "a subquery": "SELECT b.price FROM bids WINDOW(RANGE 1 MINUTE) b WHERE b.price > 9 AND b.item IN "
    "(SELECT id FROM items WINDOW(RANGE 5 MINUTES))",
}
TEN = {**{f"NEXMark {number}": nexmark(number) for number in (3, 5, 6, 10)}} | {
    name: Catalog().execute(DECLARED + text)[0].plan for name, text in QUERIES.items()
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "NEXMark 6")) for name in TEN]
)
def test_ten_queries(name: str) -> None:
    """The first seven of all plans by price, by statistics as explain assumes them, are what is shown."""
    plan = TEN[name]
    assert assert_enumerated(plan, assumed_statistics(plan), 7)


CHAIN = [stream(f"s{i}", **{f"a{i}": "integer", f"b{i}": "integer"}).window(60 * i) for i in range(1, 9)]


def chain(number: int) -> Stream:
    """So many streams, each joined with the one before."""
    joined = CHAIN[0]
    for i, each in enumerate(CHAIN[1:number], 1):
        joined = joined.join(each, on=[(f"b{i}", f"a{i + 1}")])
    return joined


def test_what_a_plan_has_in_two_places_is_paid_once() -> None:
    """A projection of a semi-join that is read twice: what is cheapest for each reader is not the cheapest
    for both."""
    a, b = (stream(name, x="integer", y="integer", intervals=True) for name in "ab")
    x, y = col("x1"), col("y1")
    lower, higher = b.window(6).select(x1=col("x"), y1=col("y")), a.select(x2=col("x"))
    some = lower.semi_join(higher, on=x < col("x2"))
    plan = some.select(one=y, other=y * 2 - x).difference(some.select(one=x, other=y)).plan()
    known = Statistics({source.node: StreamStatistics(d=1.0, l=1.0) for source in (a, b)})
    assert assert_enumerated(plan, known, 1)


@pytest.mark.slow
def test_of_many_streams_those_near_the_best_are_compared() -> None:
    """It is told that there may be others, and the same are found every time."""
    plan = chain(8).plan()
    known = assumed_statistics(plan)
    found = alternatives(plan, known, 4, budget=10_000)
    assert len(found) == 4
    assert not any(choice.is_complete for choice in found)
    assert found[0].cost.total <= optimize(plan, known).cost.total * (1 + 1e-9)
    costs = [choice.cost.total for choice in found]
    assert costs == sorted(costs)
    assert len({SIDES.of(choice.plan.root) for choice in found}) == 4
    again = alternatives(plan, known, 4, budget=10_000)
    assert [choice.plan for choice in again] == [choice.plan for choice in found]


@pytest.mark.parametrize("budget", [0, 3, Milliseconds(0.001)])
def test_a_budget_that_is_over_at_once(budget: int | Milliseconds) -> None:
    plan = chain(4).plan()
    found = alternatives(plan, assumed_statistics(plan), 9, budget=budget)
    assert not found[0].is_complete
    assert [choice.cost.total for choice in found] == sorted(choice.cost.total for choice in found)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_plan_is_proved(objective: Objective) -> None:
    plan = TEN["three streams"]
    for choice in alternatives(plan, assumed_statistics(plan), 8, objective=objective):
        assert choice.proof.plans == (plan, choice.plan)
        assert check_proof(choice.proof).answer is Answer.PROVED


def test_the_first_is_what_optimize_chooses() -> None:
    plan = TEN["three streams"]
    known = assumed_statistics(plan)
    assert alternatives(plan, known, 1)[0].plan == optimize(plan, known).plan


def test_what_is_asked_for_is_checked() -> None:
    known = assumed_statistics(chain(2).plan())
    for number in (0, -1, True, 2.5, "two"):
        with pytest.raises(ArgumentError, match="number"):
            alternatives(chain(2), known, number)  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="no statistics"):
        alternatives(chain(2), Statistics({}))
    with pytest.raises(ArgumentError, match="found 2 outputs"):
        alternatives(Plan({"one": CHAIN[0].distinct().node, "two": CHAIN[1].node}), known)


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=3))
def test_combinations_come_by_cost(costs: list[list[int]]) -> None:
    node = CHAIN[0].node
    plans = [[Ranked(node, cost, {}, i) for i, cost in enumerate(sorted(of))] for of in costs]
    found = [[one.sides for one in each] for each in combinations_by_cost(plans)]
    totals = [sum(one.cost for one in each) for each in combinations_by_cost(plans)]
    assert sorted(found) == [list(each) for each in product(*(range(len(of)) for of in plans))]
    assert totals == sorted(totals)
