"""What happens at the inputs of a simulated engine, in chronons of application time from 0 on, where the
scenario begins."""

from __future__ import annotations

from typing import Literal, NamedTuple

from midstream.plans.values.streams import Element

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
