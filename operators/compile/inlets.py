"""Inlets: the path of a single element from its stream's entrance to the sinks, as one generated function.

Low latency needs batches of one element, and then every call that is avoided counts. Unusual input takes the
path of all batches: more than one element, or an element that a quick check does not find sound and in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from midstream.operators.base.failures import Failures
from midstream.operators.base.walk import Stop, Take
from midstream.operators.compile import legs
from midstream.operators.compile.checks import Checks
from midstream.operators.compile.generated import TOO_DEEP, define
from midstream.operators.compile.routes import Route
from midstream.plans.values.finite import finite
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

FULL = 512
"""The number of elements from which on a mark is full, if its elements are passed on before a look."""

Inlet = Callable[[Iterable[Any]], None]
"""A function that takes the elements of a stream."""


class Mark:
    """The elements of a stream that a watch has noted, for quick additions."""

    __slots__ = ("append", "elements", "is_passed_on", "limit")

    def __init__(self, *, is_passed_on: bool = False) -> None:
        self.elements: Batch = []
        """The elements from the last look on that have not been passed on; always the same list."""
        self.is_passed_on = is_passed_on
        """True if elements are passed on before a look."""
        self.append: Callable[[Element], object] = self.elements.append
        self.limit: Time = BEGINNING
        """The start before which an element is only added: the next look; no start while none is planned."""

    def first(self, number: int) -> Batch:
        """Take the first elements away."""
        found = self.elements[:number]
        del self.elements[:number]
        return found


_INLET = """
def inlet(elements):
    is_usual, integers = elements.__class__ is list and len(elements) == 1, False
    if is_usual:
        try:
            element, = elements
            start, end, row = element
            {unpack}
            is_usual = start >= manager.progress and {watched}{sound}
            if integers and is_usual:
                element = start, end, row = start, end, {floats}
        except Exception:  # an odd value may raise anything when it is checked
            is_usual = False
    if not is_usual:
        take(elements)
        return
    manager.progress = p0 = start
    entrance.last = element
    path.reached = p0
    path.emitted += 1
    {noted}{body}
    if waiting:
        adopt_plans()
"""


def compile_inlet(
    source: Stop,
    stops: Sequence[Stop],
    sinks: Sequence[tuple[Stop, Take]],
    checks: Checks,
    names: Mapping[str, object],
    failures: Failures,
    marks: Sequence[Mark] = (),
    *,
    is_timed: bool = False,
) -> Inlet | None:
    """The inlet of a stream that is in order; None where it reaches more stops than one function should hold.

    `names` has the stream's `path`, `entrance` and `manager`; `take`, for unusual elements; and
    `adopt_plans`, which is called behind an element when something is `waiting`. The `marks` belong to the
    watches of the stream: an element that starts at or behind their limits, or finds a full one, is unusual.
    If the stream `is_timed`, so is an element that starts at or after `entrance.usual_until`.
    """
    if len(stops) > legs.LEG or len(sinks) > legs.LEG:
        return None
    route = Route([source.number], stops, set(), failures, is_single=True)
    body = []
    if source.tap is not None:
        route.names["tap0"] = source.tap.see
        body.append("tap0(b0)")
    body += route.lines
    for nth, (stop, sink) in enumerate(sinks):
        i = route.name(stop.number)
        route.names[f"sink{nth}"] = sink
        call = f"sink{nth}(b{i})" if stop.number in route.certain else f"if b{i}: sink{nth}(b{i})"
        body += ["try:", f"    {call}", "except Exception as error:", "    failures.add(error)"]
    if any("b0" in line for line in body):
        body.insert(0, "b0 = [element]")
    (stream,) = source.streams
    text = _INLET.format(
        unpack=checks.unpack,
        sound=checks.sound,
        floats=checks.floats,
        body="\n    ".join(body or ["pass"]),
        watched="".join(
            f"start < mark{i}.limit and {f'len(held{i}) < {FULL} and ' if mark.is_passed_on else ''}"
            for i, mark in enumerate(marks)
        )
        + ("start < entrance.usual_until and " if is_timed else ""),
        noted="".join(f"mark{i}.append(element)\n    " for i in range(len(marks))),
    )
    route.names |= {f"mark{i}": mark for i, mark in enumerate(marks)}
    route.names |= {f"held{i}": mark.elements for i, mark in enumerate(marks)}
    route.names |= {**names, "finite": finite, "FOREVER": FOREVER}
    try:
        inlet: Inlet = define(text, "inlet", route.names, f"path of {stream}, one element")
    except TOO_DEEP:
        return None
    return inlet
