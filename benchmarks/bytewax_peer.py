"""The work as Bytewax dataflows: each key's state in a stateful step, as Bytewax distributes work."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import TestingSink, TestingSource, run_main

from midstream.benchmarks.item import Emit, Tagged, Workload
from midstream.plans.values.streams import Element, Payload


class _Logic(op.StatefulBatchLogic):  # type: ignore[misc]
    """The state of one key, in the form that Bytewax needs."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def on_batch(self, values: list[Tagged]) -> tuple[list[Any], bool]:
        """Take elements of the key."""
        return self._state.push(values), False

    def on_eof(self) -> tuple[list[Any], bool]:
        """Finish after the last element."""
        return self._state.finish(), False

    def snapshot(self) -> Any:
        """A copy of the state, for recovery."""
        return deepcopy(self._state)


def run_bytewax(workload: Workload, tagged: Sequence[Tagged], batch_size: int) -> list[Any]:
    """Run one dataflow on one worker over the elements of all streams in order of time."""
    results: list[Any] = []
    item, span = workload.item, workload.span
    key = None if item.window is None else item.key
    size = batch_size * len(workload.streams)
    run_dataflow(tagged, size, key, lambda: item.state(span), TestingSink(results))
    return results


def run_dataflow(
    tagged: Sequence[Tagged],
    batch_size: int,
    key_of: Callable[[Payload], Hashable] | None,
    make: Callable[[], Any],
    sink: Any,
) -> None:
    """Run one dataflow on one worker, with a state for each key.

    Without keys, all elements have one state, and results no keys.
    """
    flow = Dataflow("benchmark")
    arrived = op.input("elements", flow, TestingSource(tagged, batch_size))
    if key_of is None:
        done = op.flat_map_batch("work", arrived, make().push)
    else:

        def with_key(batch: list[Tagged]) -> list[tuple[str, Tagged]]:
            return [(str(key_of(tagged[1][2])), tagged) for tagged in batch]

        keyed = op.flat_map_batch("key", arrived, with_key)
        done = op.stateful_batch("work", keyed, lambda _: _Logic(make()))
    op.output("results", done, sink)
    run_main(flow)


class _Emitting(StatelessSinkPartition):  # type: ignore[misc]
    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def write_batch(self, items: list[Any]) -> None:
        """Emit results."""
        self._emit(items)


class EmittingSink(DynamicSink):  # type: ignore[misc]
    """Hands each batch of results to a function."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def build(self, step_id: str, worker_index: int, worker_count: int) -> _Emitting:
        """The sink of the one worker."""
        return _Emitting(self._emit)


def as_elements(workload: Workload, results: list[Any]) -> list[Element]:
    """Results without the keys that Bytewax puts before them."""
    return results if workload.item.window is None else [element for _, element in results]
