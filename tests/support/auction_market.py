"""The auction workload event by event: the market itself, which the vectorised generator is compared with.

Persons, open auctions and their prices are kept; nothing is drawn in blocks. Source and parameters are those
of `midstream.scenarios.streams.nexmark.generator`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate
from random import Random

from midstream.scenarios.streams.nexmark.workload import (
    CITIES,
    FIRST_NAMES,
    LAST_NAMES,
    AuctionEvent,
    AuctionWorkload,
)


def market(workload: AuctionWorkload) -> Iterator[AuctionEvent]:
    """The events of a workload in order of time, without end."""
    house = _AuctionHouse(workload)
    yield from house.open()
    while True:
        yield from house.round()


@dataclass(slots=True)
class _OpenAuction:
    seller: int
    price: int
    bidder: int | None = None


class _AuctionHouse:
    """The state of the market: persons, open auctions with their prices, and the time."""

    def __init__(self, workload: AuctionWorkload) -> None:
        self._workload = workload
        self._random = Random(workload.seed)
        self._now = workload.start
        self._persons = 0
        self._auctions = 0
        self._open: dict[int, _OpenAuction] = {}
        self._ends: list[tuple[int, int]] = []
        self._open_in_block: Counter[int] = Counter()
        self._blocks: list[int] = []
        weights = [1 / rank**workload.zipf_exponent for rank in range(1, workload.block + 1)]
        self._cumulated_weights = list(accumulate(weights))
        # One order for all seeds, shuffled so that the popular auctions of a block are not its oldest ones.
        self._ranked = list(range(workload.block))
        Random(0).shuffle(self._ranked)

    def open(self) -> Iterator[AuctionEvent]:
        """The persons and auctions at the start."""
        for _ in range(self._workload.initial_persons):
            yield self._person()
        for _ in range(self._workload.initial_auctions):
            yield self._auction()

    def round(self) -> Iterator[AuctionEvent]:
        """One round: perhaps a person, then auctions, bids, and closings in the meantime."""
        workload, random = self._workload, self._random
        if random.random() < workload.person_probability:
            yield from self._pass_time()
            yield self._person()
        yield from self._pass_time()
        for _ in range(random.randint(*workload.auctions_per_round)):
            yield self._auction()
        yield from self._pass_time()
        bids = random.randint(*workload.bids_per_round)
        if self._open:
            for _ in range(bids):
                yield self._bid()

    def _pass_time(self) -> Iterator[AuctionEvent]:
        self._now += self._random.randint(*self._workload.step)
        while self._ends and self._ends[0][0] <= self._now:
            end, item = heappop(self._ends)
            yield self._closing(end, item)

    def _person(self) -> AuctionEvent:
        random, number = self._random, self._persons
        self._persons += 1
        first, last = random.choice(FIRST_NAMES), random.choice(LAST_NAMES)
        city, state = random.choice(CITIES)
        email = f"{first}.{last}.{number}@example.org".lower()
        return "person", self._now, (number, f"{first} {last}", email, city, state)

    def _auction(self) -> AuctionEvent:
        workload, random, item = self._workload, self._random, self._auctions
        self._auctions += 1
        seller = random.randrange(self._persons)
        price = random.randint(*workload.start_price)
        reserve = round(price * (2.2 + random.random())) if random.random() < 0.5 else None
        quantity = random.randint(*workload.quantity)
        kind = random.choice(("Regular", "Featured"))
        if quantity > 1 and random.random() < 0.5:
            kind += ", Dutch"
        end = self._now + random.randint(*workload.duration)
        category, is_private = random.randrange(workload.categories), random.random() < 0.5
        self._open[item] = _OpenAuction(seller, price)
        heappush(self._ends, (end, item))
        block = item // workload.block
        if not self._open_in_block[block]:
            self._blocks.append(block)
        self._open_in_block[block] += 1
        return "auction", self._now, (item, seller, category, price, reserve, quantity, kind, is_private, end)

    def _bid(self) -> AuctionEvent:
        item, random = self._popular(), self._random
        auction = self._open[item]
        auction.price += random.randint(*self._workload.raise_by)
        auction.bidder = random.randrange(self._persons)
        return "bid", self._now, (item, auction.bidder, auction.price)

    def _popular(self) -> int:
        """An open auction: in any block, by its popularity; drawn again if it is not open."""
        size, random = self._workload.block, self._random
        while True:
            (place,) = random.choices(self._ranked, cum_weights=self._cumulated_weights)
            item = random.choice(self._blocks) * size + place
            if item in self._open:
                return item

    def _closing(self, end: int, item: int) -> AuctionEvent:
        auction = self._open.pop(item)
        block = item // self._workload.block
        self._open_in_block[block] -= 1
        if not self._open_in_block[block]:
            del self._open_in_block[block]
            self._blocks.remove(block)
        price = None if auction.bidder is None else auction.price
        return "closed_auction", end, (item, auction.seller, auction.bidder, price)
