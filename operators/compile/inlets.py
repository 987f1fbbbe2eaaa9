"""The short way of a single element: from where its stream enters to the sinks, in one generated function.

Latency wants batches of one, and then every call that is not made counts. What is unusual takes the way of
all batches: more than one element, an element that a quick look does not find sound or in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from midstream.operators.base.way import Stop
from midstream.operators.compile import legs
from midstream.operators.compile.generated import define
from midstream.operators.compile.routes import Route
from midstream.plans.algebra.plan import Node
from midstream.plans.values.finite import finite
from midstream.plans.values.streams import FOREVER, Batch

Inlet = Callable[[Iterable[Any]], None]
"""Takes what arrives on a stream."""


class Way(Protocol):
    """What is compiled of the way of a stream."""

    source: Stop
    stops: dict[Node, Stop]
    stream: str

    def sinks(self) -> Iterator[tuple[Stop, Callable[[Batch], object]]]:
        """Who gets results, in order, with the stops that they are of."""


class Entrance(Protocol):
    """What is compiled of the checks of a stream."""

    manager: Any
    tests: list[str]
    columns: str
    floats: str


_INLET = """
def inlet(elements):
    is_usual, integers = elements.__class__ is list and len(elements) == 1, False
    if is_usual:
        try:
            element, = elements
            start, end, row = element
            {unpack}
            is_usual = start >= manager.progress and {tests}
            if integers and is_usual:
                element = start, end, row = start, end, {floats}
        except Exception:  # whatever an odd value raises when it is looked at
            is_usual = False
    if not is_usual:
        take(elements)
        return
    manager.progress = p0 = start
    entrance.last = element
    way.reached = p0
    way.received += 1
    {body}
    if waiting:
        adopt_plans()
"""


def compile_inlet(
    way: Way, entrance: Entrance, take: Inlet, adopt_plans: Callable[[], None], waiting: Sequence[Node]
) -> Inlet | None:
    """The inlet of a stream that is in order; None where it reaches more than one function should hold.

    What is unusual is left to `take`. Behind an element `adopt_plans` is called when something is `waiting`.
    """
    if len(way.stops) > legs.LEG or len(sinks := list(way.sinks())) > legs.LEG:
        return None
    route = Route([way.source.number], list(way.stops.values()), set(), is_single=True)
    body = []
    if way.source.tap is not None:
        route.names["tap0"] = way.source.tap.see
        body.append("tap0(b0)")
    body += route.lines
    for nth, (stop, sink) in enumerate(sinks):
        i = route.name(stop.number)
        route.names[f"sink{nth}"] = sink
        is_certain = stop.number in route.certain
        body.append(f"sink{nth}(b{i})" if is_certain else f"if b{i}: sink{nth}(b{i})")
    if any("b0" in line for line in body):
        body.insert(0, "b0 = [element]")
    source = _INLET.format(
        unpack=f"{entrance.columns}= row" if entrance.columns else "pass",
        tests=" and ".join(entrance.tests),
        floats=entrance.floats,
        body="\n    ".join(body or ["pass"]),
    )
    names = route.names | {
        "way": way,
        "entrance": entrance,
        "manager": entrance.manager,
        "take": take,
        "adopt_plans": adopt_plans,
        "waiting": waiting,
        "finite": finite,
        "FOREVER": FOREVER,
    }
    try:
        inlet: Inlet = define(source, "inlet", names, f"way of {way.stream}, one element")
    except (SyntaxError, MemoryError, RecursionError):
        return None
    return inlet
