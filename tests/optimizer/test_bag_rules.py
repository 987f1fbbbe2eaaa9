"""What rules about bags make of typical queries, alone and one after the other."""

from __future__ import annotations

import pytest

import midstream as ms
from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer.rules import ALL_STAGES, PHYSICAL, RULES, Rule, apply, flat
from midstream.optimizer.search.simplifying import simplify
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.plan import Node, Plan

RULE: dict[str, Rule] = {rule.name: rule for rule in flat(ALL_STAGES)}

S = ms.stream("s", x="integer", y="integer?").window(9)
S2 = ms.stream("s2", x="integer", y="integer?").window(9)
T = ms.stream("t", u="integer", v="integer").window(9)
D, D2, E = (rows.distinct() for rows in (S, S2, T))
PAIRS = S.join(T, on=[("x", "u")])


def shown(rule: str, rows: Stream) -> list[str]:
    """What a rule makes of a subplan, operator by operator."""
    return [" ".join(str(node.operator) for node in one.walk()) for one in apply(RULE[rule], rows.node)]


def test_the_maximum_of_a_join_is_taken_before_it() -> None:
    """Example 10.1 of the thesis: a grouping goes below the join, where the other side is without duplicates
    on the columns that are used, or has a key; and none is left above."""
    query = PAIRS.group_by("x").aggregate(m=ms.max_("y"))
    (eager,) = [one for one in apply(RULE["eager-grouping"], query.node) if below(one, 0) == "aggregate"]
    (counted,) = [one for one in apply(RULE["eager-count"], eager) if below(one, 1) == "aggregate"]
    (done,) = apply(RULE["grouping-over-key"], counted)
    assert str(Plan(done)) == (
        "project x, m\n"
        "└─ join u = x\n"
        "   ├─ aggregate max(y) as m by x\n"
        "   │  └─ window 9\n"
        "   │     └─ source s\n"
        "   └─ aggregate  by u\n"
        "      └─ window 9\n"
        "         └─ source t"
    )
    assert ms.equivalent(query.plan(), Plan(done))


def below(node: Node, place: int) -> str:
    """The operator on a side of the join below a grouping."""
    return str(node.inputs[0].inputs[place].operator.name)


def test_a_sum_needs_the_number_of_partners() -> None:
    query = PAIRS.group_by("x").aggregate(total=ms.sum_("y"), n=ms.count())
    (weighed,) = [one for one in apply(RULE["eager-count"], query.node) if below(one, 1) == "aggregate"]
    assert str(weighed.operator) == "aggregate sum(y * n) as total, sum(n) as n by x"
    assert str(weighed.inputs[0].inputs[1].operator) == "aggregate count(*) as n by u"


def test_a_mean_is_a_sum_and_a_number_in_two_steps() -> None:
    query = S.union(S2).group_by("x").aggregate(mean=ms.avg("y"))
    (split,) = apply(RULE["grouping-below-union"], query.node)
    (above,) = split.inputs
    assert str(split.operator) == "project x, mean sum / mean count as mean"
    assert str(above.operator) == "aggregate sum(mean sum) as mean sum, sum(mean count) as mean count by x"
    floats = ms.stream("f", x="integer", y="float").window(9)
    assert not shown("grouping-below-union", floats.union(floats).group_by("x").aggregate(m=ms.avg("y")))


@pytest.mark.parametrize(
    ("rows", "simple"),
    [
        (D.distinct(), D),
        (S.group_by("x").aggregate(n=ms.count()).distinct(), S.group_by("x").aggregate(n=ms.count())),
        (
            S.group_by("x", "y").aggregate(n=ms.count()).group_by("x").aggregate(n=ms.sum_("n")),
            S.group_by("x").aggregate(n=ms.count()),
        ),
        (S.difference(S.difference(S2)), S.intersection(S2)),
        (S.difference(S2).union(S2), S.max_union(S2)),
        (S2.union(S.difference(S2)), S.max_union(S2)),
        (S.max_union(S2).difference(S), S2.difference(S)),
        (S.difference(S.semi_join(T, on=[("x", "u")])), S.anti_join(T, on=[("x", "u")])),
        (S.strict_difference(S.anti_join(T, on=[("x", "u")])), S.semi_join(T, on=[("x", "u")])),
        (S.intersection(S).max_union(S), S),
    ],
    ids=repr,
)
def test_plans_do_with_fewer_operators(rows: Stream, simple: Stream) -> None:
    assert simplify(rows.node, RULES)[0] == simple.node


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("distinct-removal", S.distinct()),
        ("difference-of-union", S.union(S2).difference(T.select(x=ms.col("u"), y=ms.col("v")))),
        (
            "different-values-as-distinct",
            S.group_by("x").aggregate(n=ms.count_distinct("x"), m=ms.max_("y")),
        ),
        ("grouping-over-key", D.group_by("x").aggregate(n=ms.count())),
        ("groupings-merging", S.group_by("x", "y").aggregate(n=ms.count()).aggregate(n=ms.max_("n"))),
        ("strict-as-difference", S.strict_difference(S2)),
        ("intersection-as-semi-join", S.intersection(S2)),
        ("anti-join-as-strict", S.anti_join(S2.alias("o"), on=[("x", "o.x"), ("y", "o.y")])),
        ("matching-below-left", PAIRS.semi_join(S2.alias("o"), on=[("x", "o.x"), ("v", "o.y")])),
        ("matching-below-grouping", S.group_by("x").aggregate(n=ms.count()).semi_join(T, on=[("n", "u")])),
        ("eager-grouping", PAIRS.group_by("x").aggregate(m=ms.max_("y"), n=ms.max_("v"))),
    ],
)  # fmt: skip
def test_a_rule_stays_away_where_it_does_not_hold(rule: str, rows: Stream) -> None:
    assert shown(rule, rows) == []


def test_unknown_values_are_compared_as_values_where_rows_are() -> None:
    (anti_join,) = apply(RULE["strict-as-anti-join"], S.strict_difference(S2).node)
    assert str(anti_join.operator) == "anti-join (not (y is distinct from y_1)) and (x = x_1)"
    (back,) = apply(RULE["anti-join-as-strict"], anti_join)
    assert back.operator.name == "strict difference"
    assert ms.equivalent(Plan(anti_join), Plan(back))


def test_the_choice_of_an_implementation_is_in_the_plan() -> None:
    """Where hardly any row is valid, there is nothing to gain by hashing."""
    rare = Statistics({node: StreamStatistics(1000.0, 9.0) for node in (S.node, T.node)})
    query = PAIRS.plan()
    choice = ms.optimize(query, rare, rules=(*RULES, *PHYSICAL))
    assert choice.plan.root.operator.name == "nested-loops-join"
    assert choice.rules[-1] == "implementation"
    assert choice.cost.total < ms.optimize(query, rare).cost.total
    assert physical_plan(choice.plan).root.operator.name == "nested-loops-join"
    assert ms.equivalent(query, choice.plan)
