"""The short way of a single element: from where its stream enters to the sinks, in one generated function.

Latency wants batches of one, and then every call that is not made counts. What is unusual takes the way of
all batches: more than one element, an element that a quick look does not find sound or in order, a stream
that may be out of order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from midstream.operators.compile import legs
from midstream.operators.compile.generated import define
from midstream.operators.compile.routes import Route
from midstream.operators.engine.entrance import ELEMENTS, Entrance
from midstream.operators.engine.ways import Way
from midstream.plans.values.arguments import listed
from midstream.plans.values.finite import finite
from midstream.plans.values.streams import FOREVER, Batch, Time

Inlet = Callable[[Iterable[Any]], None]
"""Takes what arrives on a stream."""

Process = Callable[[Way, Batch, Time], None]
"""Takes what arrives at the beginning of a way, and the progress behind it."""

_INLET = """
def inlet(elements):
    batch = elements if elements.__class__ is list else listed("push", elements, ELEMENTS)
    is_usual, integers = len(batch) == 1, False
    if is_usual:
        try:
            element, = batch
            start, end, row = element
            {unpack}
            is_usual = start >= manager.progress and {tests}
            if integers and is_usual:
                element = start, end, row = start, end, {floats}
                batch = [element]
        except Exception:  # whatever an odd value raises when it is looked at
            is_usual = False
    if not is_usual:
        process(way, *push(batch))
        return
    manager.progress = p0 = start
    entrance.last = element
    b0 = [element]
    {body}
"""


def compile_inlet(
    way: Way, entrance: Entrance, process: Process, adopt_plans: Callable[[], None], waiting: Sequence[Any]
) -> Inlet | None:
    """The inlet of a stream; None where the stream may be out of order, or reaches more than one function
    should hold. `process` is the way of all batches; `adopt_plans` is called behind an element when something
    is `waiting`."""
    if not entrance.manager.is_plain or entrance.source.intervals or len(way.stops) > legs.LEG:
        return None
    sinks = list(way.sinks())
    if len(sinks) > legs.LEG:
        return None
    route = Route([way.source.number], list(way.stops.values()), set(), is_single=True)
    body = ["way.reached = p0", "way.received += 1"]
    if way.source.tap is not None:
        route.names["tap0"] = way.source.tap.see
        body.append("tap0(b0)")
    body += route.lines
    for nth, (stop, sink) in enumerate(sinks):
        i = route.name(stop.number)
        route.names[f"sink{nth}"] = sink
        is_certain = stop.number in route.certain
        body.append(f"sink{nth}(b{i})" if is_certain else f"if b{i}: sink{nth}(b{i})")
    body += ["if waiting:", "    adopt_plans()"]
    unpack = f"{entrance.columns}= row" if entrance.columns else "pass"
    source = _INLET.format(
        unpack=unpack,
        tests=" and ".join(entrance.tests),
        floats=entrance.floats,
        body="\n    ".join(body),
    )
    names = {
        "way": way,
        "entrance": entrance,
        "manager": entrance.manager,
        "push": entrance.push,
        "process": process,
        "adopt_plans": adopt_plans,
        "waiting": waiting,
        "listed": listed,
        "ELEMENTS": ELEMENTS,
        "finite": finite,
        "FOREVER": FOREVER,
    }
    try:
        inlet: Inlet = define(source, "inlet", route.names | names, f"way of {way.stream}, one element")
    except (SyntaxError, MemoryError, RecursionError):
        return None
    return inlet
