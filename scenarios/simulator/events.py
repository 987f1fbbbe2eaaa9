"""What happens at the inputs of a simulated engine.

    arrivals(name, spec, second, seed, duration)        of one stream, by the generators

gives `Arrival`s that do not go back in arrival time. All times are application time in chronons, counted from
0, where the scenario begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from midstream.plans.values.streams import Element

if TYPE_CHECKING:
    from midstream.scenarios.simulator.stream_spec import StreamSpec

Kind = Literal["element", "heartbeat", "end"]


class Arrival(NamedTuple):
    """Something arrives on a stream.

    at      when, in application time; at least the start of an element, or the time of a heartbeat
    what    the element; for a heartbeat the time before which no later element of the stream starts; None at
            the end, which comes once, last
    """

    at: int
    stream: str
    kind: Kind
    what: Element | int | None


class Arrivals(Protocol):
    """What generates the arrivals of a stream: the same ones for the same arguments.

    name        of the stream; its randomness depends on the seed and on this alone
    second      how many chronons a second has; rates are per second
    duration    of the scenario: no element starts there or later; what has started by then still arrives
    """

    def __call__(
        self, name: str, spec: StreamSpec, second: int, seed: int, duration: int
    ) -> Iterator[Arrival]: ...
