"""The work as streamz pipelines of single elements, with states by key in an accumulation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from streamz import Stream

from midstream.benchmarks.item import State, Tagged, Workload
from midstream.plans.values.streams import Element

States = dict[Hashable, State]


def run_streamz(workload: Workload, tagged: Sequence[Tagged]) -> list[Element]:
    """Emit the elements of all streams in order of time, one by one."""
    results: list[Element] = []
    states: States = {}
    source = Stream()
    sink = _pipeline(source, workload, states).sink(results.append)
    emit = source.emit
    for element in tagged:
        emit(element)
    for state in states.values():
        results += state.finish()
    sink.destroy()
    return results


def _pipeline(source: Stream, workload: Workload, states: States) -> Stream:
    if workload.item.window is None:
        return source.filter(_is_even).map(_doubled)
    key_of, make, span = workload.item.key, workload.item.state, workload.span

    def step(states: States, tagged: Tagged) -> tuple[States, list[Element]]:
        key = key_of(tagged[1][2])
        state = states.get(key)
        if state is None:
            state = states[key] = make(span)
        return states, state.push((tagged,))

    return source.accumulate(step, start=states, returns_state=True).flatten()


def _is_even(tagged: Tagged) -> bool:
    return tagged[1][2][1] % 2 == 0  # type: ignore[no-any-return]


def _doubled(tagged: Tagged) -> Element:
    start, end, (key, value) = tagged[1]
    return start, end, (key, value * 2)
