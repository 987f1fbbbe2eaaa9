"""The operators under test: every implementation, in every variant that its code treats differently.

A test that takes `case` runs once for each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st

from midstream.operators.operator import Operator
from midstream.operators.planner import running_operator
from midstream.plans.aggregates import avg, count, max_, min_, sum_
from midstream.plans.algebra import meaning, specified
from midstream.plans.builder import Stream, stream
from midstream.plans.expressions import Expression, col, compile_pair
from midstream.plans.physical import Physical
from midstream.plans.plan import Node, Plan
from midstream.plans.properties import join_keys
from midstream.plans.schema import Schema
from midstream.plans.snapshots import NormalForm, snapshot
from midstream.plans.streams import Element, Time
from midstream.testing import elements

SMALL = st.integers(0, 2)
FLOATS = st.sampled_from([0.1, 0.2, -0.3, 1e16, -1e16, 5e-324, float("inf"), float("-inf")])


@dataclass(frozen=True)
class Case:
    """An operator over sources, as a plan, and what its inputs may hold."""

    name: str
    implementation: str
    plan: Plan
    payloads: st.SearchStrategy[Any]
    is_eager: bool = True
    """Whether a result leaves as soon as it is known and no earlier one can come; an aggregate waits for its
    end."""
    node: Node = field(init=False)

    def __post_init__(self) -> None:
        logical = self.plan.root
        node = Node(Physical(self.implementation, logical.operator), logical.inputs)
        object.__setattr__(self, "node", node)

    @property
    def sources(self) -> tuple[str, ...]:
        """The stream of each port."""
        return tuple(child.operator.stream for child in self.node.inputs)

    @property
    def has_chronons(self) -> bool:
        """Whether the input must be a chronon stream."""
        return self.implementation == "time-window"

    @property
    def is_aggregate(self) -> bool:
        """Whether its results are segments that close when their end is reached."""
        return self.implementation == "aggregate"

    def operator(self) -> Operator:
        """A new one, with empty state."""
        return running_operator(self.node)

    def streams(self, *, max_size: int = 10) -> st.SearchStrategy[dict[str, list[Element]]]:
        """Complete inputs."""
        one = elements(self.payloads, chronons=self.has_chronons, max_size=max_size)
        return st.fixed_dictionaries(dict.fromkeys(self.sources, one))

    def joins(self, left: Any, right: Any) -> bool:
        """Whether two payloads make a pair."""
        return compile_pair(self.plan.root.operator.condition, *self._sides)(left, right) is True

    def keeps(self, port: int, payload: Any) -> bool:
        """Whether an element may find a partner at all: in a hash table, an unknown key finds none."""
        if self.implementation != "hash-join":
            return True
        keys, _ = join_keys(self.plan.root.operator.condition, *self._sides)
        return all(payload[self._sides[port].index(key[port])] is not None for key in keys)

    @property
    def _sides(self) -> tuple[Schema, ...]:
        return tuple(child.schema for child in self.node.inputs)

    def specified(self, histories: Sequence[Sequence[Element]]) -> NormalForm:
        """What the operator must give on complete inputs."""
        return specified(self.plan, dict(zip(self.sources, histories, strict=True)))

    def snapshot(self, histories: Sequence[Sequence[Element]], instant: Time) -> Counter:
        """What the operator must give at one instant."""
        if self.has_chronons:  # (8.17)
            size = self.plan.root.operator.size
            return Counter(
                e for start, _, e in histories[0] if start <= instant and (not size or instant < start + size)
            )
        return meaning(self.plan.root)(*(snapshot(history, instant) for history in histories))

    def __str__(self) -> str:
        return self.name


def _source(number: int, key: str, value: str, suffix: str = "") -> Stream:
    return stream(f"s{number}", {f"k{suffix}": key, f"v{suffix}": value}, intervals=True)


def _cases() -> list[Case]:
    plain = st.tuples(SMALL, SMALL)
    unknown = st.tuples(st.one_of(st.none(), SMALL), st.one_of(st.none(), SMALL))
    floats = st.tuples(SMALL, st.one_of(st.none(), FLOATS, SMALL))

    def join(
        key: str, on: Expression | list[tuple[str, str]] | None, columns: Sequence[str] | None = None
    ) -> Plan:
        value = "integer?" if key.endswith("?") else "integer"
        left, right = _source(0, key, value, "0"), _source(1, key, value, "1")
        return left.join(right, on=on, columns=columns).plan()

    chosen = ["v1", "k0", "k1"]
    both = [("k0", "k1"), ("v0", "v1")]
    joins = {
        "one key": (join("integer", [("k0", "k1")]), plain),
        "two keys": (join("integer", both), plain),
        "a residual condition": (join("integer", col("k0").eq(col("k1")) & (col("v0") < col("v1"))), plain),
        "a condition that may be unknown": (
            join("integer?", col("k0").eq(col("k1")) & (col("v0") <= col("v1"))),
            unknown,
        ),
        "a key that may be unknown": (join("integer?", [("k0", "k1")], chosen), unknown),
        "two keys that may be unknown": (join("integer?", both), unknown),
        "columns chosen and reordered": (join("integer", [("k1", "k0")], chosen), plain),
        "no columns": (join("integer", [("k0", "k1")], []), plain),
        "keys with roles exchanged": (join("integer", [("k0", "v1")]), plain),
        "a filtering equality on one side": (
            join("integer", col("k0").eq(col("k1")) & col("k0").eq(col("v0"))),
            plain,
        ),
    }
    cases = [
        Case(f"{name} with {title}", name, plan, payloads)
        for name in ("hash-join", "nested-loops-join")
        for title, (plan, payloads) in joins.items()
    ]
    loops = {
        "no condition": (join("integer", None), plain),
        "an inequality": (join("integer", col("k0") < col("k1"), chosen), plain),
        "alternatives that may be unknown": (
            join("integer?", col("k0").eq(col("k1")) | col("v1").is_null()),
            unknown,
        ),
    }
    cases += [
        Case(f"nested-loops-join with {title}", "nested-loops-join", plan, payloads)
        for title, (plan, payloads) in loops.items()
    ]

    def one(key: str = "integer", value: str = "integer") -> Stream:
        return _source(0, key, value)

    two, three = (
        one().union(*(_source(i, "integer", "integer") for i in range(1, ports))).plan() for ports in (2, 3)
    )
    computed = one("integer?", "integer?").select("v", q=col("k") / col("v"), s=col("k") + 1)
    every = {"n": count(), "m": count("v"), "s": sum_("v"), "a": avg("v"), "l": min_("v"), "g": max_("v")}
    chronons = stream("s0", k="integer", v="integer")
    cases += [
        Case("union of two", "union", two, plain),
        Case("union of three", "union", three, plain),
        Case("distinct", "distinct", one().distinct().plan(), plain),
        Case("distinct with unknowns", "distinct", one("integer?", "integer?").distinct().plan(), unknown),
        Case("filter", "filter", one().filter(col("k") < col("v")).plan(), plain),
        Case(
            "filter that may be unknown",
            "filter",
            one("integer?", "integer?").filter((col("k") < 1) | ~(col("v") > 0)).plan(),
            unknown,
        ),
        Case("map", "map", one().select(s=col("k") + col("v")).plan(), plain),
        Case("map to unknowns", "map", computed.plan(), unknown),
        Case("map to no columns", "map", one().select().plan(), plain),
    ]
    aggregates = {
        "over all": (one().aggregate(**every).plan(), plain),
        "over all, of floats and unknowns": (one("integer", "float?").aggregate(**every).plan(), floats),
        "per group": (one().group_by("k").aggregate(**every).plan(), plain),
        "per group that may be unknown": (
            one("integer?", "integer?").group_by("k").aggregate(**every).plan(),
            unknown,
        ),
        "per pair of keys, without functions": (one().group_by("v", "k").aggregate().plan(), plain),
        "of an expression": (
            one().group_by("k").aggregate(s=sum_(col("k") * 2 - col("v"))).plan(),
            plain,
        ),
    }
    cases += [
        Case(f"aggregate {title}", "aggregate", plan, payloads, is_eager=False)
        for title, (plan, payloads) in aggregates.items()
    ]
    cases += [
        Case(f"window {title}", "time-window", chronons.window(size).plan(), plain)
        for title, size in (("of one", 1), ("of three", 3), ("unbounded", None))
    ]
    return cases


CASES = _cases()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `case` once for every case."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", CASES, ids=str)


@pytest.fixture
def cases() -> list[Case]:
    """All cases."""
    return CASES
