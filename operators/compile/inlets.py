"""The short way of a single element: from where its stream enters to the sinks, in one generated function.

Latency wants batches of one, and then every call that is not made counts. What is unusual takes the way of
all batches: more than one element, an element that a quick look does not find sound or in order, a stream
that may be out of order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from midstream.operators.compile.generated import define
from midstream.operators.compile.routes import Circuit, Route, indented
from midstream.operators.engine.entrance import ELEMENTS, Entrance
from midstream.operators.engine.ways import Way
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Node
from midstream.plans.values.arguments import listed
from midstream.plans.values.streams import Batch, Time

Inlet = Callable[[Iterable[Any]], None]
"""Takes what arrives on a stream."""

Process = Callable[[Way, Batch, Time, bool], None]
"""Takes what arrives at the beginning of a way, and the progress behind it; and whether it is one element."""

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
        process(way, *push(batch), False)
        return
    manager.progress = p0 = start
    entrance.last = e0 = element
    {body}
"""


def compile_inlet(
    way: Way, entrance: Entrance, process: Process, settle: Callable[[], None], waiting: Sequence[Node]
) -> Inlet:
    """The inlet of a stream. `process` is the way of all batches; `settle` is to be called when something is
    `waiting`, which only what comes through a Box can bring about."""
    names: dict[str, Any] = {
        "way": way,
        "entrance": entrance,
        "manager": entrance.manager,
        "push": entrance.push,
        "process": process,
        "listed": listed,
        "ELEMENTS": ELEMENTS,
        "FOREVER": float("inf"),
    }
    circuit = way.short()
    if circuit is None:
        body = ["process(way, batch, p0, True)"]
    else:
        body = _inlined(way, circuit, names)
        if any(isinstance(node.operator, Boxed) for node in circuit.operators):
            names |= {"settle": settle, "waiting": waiting}
            body += ["if waiting:", "    settle()"]
    unpack = f"{entrance.columns}= row" if entrance.columns else "pass"
    source = _INLET.format(
        unpack=unpack,
        tests=" and ".join(entrance.tests),
        floats=entrance.floats,
        body="\n    ".join(body),
    )
    inlet: Inlet = define(source, "inlet", names)
    return inlet


def _inlined(way: Way, circuit: Circuit, names: dict[str, Any]) -> list[str]:
    """The statements of a short way, down to the sinks."""
    route = Route(circuit, [0], is_single=True)
    names |= route.names
    body = ["way.reached = p0", "way.received += 1", *route.lines]
    for i, (node, sink) in enumerate(way.sinks(circuit)):
        if node in route.touched:
            names[f"sink{i}"] = sink
            call = f"sink{i}({route.batch(node)})"
            body += [call] if node in route.certain else [f"if {route.batch(node)}:", *indented([call])]
    return body
