"""A plan with streams for it, and the check of its results against the specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from midstream import driving
from midstream.arrivals import Event
from midstream.driving import Trial
from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.declared import obedient
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.values.snapshots import NormalForm, compare, normal_form
from midstream.plans.values.streams import Element
from midstream.plans.values.verdicts import Equivalence
from midstream.testing.plans import plans
from midstream.testing.streams import elements, interleavings, rows


@dataclass(frozen=True)
class Workload:
    """A plan, complete streams for it, and an order in which they arrive."""

    plan: Plan
    streams: Mapping[str, Sequence[Element]]
    """The elements of every source and every relation."""
    events: Sequence[Event]

    @property
    def relations(self) -> dict[str, Sequence[Element]]:
        """The elements of the relations alone, as an engine takes them."""
        return {operator.relation: self.streams[operator.relation] for operator in self.plan.relations}

    def specified(self) -> NormalForm:
        """The normal form of the results by the logical algebra."""
        return specified(self.plan, self.streams)


def streams_for(plan: Plan, *, forever: bool = True) -> st.SearchStrategy[dict[str, list[Element]]]:
    """Complete streams for a plan's sources, and rows for its relations, that obey their declarations.

    Columns must be integers.
    """
    drawn: dict[str, st.SearchStrategy[list[Element]]] = {
        source.stream: elements(rows(len(source.columns)), chronons=not source.intervals, forever=forever)
        for source in plan.sources
    }
    for one in plan.relations:
        row = rows(len(one.columns))
        if one.is_constant:
            drawn[one.relation] = st.lists(row, max_size=5).map(constant)
        else:
            drawn[one.relation] = elements(row, forever=forever, max_size=6)
    leaves = (*plan.sources, *plan.relations)
    return st.fixed_dictionaries(drawn).map(lambda streams: obedient(leaves, streams))


@st.composite
def workloads(
    draw: st.DrawFn, plan: st.SearchStrategy[Plan] | None = None, *, forever: bool = True
) -> Workload:
    """A random plan with random streams in a random order of arrival."""
    chosen = draw(plans(forever=forever) if plan is None else plan)
    complete = draw(streams_for(chosen, forever=forever))
    arriving = {source.stream: complete[source.stream] for source in chosen.sources}
    return Workload(chosen, complete, draw(interleavings(arriving)))


def drive(engine: Engine, events: Iterable[Event]) -> None:
    """Send events to an engine."""
    for _ in driving.drive(Trial(engine), events):
        pass


def verdict(expected: NormalForm, results: Iterable[Element]) -> Equivalence:
    """Compare results with the specified ones."""
    return compare(expected, normal_form(results))
