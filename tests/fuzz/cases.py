"""What the state machine draws: plans that mean the same, and elements that meet the split time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from migration_law import carried_out, pairs
from rephrasing import MOST_NODES, SHOWN, STATEFUL, STATELESS, Rewrite, arranged, rephrased, windows

from midstream.operators.engine.relations import constant
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.implementations.obstacles import is_relation
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, input_nodes, logical, logical_plan, reads_stream
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import FOREVER, Batch, Element, Time
from midstream.testing import WHOLE, condition, elements, plans, rows

LATEST = 30
"""No element starts after this instant: the specification takes a look at every one."""

GAPS = (0, 0, 1, 1, 2, 4, 7, "the mark", "behind the mark")
"""From an element to the next, at most longer than the windows are. The mark is the chronon of the split
time, or of the next migration's."""

LENGTHS = (1, 1, 2, 3, 6, 9, "to the mark", "past the mark")


@dataclass(frozen=True)
class Family:
    """Plans that mean the same; the first is the one to begin with."""

    plans: tuple[Plan, ...]
    is_rewritten: bool = True
    """Whether operators with state may come, and other implementations be used."""
    suits: tuple[str, ...] = ()
    """The strategies that are of most interest."""
    is_flow: bool = False
    """Whether it is stateless for the most part, and is to stay so."""

    @property
    def is_join_tree(self) -> bool:
        """Whether parallel track may take it."""
        return "parallel-track" in self.suits

    def beginning_with(self, plan: Plan) -> Family:
        """The same with another plan to begin with."""
        return replace(self, plans=(plan, *self.plans))


def _one(plan: Plan) -> Family:
    return Family((plan,))


@st.composite
def _preserving(draw: st.DrawFn, forever: bool) -> Family:
    plan = draw(plans(depth=2, preserving=True, forever=forever, windows=True, relations=True, shared=True))
    return Family((plan,), is_rewritten=False, suits=("genmig-reference-point", "parallel-track"))


@st.composite
def _joins(draw: st.DrawFn, forever: bool) -> Family:
    plan = draw(plans(depth=2, joins_only=True, forever=forever, windows=True, shared=True))
    return Family((plan,), suits=("parallel-track", "moving-states"))


@st.composite
def _flowing(draw: st.DrawFn, forever: bool) -> Family:
    """Unions, filters and projections that read each other, and perhaps something above them."""
    parts = [stream("a", x="integer", y="integer", intervals=True)]
    for name in "bc":
        source = stream(name, x="integer", y="integer")
        parts.append(source.window(draw(st.sampled_from((1, 3, 5)))))
    one, other, _ = draw(st.permutations(parts))
    parts.append(one.union(other))
    for _ in range(draw(st.integers(1, 3))):
        # What came last is read again, for the most part.
        one = draw(st.sampled_from(parts[-2:]))
        match draw(st.integers(0, 5)):
            case 0:
                parts.append(one.filter(draw(condition(one.schema.names))))
            case 1:
                parts.append(one.select(x=one["y"], y=one["x"]))
            case _:
                parts.append(one.union(draw(st.sampled_from(parts))))
    top, other = parts[-1], draw(st.sampled_from(parts))
    joined = top.join(other.rename({"x": "x2", "y": "y2"}), on=[("x", "x2")])
    plan = draw(st.sampled_from((top, top.union(other), joined, top.distinct()))).plan()
    return Family((plan,), suits=("swap", "swap", "auto"), is_flow=True)


@st.composite
def _several(draw: st.DrawFn, forever: bool) -> Family:
    """Outputs that share what is below them; one may be ahead of the others."""
    one = Stream(draw(plans(depth=1, forever=forever, shared=True)).root)
    other = Stream(draw(plans(depth=1, forever=forever, shared=True)).root)
    apart = other.rename({name: f"other_{name}" for name in other.schema.names})
    made = (one.distinct(), one.aggregate(n=count()), other, one.join(apart.distinct()))
    more = draw(st.sampled_from(made))
    return _one(Plan({"one": one.node, "more": more.node}))


KINDS: Mapping[str, Any] = {
    "plain": lambda forever: plans(depth=2, forever=forever, shared=True).map(_one),
    "whole": lambda forever: plans(depth=2, forever=forever, **WHOLE).map(_one),
    "joins": _joins,
    "flowing": _flowing,
    "preserving": _preserving,
    "pairs": lambda forever: pairs(forever).map(Family),
    "several": _several,
}
"""By name, the families of a kind, with windows and elements that never end or without."""


