"""The work as Bytewax dataflows: the state of a key in a stateful step, which is how Bytewax spreads work."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource, run_main

from midstream.plans.streams import Element
from midstream.scenarios.bench.item import KeyedState, Tagged, Workload


class _Logic(op.StatefulBatchLogic):  # type: ignore[misc]
    """One key's state as Bytewax wants it."""

    def __init__(self, state: KeyedState) -> None:
        self._state = state

    def on_batch(self, values: list[Tagged]) -> tuple[list[Element], bool]:
        """Elements of the key arrived."""
        return self._state.push(values), False

    def on_eof(self) -> tuple[list[Element], bool]:
        """No more will come."""
        return self._state.finish(), False

    def snapshot(self) -> KeyedState:
        """What would be saved for recovery."""
        return deepcopy(self._state)


def run_bytewax(workload: Workload, tagged: Sequence[Tagged], batch_size: int) -> list[Any]:
    """Run one dataflow on one worker over the elements of all streams in order of time."""
    results: list[Any] = []
    flow = Dataflow("benchmark")
    arrived = op.input("elements", flow, TestingSource(tagged, batch_size * len(workload.streams)))
    item, span = workload.item, workload.span
    if item.window is None:
        done = op.flat_map_batch("work", arrived, item.state(span).push)
    else:
        key_of = item.key

        def with_key(batch: list[Tagged]) -> list[tuple[str, Tagged]]:
            return [(str(key_of(tagged[1][2])), tagged) for tagged in batch]

        keyed = op.flat_map_batch("key", arrived, with_key)
        done = op.stateful_batch("work", keyed, lambda _: _Logic(item.state(span)))
    op.output("results", done, TestingSink(results))
    run_main(flow)
    return results


def as_elements(workload: Workload, results: list[Any]) -> list[Element]:
    """Results without the keys that Bytewax puts before them."""
    return results if workload.item.window is None else [element for _, element in results]
