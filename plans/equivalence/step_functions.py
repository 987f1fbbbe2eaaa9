"""The specification of plans, evaluated only at the instants at which snapshots change.

A plan becomes a step function from time to snapshot. `specification` evaluates every instant, which works for
small numbers only: a window of an hour in milliseconds has 3.6 million instants, of which perhaps six bring a
change. A property test checks that both agree on every input that both can evaluate.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import merge
from itertools import pairwise

from midstream.plans.algebra.operators import (
    Counting,
    Dstream,
    Granularity,
    Istream,
    Leaf,
    Sample,
    Snapshot,
    TimeWindow,
)
from midstream.plans.algebra.operators.base import Row
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.specification import meaning, timestamped_rows
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Element, Payload, Time

Steps = list[tuple[Time, Snapshot]]
"""The starts and snapshots of steps.

The first step starts at the beginning of time; each step lasts until the next one.
"""

MOST_ROWS = 1000
"""Most timestamped rows below a window; a row that is valid for n chronons counts n times."""


class TooLongError(MidstreamError):
    """A row below a window is valid for too long: it counts as a row at each of its instants."""


class StepFunctions:
    """The meaning of a plan as step functions, for many inputs; expressions are compiled once.

        steps(plan, S)@t  =  snapshots(plan, S)[t]       at every instant t

    Cost     O(changes × operators × snapshot) for each input, independent of the sizes of windows.

    >>> from midstream.plans.algebra.builder import stream
    >>> functions = StepFunctions(stream("s", x="integer").window(3_600_000).distinct().plan())
    >>> functions.of({"s": [(0, 1, (7,)), (5, 6, (7,))]})
    {'out': {(7,): ((0, 3600005, 1),)}}
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rules: dict[Node, Callable[..., Steps]] = {
            node: _rule(node) for node in plan.nodes if not isinstance(logical(node), Leaf | Counting)
        }

    def of(
        self, streams: Mapping[str, Sequence[Element]], computed: dict[Node, Steps] | None = None
    ) -> dict[str, NormalForm]:
        """The normal form of every output.

        `computed` holds the steps of nodes that are already computed for these streams; new ones are added.

        Raises   TooLongError; TieError as in the specification; and the errors of expressions.
        """

        def elements(leaf: Node, label: str) -> list[Element]:
            return list(streams.get(label, ()))

        result = {} if computed is None else computed
        for node in self._plan.nodes:
            if node in result:
                continue
            operator = logical(node)
            if isinstance(operator, Leaf):
                result[node] = _of_elements(elements(node, operator.label))
            elif isinstance(operator, Counting):
                rows = timestamped_rows(node.inputs[0], elements, lambda below: _rows(result[below]))
                result[node] = _count_window(operator, rows, node.schema)
            else:
                result[node] = self._rules[node](*(result[child] for child in node.inputs))
        return {output: normal_form(_elements(result[root])) for output, root in self._plan.outputs.items()}


def _rule(node: Node) -> Callable[..., Steps]:
    """The function from the step functions of an operator's inputs to its own."""
    operator = logical(node)
    match operator:
        case TimeWindow(size, slide):
            return lambda steps: _window(steps, size, slide)
        case Sample():
            return partial(_sample, operator)
        case Granularity(granule):
            return lambda steps: _joined((_next(t, granule), snapshot) for t, snapshot in steps)
        case Istream():
            return lambda steps: _changes(steps, lambda before, after: after - before)
        case Dstream():
            return lambda steps: _changes(steps, lambda before, after: before - after)
    at = meaning(node)
    return lambda *inputs: _pointwise(at, inputs)