@st.composite
def families(draw: st.DrawFn, kinds: Sequence[str] = tuple(KINDS), forever: bool = False) -> Family:
    """A query to begin with, in one of the forms that it may take."""
    family = draw(KINDS[draw(st.sampled_from(kinds))](forever))
    return family.beginning_with(draw(members(family)))


@st.composite
def members(draw: st.DrawFn, family: Family, running: Plan | None = None, strategy: str = "genmig") -> Plan:
    """A plan that means what a query means, which rewrites lead to; from the `running` one on to such a plan
    as a strategy may exchange."""
    plan = draw(st.sampled_from(family.plans if running is None else (running, running, *family.plans)))
    if strategy == "swap" and running is not None:
        plan = running
    elif len(plan.nodes) > MOST_NODES:
        plan = family.plans[-1]
    if draw(st.integers(0, 7)):
        plan = draw(rephrased(plan, _rewrites(family, plan, strategy), rules=strategy != "swap"))
    plan = logical_plan(plan)
    if not family.is_rewritten:
        return plan
    if family.is_flow:
        return draw(arranged(plan)) if draw(st.integers(0, 4)) == 0 else plan
    # Another implementation of what has a state would have another state.
    is_free = (strategy == "swap" or family.is_join_tree) and draw(st.integers(0, 7))
    return plan if is_free else draw(carried_out(plan))


def _rewrites(family: Family, plan: Plan, strategy: str) -> Sequence[Rewrite]:
    """Those that a strategy is likely to take."""
    if strategy == "swap":
        upper = above(logical_plan(plan), input_nodes(logical_plan(plan)))
        # What has a state goes on over what is known to mean the same; windows that have moved are not.
        is_stateless = all(logical(node).is_stateless for node in upper)
        return (*STATELESS, windows, windows) if is_stateless else SHOWN
    return STATEFUL if family.is_rewritten and not (family.is_join_tree or family.is_flow) else STATELESS


@st.composite
def companions(draw: st.DrawFn, family: Family) -> Family:
    """Another query that shares something with one: all, a part, or that it is made of it."""
    plan = logical_plan(family.plans[0])
    found = [node for node in plan.nodes if not is_relation(node) and reads_stream(node) and node.inputs]
    one = Stream(draw(st.sampled_from(found or list(plan.outputs.values()))))
    number = next((c.name for c in one.schema if c.type is Type.INTEGER), None)
    match draw(st.integers(0, 4)):
        case 0:
            return Family((plan,), family.is_rewritten)
        case 1:
            return Family((draw(members(family)), plan), family.is_rewritten)
        case 2:
            return _one(one.distinct().plan())
        case 3:
            return _one(one.aggregate(most=max_(number) if number else count()).plan())
    return Family((one.plan(),), family.is_rewritten)


def relations_for(plan: Plan) -> st.SearchStrategy[dict[str, list[Element]]]:
    """The rows of a plan's relations."""
    constants = st.lists(rows(2), max_size=4).map(constant)
    temporal = elements(rows(2), forever=False, max_size=4)
    return st.fixed_dictionaries(
        {one.relation: constants if one.is_constant else temporal for one in plan.relations}
    )


ELEMENTS = st.tuples(st.sampled_from(GAPS), st.sampled_from(LENGTHS), rows(2))
"""How the next elements follow: the gap before each, its length, its row."""


def placed(steps: Sequence[tuple[int | str, int | str, Any]], time: int, mark: int, chronons: bool) -> Batch:
    """Elements behind an instant, as far as they start by the latest one."""
    batch: Batch = []
    for gap, length, row in steps:
        time = later(gap, time, mark)
        if time > LATEST:
            break
        end: Time = time + 1
        if not chronons:
            ends = {"to the mark": mark, "past the mark": mark + 1, "for ever": FOREVER}
            end = ends[length] if isinstance(length, str) else time + length
        batch.append((time, max(end, time + 1), row))
    return batch


def later(gap: int | str, time: int, mark: int) -> int:
    """The instant that follows another one."""
    if isinstance(gap, str):
        return max(time, mark if gap == "the mark" else mark + 1)
    return time + gap
