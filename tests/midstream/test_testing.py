"""The strategies of `midstream.testing` draw what they promise, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.operators.engine.running.planner import physical_plan
from midstream.optimizer.rules import Rule, apply
from midstream.optimizer.rules.distinct.distinct_below_join import DISTINCT_BELOW_JOIN
from midstream.optimizer.rules.filters.filter_below_join import FILTER_BELOW_LEFT
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.operators import (
    Aggregate,
    Arrangement,
    Convert,
    CountWindow,
    Filter,
    Join,
    Logical,
    PartitionedWindow,
    Project,
    Relation,
    Source,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import above, input_nodes, logical, logical_plan
from midstream.plans.expressions.aggregates import FUNCTIONS, OF_TUPLES
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.testing import (
    WHOLE,
    Workload,
    applications,
    check_rule,
    drive,
    implemented,
    plans,
    streams_for,
    subplans,
    verdict,
    workloads,
)

KINDS = [*sorted(set(IMPLEMENTATIONS) - {Convert}, key=lambda kind: kind.__name__), Source, Relation]
"""Every operator but converters, which only the planner puts in."""
SEARCH = settings(max_examples=3000, phases=[Phase.generate], derandomize=True, database=None)


def operators(plan: Plan) -> list[Logical]:
    return [logical(node) for node in plan.nodes]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_operator_is_drawn(kind: type[Logical]) -> None:
    """One that is not would be under no law."""
    find(plans(**WHOLE), lambda plan: any(type(one) is kind for one in operators(plan)), settings=SEARCH)


@pytest.mark.slow
@pytest.mark.parametrize("function", sorted({*FUNCTIONS} - OF_TUPLES - {"var_pop", "stddev_samp"}))
def test_every_kind_of_aggregate_is_drawn(function: str) -> None:
    """Of variances and deviations, one each."""

    def calls(plan: Plan) -> set[str]:
        found = [one for one in operators(plan) if isinstance(one, Aggregate)]
        return {call.name for one in found for _, call in one.calls}

    find(plans(**WHOLE), lambda plan: function in calls(plan), settings=SEARCH)


FORMS = {
    "a window that slides": lambda one: isinstance(one, TimeWindow) and one.slide > 1,
    "rows that are counted at once": lambda one: isinstance(one, CountWindow) and one.slide > 1,
    "the order of arrival": lambda one: isinstance(one, CountWindow) and one.ties == "arrival",
    "no ties": lambda one: isinstance(one, CountWindow) and one.ties == "error",
    "groups without ties": lambda one: isinstance(one, PartitionedWindow) and one.ties == "error",
    "groups that are not waited for": lambda one: isinstance(one, PartitionedWindow) and one.delay,
    "a constant relation": lambda one: isinstance(one, Relation) and one.is_constant,
    "a temporal relation": lambda one: isinstance(one, Relation) and not one.is_constant,
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_drawn(form: str) -> None:
    finite = plans(forever=False, **WHOLE)
    find(finite, lambda plan: any(map(FORMS[form], operators(plan))), settings=SEARCH)


@given(plans(depth=2, forever=False, **WHOLE))
def test_windows_stand_above_other_operators(plan: Plan) -> None:
    """A split makes chronons for them, so that every plan can run."""
    assert physical_plan(plan).schema == plan.schema


@given(plans())
def test_by_default_windows_are_simple_and_at_the_leaves(plan: Plan) -> None:
    """What can be exchanged is all but sources and windows, at any time, and every column is a number."""
    for one in operators(plan):
        assert not isinstance(one, Relation | Arrangement)
        if not one.is_snapshot_reducible:
            assert isinstance(one, Source) or (isinstance(one, TimeWindow) and one.slide == 1)
    assert all(column.type.is_numeric for node in plan.nodes for column in node.schema)


@given(plans(preserving=True, windows=True, relations=True))
def test_preserving_plans_preserve_starts(plan: Plan) -> None:
    assert all(logical(node).is_start_preserving for node in above(plan, input_nodes(plan)))


@given(plans(joins_only=True, depth=2))
def test_joins_only(plan: Plan) -> None:
    assert all(isinstance(one, Source | TimeWindow | Project | Filter | Join) for one in operators(plan))
    assert not any(isinstance(one, Union) for one in operators(plan))


@given(st.data())
def test_without_for_ever_nothing_is_endless_but_what_is_counted(data: st.DataObject) -> None:
    plan = data.draw(plans(forever=False, **WHOLE))
    for name, elements in data.draw(streams_for(plan, forever=False)).items():
        assert name == "constant" or all(end < FOREVER for _, end, _ in elements)
    assert not any(isinstance(one, TimeWindow) and one.size is None for one in operators(plan))


@given(workloads(plans(relations=True)))
def test_relations_are_there_before_anything_happens(workload: Workload) -> None:
    """The streams of a workload hold their elements, its events none."""
    assert set(workload.relations) == {one.relation for one in workload.plan.relations}
    assert not {name for _, name, _ in workload.events} & set(workload.relations)
    for one in workload.plan.relations:
        for start, end, _ in workload.relations[one.relation]:
            assert (start, end) == (BEGINNING, FOREVER) if one.is_constant else start < end
    results: list = []
    engine = Engine(workload.plan, results.extend, relations=workload.relations)
    drive(engine, workload.events)
    engine.close()
    assert verdict(workload.specified(), results)


@given(plans(**WHOLE), st.data())
def test_any_implementation_may_be_chosen_where_it_fits(plan: Plan, data: st.DataObject) -> None:
    chosen = data.draw(implemented(plan))
    assert logical_plan(chosen) == logical_plan(plan)
    physical_plan(chosen)
    for node in chosen.nodes:
        assert isinstance(node.operator, Physical | Source | Relation)


@given(plans(**WHOLE), st.data())
def test_what_a_migration_leaves_alone_is_left_to_the_planner(plan: Plan, data: st.DataObject) -> None:
    chosen = data.draw(implemented(plan, upper=True))
    inputs = input_nodes(plan)
    assert set(input_nodes(chosen)) == set(inputs)
    for node in above(chosen, inputs):
        assert isinstance(node.operator, Physical | Relation)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[:-2], ids=lambda kind: kind.__name__)
def test_every_implementation_is_drawn(kind: type[Logical]) -> None:
    """So that each meets all others."""
    missing = {one.name for one in IMPLEMENTATIONS[kind]}
    chosen = plans(**WHOLE).flatmap(implemented)

    def has_all(plan: Plan) -> bool:
        missing.difference_update(node.operator.name for node in plan.nodes)
        return not missing

    find(chosen, has_all, settings=SEARCH)


@pytest.mark.parametrize("rule", [JOIN_ASSOCIATIVITY, DISTINCT_BELOW_JOIN], ids=lambda rule: rule.name)
@given(st.data())
def test_applications_of_a_rule_are_subplans_of_its_shape(rule: Rule, data: st.DataObject) -> None:
    node, result = data.draw(applications(rule))
    assert rule.shape.fits(node)
    assert result in apply(rule, node)
    assert rule.shape.fits(data.draw(subplans(rule.shape)))


def test_a_rule_is_checked_with_its_guards() -> None:
    check_rule(FILTER_BELOW_LEFT, plans=4)
    with pytest.raises(AssertionError, match="filter-below-left: refuted"):
        check_rule(replace(FILTER_BELOW_LEFT, guards=()), plans=4)

    def reads_a_stream(node: Node, matched: Node) -> bool:
        """No reason."""
        return isinstance(node.inputs[0].inputs[0].operator, Source)

    careful = replace(FILTER_BELOW_LEFT, guards=(*FILTER_BELOW_LEFT.guards, reads_a_stream))
    with pytest.raises(AssertionError, match="is the guard reads_a_stream needed"):
        check_rule(careful, plans=4)
