"""Hypothesis strategies for equivalent forms of queries: by rewrites, equations and implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, input_nodes, logical, logical_plan
from midstream.plans.expressions.aggregates import count, median, top_k
from midstream.plans.expressions.operands import col
from midstream.plans.values.schema import Type
from midstream.testing.plans import WHOLE, condition, implemented, plans
from midstream.testing.rephrasing import (
    MOST_NODES,
    SHOWN,
    STATEFUL,
    STATELESS,
    Rewrite,
    arranged,
    rephrased,
    windows,
)


@dataclass(frozen=True)
class Family:
    """Equivalent plans; the first is the one to begin with."""

    plans: tuple[Plan, ...]
    is_rewritten: bool = True
    """True if stateful operators may be added, and other implementations chosen."""
    suits: tuple[str, ...] = ()
    """The strategies that this family is meant for."""
    is_flow: bool = False
    """True if the plans are mostly stateless, and must stay so."""

    @property
    def is_join_tree(self) -> bool:
        """True if parallel track may migrate the plans."""
        return "parallel-track" in self.suits

    def beginning_with(self, plan: Plan) -> Family:
        """The family with another plan to begin with."""
        return replace(self, plans=(plan, *self.plans))


@st.composite
def carried_out(draw: st.DrawFn, plan: Plan) -> Plan:
    """A plan with random splits and coalesces, and with random implementations, signed ones among them."""
    if draw(st.integers(0, 3)) == 0:
        plan = draw(arranged(plan))
    return draw(implemented(plan, upper=True)) if draw(st.booleans()) else plan


def equations(a: Stream, b: Stream, c: Stream) -> list[tuple[Stream, Stream]]:
    """Pairs of equivalent queries, over streams with the columns u, u and v."""
    p, on, less = col("u") > 0, [("u", "v")], col("u") < col("v")
    kinds = (Stream.difference, Stream.strict_difference, Stream.intersection, Stream.max_union)
    matches = (Stream.semi_join, Stream.anti_join)
    return [
        *((kind(a.filter(p), b.filter(p)), kind(a, b).filter(p)) for kind in kinds),
        (a.intersection(b), b.intersection(a)),
        (a.max_union(b), b.max_union(a)),
        (a.intersection(b), a.difference(a.difference(b))),
        (a.max_union(b), a.difference(b).union(b)),
        (a.strict_difference(b), a.anti_join(b.rename({"u": "v"}), on=on)),
        *((match(a.filter(p), c, on), match(a, c, on).filter(p)) for match in matches),
        *((match(a.distinct(), c, on), match(a, c, on).distinct()) for match in matches),
        *((match(a, c.distinct(), less), match(a, c, less)) for match in matches),
        (a.anti_join(c, on), a.difference(a.semi_join(c, on))),
        (a.union(b).semi_join(c, less), a.semi_join(c, less).union(b.semi_join(c, less))),
    ]


@st.composite
def pairs(draw: st.DrawFn, forever: bool) -> tuple[Plan, Plan]:
    """Two plans that are equivalent by an equation that no rule states."""
    below = [Stream(draw(plans(depth=1, forever=forever, **WHOLE)).root) for _ in "abc"]
    one, other = draw(st.sampled_from(equations(*map(one_column, below, "uuv"))))
    match draw(st.integers(0, 3)):
        case 0:
            one, other = one.distinct(), other.distinct()
        case 1:
            one, other = (s.aggregate(n=count(), k=top_k("u", 2), m=median("u")) for s in (one, other))
    return Plan(one.node), Plan(other.node)


def one_column(below: Stream, name: str) -> Stream:
    """One column of integers that are never null: null equals null in a row, but not in a condition."""
    found = (c.name for c in below.schema if c.type is Type.INTEGER and not c.nullable)
    column = next(found, None)
    return below.select(**{name: col(column) if column else 0})


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
    """Unions, filters and projections that read each other, perhaps with another operator above or beside."""
    parts = [stream("a", x="integer", y="integer", intervals=True)]
    for name in "bc":
        source = stream(name, x="integer", y="integer")
        parts.append(source.window(draw(st.sampled_from((1, 3, 5)))))
    one, other, _ = draw(st.permutations(parts))
    parts.append(one.union(other))
    for _ in range(draw(st.integers(1, 3))):
        # Mostly the newest subplans are read again.
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
    made = [(Plan(one.node),) for one in (top, top.union(other), joined, top.distinct())]
    again = draw(rephrased(Plan(top.node), STATELESS, rules=False)).root
    # The outputs swap their subplans.
    crossed = tuple(Plan({"one": one, "more": more}) for one, more in ((top.node, again), (again, top.node)))
    return Family(draw(st.sampled_from((*made, crossed))), suits=("swap", "swap", "auto"), is_flow=True)


@st.composite
def _several(draw: st.DrawFn, forever: bool) -> Family:
    """Outputs that share their subplan; one may be ahead of the others."""
    one = Stream(draw(plans(depth=1, forever=forever, shared=True)).root)
    other = Stream(draw(plans(depth=1, forever=forever, shared=True)).root)
    apart = other.rename({name: f"other_{name}" for name in other.schema.names})
    made = (one.distinct(), one.aggregate(n=count()), other, one.join(apart.distinct()))
    more = draw(st.sampled_from(made))
    return _one(Plan({"one": one.node, "more": more.node}))


@st.composite
def _twins(draw: st.DrawFn, forever: bool) -> Family:
    """Two equivalent outputs with different elements: each may come to read the other's subplan."""
    rows = Stream(draw(plans(depth=1, preserving=True, forever=forever, windows=True)).root)
    some = rows.filter(draw(condition(rows.schema.names)))
    others = (rows.intersection(rows), rows.max_union(some), rows.union(some).difference(some))
    one, other = rows.node, draw(st.sampled_from(others)).node
    made = product((one, other), repeat=2)
    return Family(
        tuple(Plan({"one": first, "more": second}) for first, second in made),
        is_rewritten=False,
        suits=("genmig-reference-point", "parallel-track"),
    )


