"""Where two plans differ: the smallest subplans to be exchanged, and what goes on."""

from __future__ import annotations

from midstream.migration.changes import Change, PlanDifference, around, find_changes
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.equivalence.prover import same_meaning
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col

A, B, C, D = (stream(name, {x: "integer"}).window(10) for name, x in zip("abcd", "xyzw", strict=True))
PAIRS = A.join(B, on=[("x", "y")])
TRIPLES = PAIRS.join(C, on=[("y", "z")])


def changed(
    old: Plan, new: Plan, *, needed: tuple[Plan, ...] = (), replace_all: bool = False
) -> PlanDifference:
    """What changes when a plan comes for one that runs; `needed` are the plans of other queries."""
    running = physical_plan(old)
    others = {node for plan in needed for node in physical_plan(plan).nodes}
    return find_changes(running, new, others, replace_all=replace_all)


def by(implementation: str, query: Stream) -> Stream:
    """A query whose last operator runs in a certain way."""
    return Stream(Node(Physical(implementation, query.node.operator), query.node.inputs))


def looped(query: Stream) -> Stream:
    """A join by nested loops."""
    return by("nested-loops-join", query)


def told(change: Change) -> tuple[list[tuple[str, str]], list[str]]:
    """A change in words: its pairs, and its inputs."""
    return (
        [(str(old.operator), str(new.operator)) for old, new in change.pairs],
        [str(node.operator) for node in change.inputs],
    )


def of(change: Change, which: int) -> list[str]:
    """The operators that go (0) or come (1)."""
    return [str(node.operator) for node in change.parts[which]]


def test_equal_plans_do_not_differ() -> None:
    plan = Plan({"one": TRIPLES.distinct().node, "two": PAIRS.node})
    found = changed(plan, plan)
    assert found.changes == ()
    assert found.placed({}) == (physical_plan(plan), {})


def test_a_change_at_the_root_leaves_what_is_below() -> None:
    (change,) = changed(TRIPLES.plan(), looped(TRIPLES).plan()).changes
    assert told(change) == (
        [("hash-join y = z", "nested-loops-join y = z")],
        ["hash-join x = y", "time-window 10"],
    )
    assert (of(change, 0), of(change, 1)) == (["hash-join y = z"], ["nested-loops-join y = z"])


def test_what_comes_may_be_larger_than_what_goes() -> None:
    """And where nothing goes, the node that runs is the root and the input."""
    early, late = PAIRS, PAIRS.filter(col("x") > 0).filter(col("y") > 0)
    (change,) = changed(early.plan(), late.plan()).changes
    assert change.old == list(change.inputs) == [physical_plan(early.plan()).root]
    assert (of(change, 0), of(change, 1)) == ([], ["filter x > 0", "filter y > 0"])
    (back,) = changed(late.plan(), early.plan()).changes
    assert back.new == list(back.inputs) == change.old
    assert (of(back, 0), of(back, 1)) == (["filter x > 0", "filter y > 0"], [])


def above(pairs: Stream) -> Stream:
    """A duplicate elimination and a grouping above a join of two joins."""
    triples = pairs.join(C, on=[("y", "z")]).distinct()
    return triples.group_by("x").aggregate(n=count())


def test_a_change_in_the_middle_leaves_what_is_above() -> None:
    old, new = above(PAIRS).plan(), above(looped(PAIRS)).plan()
    found = changed(old, new)
    (change,) = found.changes
    assert told(change) == ([("hash-join x = y", "nested-loops-join x = y")], ["time-window 10"] * 2)
    (pair,) = change.pairs
    seat = pair[1]
    placed, moved = found.placed({pair: seat})
    assert placed == physical_plan(new)
    running, coming = physical_plan(old).nodes, physical_plan(new).nodes
    upper = [node for node in running if node.inputs and node not in coming and node != pair[0]]
    assert [str(node.operator) for node in upper] == [
        "hash-join y = z",
        "distinct",
        "aggregate count(*) as n by x",
    ]
    assert set(moved) == set(upper)
    assert all(old.operator == new.operator for old, new in moved.items())
    assert set(moved.values()) <= set(placed.nodes)


