"""Accidents that must not show in what an operator gives: where batches end, how streams interleave, and at
what time all happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from accidents import SHIFTS, at_once, moved, moved_events, one_by_one
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_cases import Case

from midstream.operators.base.operator import Operator
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import Element
from midstream.testing import Event, interleavings


@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data())
def test_batches_and_time_show_in_no_element(case: Case, data: st.DataObject) -> None:
    """Give the very same multiset of elements, not only the same snapshots.

    Batches are of one element, of any size, and of all; there are heartbeats or none; streams are in step or
    one is behind the other. Time is moved by much more than floats can tell apart.
    """
    streams = data.draw(case.streams)
    events = data.draw(interleavings(streams))
    by = 0 if case.heeds_time else data.draw(st.sampled_from(SHIFTS)) // case.period * case.period
    results = results_at_two_times(case, events, by)
    whole = results_of(case, at_once(streams))
    if case.heeds_heartbeats:
        assert equivalent(whole, results), "other snapshots where each stream is one batch"
    else:
        assert Counter(whole) == Counter(results), "other elements where each stream is one batch"
    single = results_of(case, one_by_one(events))
    assert Counter(single) == Counter(results), "other elements where each is a batch of its own"


def results_at_two_times(case: Case, events: list[Event], by: int) -> list[Element]:
    """The results for some events. Fails where they differ, element by element, with the events at another
    time."""
    here, there = case.operator(), case.operator()
    results: list[Element] = []
    ends: list[Event] = [("end", name, None) for name in case.sources]
    for event, later in zip([*events, *ends], moved_events([*events, *ends], by), strict=True):
        given_here = take(case, here, event)
        assert take(case, there, later) == moved(given_here, by), f"other elements {by} chronons later"
        assert there.size() == here.size(), f"another size {by} chronons later"
        results += given_here
    return results


def results_of(case: Case, events: Iterable[Event]) -> list[Element]:
    """The results of an operator for some events, and for the ends of its streams."""
    operator = case.operator()
    results = [element for event in events for element in take(case, operator, event)]
    return results + [
        element for name in case.sources for element in take(case, operator, ("end", name, None))
    ]


def take(case: Case, operator: Operator, event: Event) -> list[Element]:
    """The results of an operator for one event on the port of a stream."""
    kind, name, what = event
    port = list(case.sources).index(name)
    return operator.end(port) if kind == "end" else getattr(operator, kind)(port, what)