KINDS: Mapping[str, Any] = {
    "plain": lambda forever: plans(depth=2, forever=forever, shared=True).map(_one),
    "whole": lambda forever: plans(depth=2, forever=forever, **WHOLE).map(_one),
    "joins": _joins,
    "flowing": _flowing,
    "preserving": _preserving,
    "pairs": lambda forever: pairs(forever).map(Family),
    "several": _several,
    "twins": _twins,
}
"""Strategies for families, by kind; each takes `forever`, which allows endless windows and elements."""


@st.composite
def families(draw: st.DrawFn, kinds: Sequence[str] = tuple(KINDS), forever: bool = False) -> Family:
    """A family with one of the equivalent forms to begin with."""
    family: Family = draw(KINDS[draw(st.sampled_from(kinds))](forever))
    return family.beginning_with(draw(members(family)))


@st.composite
def members(draw: st.DrawFn, family: Family, running: Plan | None = None, strategy: str = "genmig") -> Plan:
    """A plan of a family, or reached from one by rewrites.

    If `running` is given, the plan is one to which a strategy is likely to migrate it.
    """
    plan = draw(st.sampled_from(family.plans if running is None else (running, running, *family.plans)))
    if strategy == "swap" and running is not None and not family.is_flow:
        plan = running
    elif len(plan.nodes) > MOST_NODES:
        plan = family.plans[-1]
    is_one_of_several = plan != running and len(family.plans) > 1
    if draw(st.integers(0, 1 if is_one_of_several else 7)):
        plan = draw(rephrased(plan, _rewrites(family, plan, strategy), rules=strategy != "swap"))
    plan = logical_plan(plan)
    if not family.is_rewritten:
        return plan
    if family.is_flow:
        return draw(arranged(plan)) if draw(st.integers(0, 4)) == 0 else plan
    # Another implementation of a stateful operator would have another state.
    is_free = (strategy == "swap" or family.is_join_tree) and draw(st.integers(0, 7))
    return plan if is_free else draw(carried_out(plan))


def _rewrites(family: Family, plan: Plan, strategy: str) -> Sequence[Rewrite]:
    """The rewrites that a strategy is likely to accept."""
    if strategy == "swap":
        upper = above(logical_plan(plan), input_nodes(logical_plan(plan)))
        # Stateful operators go on only over inputs that are proved equivalent; moved windows are not.
        is_stateless = all(logical(node).is_stateless for node in upper)
        return (*STATELESS, windows, windows) if is_stateless else SHOWN
    return STATEFUL if family.is_rewritten and not (family.is_join_tree or family.is_flow) else STATELESS


PICKY = ("genmig-reference-point", "parallel-track", "moving-states")
"""The strategies that accept few plans, or need a log."""


def strategies_for(
    family: Family, strategies: Sequence[str], *, is_logged: bool, is_exchanged: bool = False
) -> Sequence[str]:
    """The given strategies, with those that are unlikely to be refused repeated."""
    suited = (*family.suits, "moving-states") if is_logged else family.suits
    seldom = {*PICKY} - {*suited} | ({"swap", "parallel-track"} if is_exchanged else set())
    likely = [one for one in strategies if one not in seldom]
    return (*strategies, *likely * 3, *(one for one in suited if one in likely))