def test_changes_on_both_sides_are_exchanged_apart() -> None:
    """They share windows, which are forked for each."""

    def plan(left: Stream, right: Stream) -> Plan:
        return left.join(right, on=[("y", "z")]).distinct().plan()

    right = C.join(D, on=[("z", "w")])
    found = changed(plan(PAIRS, right), plan(looped(PAIRS), looped(right))).changes
    assert list(map(told, found)) == [
        ([("hash-join x = y", "nested-loops-join x = y")], ["time-window 10"] * 2),
        ([("hash-join w = z", "nested-loops-join w = z")], ["time-window 10"] * 2),
    ]


def test_two_changes_above_each_other_are_one() -> None:
    """What is between them is part of it, though it is the same operator."""

    def plan(pairs: Stream, last: str) -> Plan:
        return by(last, pairs.filter(col("x") > 0).join(C, on=[("y", "z")])).distinct().plan()

    (change,) = changed(plan(PAIRS, "hash-join"), plan(looped(PAIRS), "nested-loops-join")).changes
    assert of(change, 0) == ["hash-join x = y", "filter x > 0", "hash-join y = z"]
    assert of(change, 1) == ["nested-loops-join x = y", "filter x > 0", "nested-loops-join y = z"]


def both(pairs: Stream, more: Stream | None = None) -> Plan:
    """Two outputs over a join, or over one each."""
    counts = (more or pairs).group_by("x").aggregate(n=count())
    return Plan({"kinds": pairs.distinct().node, "counts": counts.node})


def test_outputs_that_share_the_changed_part_have_one_change_with_one_pair() -> None:
    (change,) = changed(both(PAIRS), both(looped(PAIRS))).changes
    assert told(change) == ([("hash-join x = y", "nested-loops-join x = y")], ["time-window 10"] * 2)


def test_outputs_that_change_themselves_and_share_what_is_below_are_grouped() -> None:
    """The join would else run twice, once in each box."""
    other = B.join(A, on=[("y", "x")], columns=("x", "y"))
    (change,) = changed(both(PAIRS), both(other.difference(other.difference(other)))).changes
    assert [str(old.operator) for old in change.old] == ["distinct", "aggregate count(*) as n by x"]
    assert len(change.pairs) == 2
    assert of(change, 0).count("hash-join x = y") == of(change, 1).count("hash-join x = y") == 1
    apart = changed(
        Plan({"a": A.distinct().node, "b": B.distinct().node}),
        Plan({"a": A.distinct().distinct().node, "b": B.distinct().distinct().node}),
    )
    assert [len(change.pairs) for change in apart.changes] == [1, 1]


def test_outputs_of_which_one_comes_to_read_what_the_other_reads_no_more_are_grouped() -> None:
    """Who carries out the change of the first alone would go on with what that of the second takes away."""
    one, other = A.filter(col("x") > 0).distinct(), A.distinct().filter(col("x") > 0)
    old, new = (Plan({"a": a.node, "b": b.node}) for a, b in ((one, other), (other, one)))
    (change,) = changed(old, new, replace_all=True).changes
    assert len(change.pairs) == 2
    assert sorted(of(change, 0)) == sorted(of(change, 1))


def test_the_same_subplan_may_become_two_things() -> None:
    (change,) = changed(both(PAIRS), both(looped(PAIRS), by("list-hash-join", PAIRS))).changes
    assert len(change.pairs) == 2
    assert change.old == [physical_plan(PAIRS.plan()).root] * 2
    assert {str(new.operator) for new in change.new} == {"nested-loops-join x = y", "list-hash-join x = y"}
    assert of(change, 0) == ["hash-join x = y"]


def test_what_another_query_needs_is_neither_taken_away_nor_given_other_inputs() -> None:
    new = looped(looped(PAIRS).join(C, on=[("y", "z")])).distinct().plan()
    (alone,) = changed(TRIPLES.distinct().plan(), new).changes
    assert of(alone, 0) == ["hash-join x = y", "hash-join y = z"]
    (change,) = changed(TRIPLES.distinct().plan(), new, needed=(PAIRS.plan(),)).changes
    assert of(change, 0) == ["hash-join y = z"]
    assert physical_plan(PAIRS.plan()).root in change.inputs
    assert of(change, 1) == ["nested-loops-join x = y", "nested-loops-join y = z"]
    found = changed(above(PAIRS).plan(), above(looped(PAIRS)).plan(), needed=(above(PAIRS).plan(),))
    (change,) = found.changes
    assert of(change, 0) == []
    assert change.pairs[0][0] == change.inputs[-1] == physical_plan(above(PAIRS).plan()).root
    assert found.placed({change.pairs[0]: change.new[0]})[1] == {}


