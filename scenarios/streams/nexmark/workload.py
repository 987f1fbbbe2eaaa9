"""A seeded generator of the NEXMark auction workload: persons register, open auctions, and bid on them.

    person           id, name, email, city, state
    auction          item, seller, category, start_price, reserve, quantity, kind, is_private, ends
    bid              item, bidder, price
    closed_auction   item, seller, buyer, price

The mix is that of the original generator: some persons and auctions at the start; then rounds, each with
perhaps a person, then 0 to 2 auctions, then 0 to 19 bids. The clock moves once before each of the three
groups, so that the bids of a round share a timestamp. Which auction a bid goes to is skewed within blocks of
auctions of about the same age; a bid raises the auction's price. The closings are derived from the auctions'
ends.

Timestamps and durations are seconds, prices are dollars.

Source   Tucker, Tufte, Papadimos, Maier: NEXMark. A Benchmark for Queries over Data Streams, and the
         parameters of its generator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.schema import Schema

PERSON = Schema.of(id="integer", name="string", email="string", city="string", state="string")
AUCTION = Schema.of(
    item="integer",
    seller="integer",
    category="integer",
    start_price="integer",
    reserve="integer?",
    quantity="integer",
    kind="string",
    is_private="boolean",
    ends="integer",
)
BID = Schema.of(item="integer", bidder="integer", price="integer")
CLOSED_AUCTION = Schema.of(item="integer", seller="integer", buyer="integer?", price="integer?")

SCHEMAS: Mapping[str, Schema] = {
    "person": PERSON,
    "auction": AUCTION,
    "bid": BID,
    "closed_auction": CLOSED_AUCTION,
}
"""The streams by name."""

Row = tuple[int, tuple[Any, ...]]
"""A timestamp in seconds and a payload."""

AuctionEvent = tuple[str, int, tuple[Any, ...]]
"""A stream's name, a timestamp in seconds and a payload."""

Range = tuple[int, int]
"""The least and the greatest of integers that are equally likely."""

HOUR = 3600
"""Seconds."""


class WorkloadError(MidstreamError):
    """A parameter of a generated workload is outside of its range."""


@dataclass(frozen=True, slots=True)
class AuctionWorkload:
    """The parameters of the generator.

    The defaults are those of the original, except `seed`, and `step`, whose original value is unknown.

    Raises   WorkloadError, naming the parameter, the value found and the expected range.
    """

    seed: int = 1
    """Equal seeds, and otherwise equal parameters, give equal events."""

    start: int = 0
    """Seconds: when the first persons and auctions appear."""

    step: Range = (1, 19)
    """Seconds by which the clock moves before each group of events."""

    initial_persons: int = 50
    initial_auctions: int = 50

    person_probability: float = 0.1
    """The probability that a person registers in a round."""

    auctions_per_round: Range = (0, 2)
    bids_per_round: Range = (0, 19)

    duration: Range = (2 * HOUR, 26 * HOUR - 1)
    """Seconds that an auction is open."""

    start_price: Range = (1, 200)
    """Dollars."""

    raise_by: Range = (1, 25)
    """Dollars by which a bid exceeds the price so far."""

    categories: int = 303
    """Categories are numbered from 0."""

    quantity: Range = (1, 10)
    """Things in an auction."""

    block: int = 100
    """Auctions of consecutive numbers among which popularity is skewed."""

    zipf_exponent: float = 0.3
    """In a block, the r-th most popular auction gets bids in proportion to 1 / r**zipf_exponent."""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            _require_at_least(least, name, getattr(self, name))
        if not 0 <= self.person_probability <= 1:
            raise _refusal("person_probability", self.person_probability, "a number from 0 to 1")
        if not 0 <= self.zipf_exponent <= 2:
            # Beyond, it takes too many draws to hit the last open auction of a block.
            raise _refusal("zipf_exponent", self.zipf_exponent, "a number from 0 to 2")
        if self.step[1] == 0:
            # Without a step, time would stand still, and no auction would close.
            raise _refusal("step", self.step, "a greatest step of 1 or more")
        if self.auctions_per_round[1] == 0 and self.person_probability == 0:
            # Once all auctions are closed, the generator would go on for ever without an event.
            raise _refusal(
                "auctions_per_round", self.auctions_per_round, "some, as no person registers either"
            )


LEAST: Mapping[str, int] = {
    "step": 0,
    "initial_persons": 1,
    "initial_auctions": 0,
    "auctions_per_round": 0,
    "bids_per_round": 0,
    "duration": 1,
    "start_price": 0,
    "raise_by": 1,
    "categories": 1,
    "quantity": 1,
    "block": 1,
}
"""The least value of each parameter that has no other bounds."""


def take(events: Iterable[AuctionEvent], count: int) -> list[AuctionEvent]:
    """The first events of a workload."""
    return list(islice(events, count))


def by_stream(events: Iterable[AuctionEvent]) -> dict[str, list[Row]]:
    """Events as one complete raw stream for each name, in the same order; streams without an event are empty.

    >>> by_stream([("bid", 7, (0, 1, 12)), ("person", 9, (1,)), ("bid", 9, (0, 2, 15))])["bid"]
    [(7, (0, 1, 12)), (9, (0, 2, 15))]
    """
    streams: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
    for name, time, payload in events:
        streams[name].append((time, payload))
    return streams


def _require_at_least(least: int, name: str, value: float | Range) -> None:
    if isinstance(value, tuple):
        if not least <= value[0] <= value[1]:
            raise _refusal(name, value, f"a least and a greatest number, {least} or more, in this order")
    elif value < least:
        raise _refusal(name, value, f"{least} or more")


def _refusal(name: str, value: float | Range, expected: str) -> WorkloadError:
    return WorkloadError(f"{name}: found {value}, expected {expected}", parameter=name, value=value)


FIRST_NAMES = ("Ada", "Bruno", "Carla", "Dario", "Elif", "Femi", "Greta", "Hugo", "Irene", "Jonas", "Vera")
LAST_NAMES = ("Berg", "Costa", "Dietz", "Eriks", "Falk", "Lund", "Moreau", "Okafor", "Silva")
CITIES = (
    ("Phoenix", "AZ"),
    ("Tucson", "AZ"),
    ("Fresno", "CA"),
    ("Oakland", "CA"),
    ("Boise", "ID"),
    ("Eugene", "OR"),
    ("Portland", "OR"),
    ("Spokane", "WA"),
    ("Tacoma", "WA"),
    ("Cheyenne", "WY"),
)
