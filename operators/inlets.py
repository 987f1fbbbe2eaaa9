"""The short way of a single element: from where its stream enters to the sinks, in one generated function.

Latency wants batches of one, and then every call that is not made counts. What is unusual takes the way of
all batches: more than one element, an element that a quick look does not find sound or in order, a stream
that may be out of order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from midstream.operators.entrance import Entrance
from midstream.operators.generated import define
from midstream.operators.guest import Host
from midstream.operators.queries import Sink
from midstream.operators.routes import Circuit, Route, indented
from midstream.plans.streams import Batch, Time

Inlet = Callable[[Iterable[Any]], None]
"""Takes what arrives on a stream."""

_INLET = """
def inlet(elements):
    batch = elements if elements.__class__ is list else list(elements)
    is_usual = len(batch) == 1
    if is_usual:
        try:
            element, = batch
            start, end, row = element
            {unpack}
            is_usual = start >= manager.progress and {tests}
        except Exception:  # whatever an odd value raises when it is looked at
            is_usual = False
    if not is_usual:
        process({port}, *push(batch))
        return
    manager.progress = p{port} = start
    entrance.last = e{port} = element
    {body}
"""


def compile_inlet(
    circuit: Circuit,
    port: int,
    entrance: Entrance,
    sinks: Sequence[tuple[int, list[Sink]]],
    process: Callable[[int, Batch, Time], None],
    hosts: Sequence[Host],
    settle: Callable[[], None],
) -> Inlet:
    """The inlet of a stream. `sinks` are those of each output of the circuit; `process` is the way of all
    batches; `settle` is to be called once a Box of the hosts has become a plan."""
    route = Route(circuit, port, is_single=True)
    outputs = list(circuit.plan.outputs.values())
    names = route.names | {
        "entrance": entrance,
        "manager": entrance.manager,
        "push": entrance.push,
        "process": process,
        "FOREVER": float("inf"),
    }
    body = list(route.lines)
    for output, listeners in sinks:
        node = outputs[output]
        if node in route.touched:
            names |= {f"sink{output}_{i}": sink for i, sink in enumerate(listeners)}
            calls = [f"sink{output}_{i}({route.batch(node)})" for i in range(len(listeners))]
            is_certain = node in route.certain
            body += calls if is_certain or not calls else [f"if {route.batch(node)}:", *indented(calls)]
    if hosts:
        names |= {"settle": settle, **{f"host{i}": host for i, host in enumerate(hosts)}}
        body += [f"if {' or '.join(f'host{i}.is_plan' for i in range(len(hosts)))}:", "    settle()"]
    unpack = f"{entrance.columns}= row" if entrance.columns else "pass"
    source = _INLET.format(
        unpack=unpack, tests=" and ".join(entrance.tests), port=port, body="\n    ".join(body)
    )
    inlet: Inlet = define(source, "inlet", names)
    return inlet