def test_what_another_query_needs_in_the_middle_ends_what_can_stay() -> None:
    """The upper join could stay, but the other query has it over the old inputs."""
    needed = TRIPLES.filter(col("x") > 1).plan()
    (change,) = changed(above(PAIRS).plan(), above(looped(PAIRS)).plan(), needed=(needed,)).changes
    assert told(change)[0] == [("hash-join y = z", "hash-join y = z")]
    assert of(change, 0) == []
    assert of(change, 1) == ["nested-loops-join x = y", "hash-join y = z"]


def test_a_part_on_signs_is_exchanged_from_its_converters_on() -> None:
    plan = PAIRS.filter(col("x") > 0).distinct().plan()
    (change,) = changed(PAIRS.distinct().filter(col("x") > 0).plan(), signed_plan(plan)).changes
    assert [str(node.operator) for node in change.inputs] == ["time-window 10"] * 2
    assert of(change, 1)[0] == "intervals-to-signs to signs"
    assert of(change, 1)[-1] == "signs-to-intervals to intervals"


def test_windows_go_on_as_they_run() -> None:
    """Regression: a window on signs came for one on intervals, at a split time that knew nothing of it."""
    on_signs, on_intervals = signed_plan(PAIRS.distinct().plan()), PAIRS.distinct().plan()
    for old, new in ((on_intervals, on_signs), (on_signs, on_intervals)):
        running = physical_plan(old)
        windows = [node for node in running.nodes if "time-window" in str(node.operator)]
        coming = around(new, running)
        assert [node for node in coming.nodes if "time-window" in str(node.operator)] == windows


def test_what_runs_on_signed_windows_is_compared_down_to_them() -> None:
    """Nothing between can be forked."""
    late = signed_plan(PAIRS.distinct().filter(col("x") > 0).plan())
    early = signed_plan(PAIRS.filter(col("x") > 0).distinct().plan())
    (change,) = changed(late, early).changes
    assert [str(node.operator) for node in change.inputs] == ["signed-time-window 10"] * 2


def test_an_output_that_does_not_change_goes_too_where_it_shares_signs_with_one_that_does() -> None:
    """The signed duplicate elimination cannot be forked, nor taken away from under it."""

    def plan(one: Stream) -> Plan:
        counts = one.filter(col("x") > 0).aggregate(n=count())
        return signed_plan(Plan({"kinds": A.distinct().node, "counts": counts.node}))

    new = plan(A.distinct().filter(col("x") > 0))
    (change,) = changed(plan(A.distinct()), new).changes
    assert len(change.pairs) == 2
    assert [str(node.operator) for node in change.inputs] == ["signed-time-window 10"]


def test_whole_is_all_above_the_windows_but_what_others_need() -> None:
    plan = above(PAIRS).plan()
    (change,) = changed(plan, plan, replace_all=True).changes
    assert of(change, 0) == of(change, 1)
    assert of(change, 0)[0] == "hash-join x = y"
    assert [str(node.operator) for node in change.inputs] == ["time-window 10"] * 3
    (change,) = changed(plan, plan, replace_all=True, needed=(PAIRS.plan(),)).changes
    assert [str(node.operator) for node in change.inputs] == ["hash-join x = y", "time-window 10"]


def test_what_differs_in_a_windows_place_goes_with_all_above_it() -> None:
    """That it means the same does not let what is above go on: a window is not exchanged by a cut of its
    input."""
    rows = stream("a", x="integer")
    above, below = rows.window(10).filter(col("x") > 0), rows.filter(col("x") > 0).window(10)
    assert same_meaning(above.node, below.node)
    (change,) = changed(above.distinct().plan(), below.distinct().plan()).changes
    assert told(change) == ([("distinct", "distinct")], ["source a"])


def test_conditions_that_are_proved_let_what_is_above_go_on() -> None:
    one, other = PAIRS.filter(~(col("x") > 3)), PAIRS.filter(col("x") < 4)
    (change,) = changed(one.distinct().plan(), other.distinct().plan()).changes
    assert told(change) == ([("filter not (x > 3)", "filter x < 4")], ["hash-join x = y"])