def _of_elements(elements: Iterable[Element]) -> Steps:
    changes: dict[Time, list[tuple[Payload, int]]] = {}
    for start, end, payload in elements:
        changes.setdefault(start, []).append((payload, 1))
        changes.setdefault(end, []).append((payload, -1))
    numbers: dict[Payload, int] = {}
    steps: Steps = [(BEGINNING, Counter())]
    for time in sorted(changes):
        for payload, change in changes[time]:
            numbers[payload] = numbers.get(payload, 0) + change
        # Filled row by row: constructing or copying a Counter takes ten times as long.
        snapshot: Snapshot = Counter()
        for payload, number in numbers.items():
            if number:
                snapshot[payload] = number
        steps.append((time, snapshot))
    return _joined(steps)


def _elements(steps: Steps) -> Iterator[Element]:
    for (start, snapshot), (end, _) in pairwise([*steps, (FOREVER, Counter[Payload]())]):
        for payload, number in snapshot.items():
            yield from [(start, end, payload)] * number


def _joined(steps: Iterable[tuple[Time, Snapshot]]) -> Steps:
    """Drop all but the last of several steps at one instant, and steps without a change."""
    result: Steps = []
    for time, snapshot in steps:
        if result and result[-1][0] == time:
            result.pop()
        if (not result or not dict.__eq__(result[-1][1], snapshot)) and time != FOREVER:
            result.append((time, snapshot))
    return result


def _pointwise(at: Callable[..., Snapshot], inputs: Sequence[Steps]) -> Steps:
    """(10.2): the relational operator, at every instant."""
    times = [[time for time, _ in steps] for steps in inputs]
    return _joined(
        (time, at(*(steps[bisect_right(own, time) - 1][1] for steps, own in zip(inputs, times, strict=True))))
        for time in dict.fromkeys(merge(*times))
    )


def _next(time: Time, granule: int) -> Time:
    """The first multiple of the granule at or after a time."""
    return time if time in (BEGINNING, FOREVER) else -(-int(time) // granule) * granule


def _changes(steps: Steps, difference: Callable[[Snapshot, Snapshot], Snapshot]) -> Steps:
    """(17.3), (17.4): the difference at each change, valid for one chronon."""
    result: Steps = [(BEGINNING, Counter())]
    for (_, before), (time, after) in pairwise(steps):
        result += [(time, difference(before, after)), (time + 1, Counter())]
    return _joined(result)


def _rows(steps: Steps) -> list[Row]:
    """The valid rows, once for each instant."""
    result: list[Row] = []
    for (start, snapshot), (end, _) in pairwise([*steps, (FOREVER, Counter[Payload]())]):
        number = snapshot.total()
        if number and (end - start) * number > MOST_ROWS - len(result):
            raise TooLongError(f"rows are valid from {start} to {end} below a window")
        if number:
            result += [(t, row) for t in range(int(start), int(end)) for row in snapshot.elements()]
    return result


def _sample(sample: Sample, steps: Steps) -> Steps:
    """The rows of each instant that are drawn."""
    of_row = sample.of_row()
    return _of_elements([(t, t + 1, made) for t, row in _rows(steps) for made in of_row(t, row)])


def _window(steps: Steps, size: int | None, slide: int) -> Steps:
    """(8.17), (17.1): the rows of a time window.

    A row of the instant t enters at the first advance at or after t. It leaves at the first advance at which
    t is `size` chronons ago.
    """
    elements: list[Element] = []
    for t, row in _rows(steps):
        start = -(-(t + 1) // slide) * slide - 1
        end = FOREVER if size is None else ((t + size) // slide + 1) * slide - 1
        if start < end:
            elements.append((start, end, row))
    return _of_elements(elements)


def _count_window(window: Counting, rows: list[Row], schema: Schema) -> Steps:
    """(8.18), (8.19), (17.2): the snapshot changes when a row arrives."""
    columns = window.grouped_by(schema)
    window.check_ties(rows, columns)
    groups: dict[Payload, list[Payload]] = {}
    steps: Steps = [(BEGINNING, Counter())]
    for time, row in rows:
        groups.setdefault(tuple(row[i] for i in columns), []).append(row)
        steps.append((time, window.shown(groups)))
    return _joined(steps)
