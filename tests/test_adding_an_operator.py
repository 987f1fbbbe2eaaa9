"""An operator is added as CONTRIBUTING says: facts, an implementation, a running class, a formula.

All that the house does with operators then works: nothing else names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pytest

import midstream as ms
from midstream.operators.base.operator import Operator
from midstream.operators.base.stateless import Stateless
from midstream.operators.engine.running.planner import RUNNING
from midstream.optimizer.cost.costing import Costing
from midstream.optimizer.cost.estimate import Content, Cut, Estimate, Work
from midstream.optimizer.cost.outputs import OUTPUTS, Output
from midstream.optimizer.cost.work import WORK
from midstream.plans.algebra.implementations import IMPLEMENTATIONS, Implementation
from midstream.plans.algebra.operators import KINDS, Logical, Snapshot, SnapshotReducible
from midstream.plans.algebra.operators.base import Names, Schemas, unchanged
from midstream.plans.algebra.operators.columns import Columns, Dependencies, Sets
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import is_chronon_stream, keys, logical
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.pictures.diagrams import svg
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Time

# 1. plans/algebra/operators/times.py: what it means, and what is known of it.


@dataclass(frozen=True, slots=True)
class Times(SnapshotReducible):
    """Every row so many times."""

    name = "times"
    symbol = "⊗"
    formulas = "times"
    arity = 1
    is_start_preserving = True
    is_stateless = True
    valid_with = "every input"
    expressions = ()

    number: int

    def schema(self, inputs: Schemas) -> Schema:
        return inputs[0]

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot], Snapshot]:
        return lambda part: Counter({e: n * self.number for e, n in part.items()})

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return inputs[0]

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].keys if self.number < 2 else ()

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].lasting_keys if self.number < 2 else ()

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return inputs[0].dependencies

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return [needed]

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))] if self.number else []

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return inputs[0]

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(int(data["number"]))

    def __str__(self) -> str:
        return f"times {self.number}"


# 2. plans/algebra/implementations/rows.py: how it can be run.

TIMES = Implementation("times", Times, "times")


# 3. operators/rows/times.py: what runs.


def running_times(node: Node) -> Operator:
    operator = logical(node)
    assert isinstance(operator, Times)
    return Stateless(lambda batch: [element for element in batch for _ in range(operator.number)])


# 4. optimizer/cost: what comes out, and what that takes.


def times_content(costing: Costing) -> Content:
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Times)
    return Content(s.valid * operator.number, s.facts, s.g)


def times_cut(costing: Costing, content: Content) -> Cut:
    (s,), operator = costing.inputs, costing.operator
    assert isinstance(operator, Times)
    return Cut.of(s.rate * operator.number, content, s.l)


def times_work(costing: Costing, output: Estimate) -> Work:
    return Work(output.rate * costing.units.output, 0.0)


@pytest.fixture(autouse=True)
def house(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The lists that it is written into."""
    monkeypatch.setitem(KINDS, "times", Times)
    monkeypatch.setitem(IMPLEMENTATIONS, Times, (TIMES,))
    monkeypatch.setitem(RUNNING, TIMES, running_times)
    monkeypatch.setitem(OUTPUTS, "times", Output(times_content, times_cut))
    monkeypatch.setitem(WORK, "times", times_work)
    yield


A = ms.stream("a", x="integer").window(5)
B = ms.stream("b", y="integer").window(5)
QUERY = A.join(B, on=[("x", "y")]).select("x").apply(Times(3))
SWAPPED = B.join(A, on=[("x", "y")]).select("x").apply(Times(3))
STREAMS = {
    "a": list(ms.chronons([(1, (7,)), (2, (8,)), (9, (7,)), (20, (7,))])),
    "b": list(ms.chronons([(3, (7,)), (8, (7,)), (21, (7,))])),
}


def test_it_stands_in_plans() -> None:
    assert str(QUERY.plan()).splitlines()[0] == "times 3"
    assert QUERY.schema == A.schema
    assert not is_chronon_stream(QUERY.node)
    assert keys(A.distinct().apply(Times(1)).node) == (frozenset({"x"}),)
    assert keys(A.distinct().apply(Times(2)).node) == ()


def test_it_has_a_meaning() -> None:
    at = ms.plans.snapshots(QUERY, STREAMS)
    assert at[3] == Counter({(7,): 3})
    assert at[21] == Counter({(7,): 3})


def test_it_has_a_form_in_files() -> None:
    assert '{"operator": "times", "number": 3, "inputs": [' in dumps(QUERY)
    assert loads(dumps(QUERY)) == QUERY.plan()
    physical = ms.physical_plan(QUERY.plan())
    assert loads(dumps(physical)) == physical


def test_it_is_drawn() -> None:
    assert "⊗ times" in svg(QUERY.plan())


def test_it_is_priced() -> None:
    statistics = ms.Statistics({one.node: ms.StreamStatistics(d=1.0, l=5.0) for one in (A, B)})
    priced = ms.price(QUERY, statistics).operators
    above, below = priced[QUERY.node], priced[QUERY.node.inputs[0]]
    assert above.rate == pytest.approx(3 * below.rate)
    assert above.cost > 0 == above.state


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize("strategy", ["genmig", "genmig-reference-point", "moving-states"])
def test_it_runs_and_is_migrated(strategy: str, compile: bool) -> None:
    results: list[Any] = []
    engine = ms.Engine(QUERY, results.extend, compile=compile)
    engine.push("a", STREAMS["a"][:2])
    engine.push("b", STREAMS["b"][:1])
    engine.migrate(SWAPPED, strategy=strategy)
    engine.push("a", STREAMS["a"][2:])
    engine.push("b", STREAMS["b"][1:])
    engine.close()
    assert ms.plans.normal_form(results) == ms.plans.specified(QUERY, STREAMS)


def test_it_is_compared_with_other_plans() -> None:
    """What no rule knows of it is not proved; where plans differ, an input shows it."""
    assert equivalent(QUERY, SWAPPED)
    assert not equivalent(QUERY, A.join(B, on=[("x", "y")]).select("x").apply(Times(2)))


def test_what_is_forgotten_is_an_error() -> None:
    """A type error, too."""

    @dataclass(frozen=True, slots=True)
    class Forgetful(Times):
        is_stateless = Logical.is_stateless

    with pytest.raises(TypeError, match="is_stateless"):
        Forgetful(3)
