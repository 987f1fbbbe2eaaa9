"""The NEXMark auctions in parts: blocks of rounds, each made alone.

The events of a round are drawn from the number of its block alone: the steps of the clock, the numbers of
persons, auctions and bids, and their values. So numbers and times are sums over the rounds before, which are
cheap. A bid goes to an open auction. To know the open ones, the auctions of the last `duration` are made
again, and so are the bids on them, as each raises a price. Nothing older matters.

A bid goes to a block of auctions and a place in it, and is drawn again where that auction is not open. This
is done for all bids of a block of rounds at once, over the blocks of all auctions that may be open: bids that
are drawn again do not change the others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from midstream.scenarios.streams.nexmark.counters import drawer
from midstream.scenarios.streams.nexmark.workload import (
    CITIES,
    FIRST_NAMES,
    LAST_NAMES,
    AuctionEvent,
    AuctionWorkload,
)

Array = npt.NDArray[Any]

BLOCK = 4096
"""The rounds in a block: about a day of auctions, 47,000 events with the usual parameters."""

INITIAL = -1
"""The block of the persons and auctions that exist from the start."""


@dataclass(frozen=True)
class _Rounds:
    """The rounds of some blocks, with times in seconds and numbers that count from 0 in the whole stream.

    persons, auctions, bids                 how many come in each round
    person_time, auction_time, bid_time     when they come
    first_person, first_auction             the number of the first that comes in the round
    """

    persons: Array
    auctions: Array
    bids: Array
    person_time: Array
    auction_time: Array
    bid_time: Array
    first_person: Array
    first_auction: Array


@dataclass(frozen=True)
class _Auctions:
    """Auctions of consecutive numbers that begin with `first`."""

    first: int
    time: Array
    seller: Array
    category: Array
    start_price: Array
    reserve: Array
    quantity: Array
    kind: Array
    is_private: Array
    ends: Array

    def places(self, numbers: Array) -> Array:
        """The positions of auctions in the columns, by their numbers."""
        return numbers - self.first


@dataclass(frozen=True)
class _Bids:
    """Bids in order of time, and the price after each."""

    time: Array
    item: Array
    bidder: Array
    price: Array


KINDS = np.array(["Regular", "Regular, Dutch", "Featured", "Featured, Dutch"])


@dataclass(frozen=True)
class Columns:
    """Elements of one stream as columns, in order of time; masked values are unknown."""

    stream: str
    time: Array
    payload: Mapping[str, Array]


def generate(workload: AuctionWorkload | None = None) -> Iterator[AuctionEvent]:
    """Generate the events of a workload in order of time, without end.

    An auction's bids come after the auction and before its end, and their prices rise. Persons and items are
    numbered from 0 and come before they are referred to. While no auction is open, nobody bids. An auction's
    closing is stamped with its end; it has the last bidder as the buyer and the last price, both None where
    nobody bid.

    State    A block of events, some 47,000 with the usual parameters, and the auctions that may be open.
    Cost     O(1) per event, in blocks

    >>> one_of_each = AuctionWorkload(
    ...     step=(10, 10), initial_persons=1, initial_auctions=1, person_probability=1, duration=(70, 70),
    ...     auctions_per_round=(0, 0), bids_per_round=(1, 1), start_price=(100, 100), raise_by=(5, 5),
    ... )
    >>> from midstream.scenarios.streams.nexmark.workload import take
    >>> events = take(generate(one_of_each), 8)
    >>> [(stream, time, payload[-1]) for stream, time, payload in events if stream != "person"]
    [('auction', 0, 70), ('bid', 30, 105), ('bid', 60, 110), ('closed_auction', 70, 110)]
    """
    blocks = AuctionBlocks(AuctionWorkload() if workload is None else workload)
    for block in count():
        # Of one instant, auctions close before others open, and what is referred to comes first.
        parts = sorted(blocks.columns(block, block + 1), key=lambda one: one.stream != "closed_auction")
        made = [
            (one.stream, time, payload)
            for one in parts
            for time, payload in zip(
                one.time.tolist(), zip(*(c.tolist() for c in one.payload.values()), strict=True), strict=True
            )
        ]
        yield from sorted(made, key=lambda event: event[1])


class AuctionBlocks:
    """A workload of auctions, divided into blocks of rounds without end.

    The columns of some blocks are the same whichever blocks are made with them.

    Cost     O(events); making blocks alone costs those of the time before in which their auctions began
    """

    def __init__(self, workload: AuctionWorkload) -> None:
        self.workload = workload
        self._times = [workload.start]
        self._persons = [workload.initial_persons]
        self._numbers = [workload.initial_auctions]
        self._bids_of: dict[int, tuple[Array, Array, Array, Array]] = {}

    def columns(self, first: int, end: int) -> Iterator[Columns]:
        """Make the elements of some blocks, by stream: persons, auctions, bids, closed auctions."""
        self._sum_to(end)
        rounds = self._rounds(first, end)
        yield self._people(first, end, rounds)
        longest = self.workload.duration[1]
        # What ends at the beginning of a block has been closed by the block before, if there is one.
        since = self._times[first] if first else self.workload.start - 1
        earliest = self._block_at(self._times[first] - longest)
        auctions = self._auctions(self._block_at(self._times[earliest] - longest), end)
        bids = self._bids(earliest, end, auctions)
        new = auctions.places(np.arange(0 if first == 0 else self._numbers[first], self._numbers[end]))
        yield self._opened(auctions, new)
        here = sum(len(self._bids_of[block][0]) for block in range(earliest, first))
        columns = {name: getattr(bids, name)[here:] for name in ("item", "bidder", "price")}
        yield Columns("bid", bids.time[here:], columns)
        yield self._closed(auctions, bids, since, self._times[end])

    def _sum_to(self, block: int) -> None:
        """Know the time, the persons and the auctions at the beginning of all blocks up to this one.

        The first group of events of a block comes at its beginning or later.
        """
        for one in range(len(self._times) - 1, block):
            coins, steps, opened, _ = self._drawn(one)
            passed = int(steps[coins, 0].sum() + steps[:, 1:].sum())
            self._times.append(self._times[-1] + passed)
            self._persons.append(self._persons[-1] + int(coins.sum()))
            self._numbers.append(self._numbers[-1] + int(opened.sum()))

    def _block_at(self, time: int) -> int:
        """The block that holds a time; the first one if the time is before all."""
        return max(0, bisect_right(self._times, time) - 1)

    def _drawn(self, block: int) -> tuple[Array, Array, Array, Array]:
        """The draws of each round: if a person comes, the three steps, the numbers of auctions and bids."""
        w, random = self.workload, drawer(self.workload.seed, "nexmark", "rounds", block)
        coins = random.random(BLOCK) < w.person_probability
        steps = random.integers(w.step[0], w.step[1] + 1, (BLOCK, 3))
        auctions = random.integers(w.auctions_per_round[0], w.auctions_per_round[1] + 1, BLOCK)
        return coins, steps, auctions, random.integers(w.bids_per_round[0], w.bids_per_round[1] + 1, BLOCK)

    def _rounds(self, first: int, end: int) -> _Rounds:
        drawn = [self._drawn(block) for block in range(first, end)]
        coins, steps, auctions, bids = (np.concatenate(one) for one in zip(*drawn, strict=True))
        steps[~coins, 0] = 0
        times = self._times[first] + np.cumsum(steps.reshape(-1)).reshape(-1, 3)
        persons = coins.astype(np.int64)
        return _Rounds(
            persons,
            auctions,
            bids,
            times[:, 0],
            times[:, 1],
            times[:, 2],
            self._persons[first] + np.cumsum(persons) - persons,
            self._numbers[first] + np.cumsum(auctions) - auctions,
        )

    def _people(self, first: int, end: int, rounds: _Rounds) -> Columns:
        start = self.workload.start
        numbers = np.arange(0 if first == 0 else self._persons[first], self._persons[end])
        came = np.repeat(rounds.person_time, rounds.persons)
        times = np.concatenate([np.full(self.workload.initial_persons if first == 0 else 0, start), came])
        draws = []
        for block in [*([INITIAL] if first == 0 else []), *range(first, end)]:
            count = self._persons[0] if block == INITIAL else self._persons[block + 1] - self._persons[block]
            random = drawer(self.workload.seed, "nexmark", "persons", block + 1)
            sizes = (len(FIRST_NAMES), len(LAST_NAMES), len(CITIES))
            draws.append(np.stack([random.integers(size, size=count) for size in sizes], axis=1))
        rows = [
            (
                f"{FIRST_NAMES[a]} {LAST_NAMES[b]}",
                f"{FIRST_NAMES[a]}.{LAST_NAMES[b]}.{n}@example.org".lower(),
                *CITIES[c],
            )
            for n, (a, b, c) in zip(numbers.tolist(), np.concatenate(draws).tolist(), strict=True)
        ]
        texts = [np.array([row[i] for row in rows], object) for i in range(4)]
        columns = dict(zip(("name", "email", "city", "state"), texts, strict=True))
        return Columns("person", times, {"id": numbers, **columns})

    def _auctions(self, first: int, end: int) -> _Auctions:
        """The auctions of some blocks; with the first block, those that are there from the start."""
        w, blocks = self.workload, [*([INITIAL] if first == 0 else []), *range(first, end)]
        rounds = self._rounds(first, end)
        times = np.repeat(rounds.auction_time, rounds.auctions)
        people = np.repeat(rounds.first_person + rounds.persons, rounds.auctions)
        if first == 0:
            times = np.concatenate([np.full(w.initial_auctions, w.start), times])
            people = np.concatenate([np.full(w.initial_auctions, w.initial_persons), people])
        drawn = []
        for block in blocks:
            count = self._numbers[0] if block == INITIAL else self._numbers[block + 1] - self._numbers[block]
            random = drawer(w.seed, "nexmark", "auctions", block + 1)
            drawn.append(
                (
                    random.random(count),
                    random.integers(w.start_price[0], w.start_price[1] + 1, count),
                    np.where(random.random(count) < 0.5, 2.2 + random.random(count), np.nan),
                    random.integers(w.quantity[0], w.quantity[1] + 1, count),
                    random.integers(2, size=count),
                    random.random(count) < 0.5,
                    random.integers(w.duration[0], w.duration[1] + 1, count),
                    random.integers(w.categories, size=count),
                    random.random(count) < 0.5,
                )
            )
        shares, prices, reserve, quantity, kind, dutch, lasting, category, is_private = (
            np.concatenate(one) for one in zip(*drawn, strict=True)
        )
        return _Auctions(
            0 if first == 0 else int(self._numbers[first]),
            times,
            (shares * people).astype(np.int64),
            category,
            prices,
            np.rint(prices * reserve),
            quantity,
            2 * kind + (dutch & (quantity > 1)),
            is_private,
            times + lasting,
        )

    @staticmethod
    def _opened(auctions: _Auctions, new: Array) -> Columns:
        reserve = auctions.reserve[new]
        is_none = np.isnan(reserve)
        columns = {
            "item": new + auctions.first,
            "seller": auctions.seller[new],
            "category": auctions.category[new],
            "start_price": auctions.start_price[new],
            "reserve": np.ma.masked_array(np.where(is_none, 0, reserve).astype(np.int64), is_none),
            "quantity": auctions.quantity[new],
            "kind": KINDS[auctions.kind[new]],
            "is_private": auctions.is_private[new],
            "ends": auctions.ends[new],
        }
        return Columns("auction", auctions.time[new], columns)

    def _bids(self, first: int, end: int, auctions: _Auctions) -> _Bids:
        """The bids of some blocks; prices are right for auctions that begin in these blocks."""
        self._bids_of = {block: bids for block, bids in self._bids_of.items() if block >= first}
        for block in range(first, end):
            if block not in self._bids_of:
                self._bids_of[block] = self._block_bids(block, auctions)
        parts = [self._bids_of[block] for block in range(first, end)]
        time, item, bidder, raised = (np.concatenate(one) for one in zip(*parts, strict=True))
        order = np.argsort(item, kind="stable")
        sums, ordered = np.cumsum(raised[order]), item[order]
        is_new = np.ones(len(ordered), bool)
        is_new[1:] = ordered[1:] != ordered[:-1]
        before = np.maximum.accumulate(np.where(is_new, np.arange(len(ordered)), 0))
        base = sums[before] - raised[order][before]
        price = np.empty_like(raised)
        price[order] = sums - base + auctions.start_price[auctions.places(ordered)]
        return _Bids(time, item, bidder, price)

    def _block_bids(self, block: int, auctions: _Auctions) -> tuple[Array, Array, Array, Array]:
        w, rounds = self.workload, self._rounds(block, block + 1)
        random = drawer(w.seed, "nexmark", "bids", block)
        known = rounds.first_auction + rounds.auctions
        oldest = auctions.first + np.searchsorted(auctions.time, rounds.bid_time - w.duration[1], "left")
        closed = np.searchsorted(np.sort(auctions.ends), rounds.bid_time, "right")
        counts = np.where(known - auctions.first > closed, rounds.bids, 0)
        time = np.repeat(rounds.bid_time, counts)
        low, high = np.repeat(oldest // w.block, counts), np.repeat((known - 1) // w.block, counts)
        known = np.repeat(known, counts)
        item = np.full(len(time), -1)
        waiting = np.arange(len(time))
        while len(waiting):
            place = self._places[
                np.searchsorted(self._weights, random.random(len(waiting)) * self._weights[-1], "right")
            ]
            drawn = random.integers(low[waiting], high[waiting] + 1) * w.block + place
            at = np.clip(auctions.places(drawn), 0, len(auctions.time) - 1)
            is_open = (
                (drawn >= auctions.first) & (drawn < known[waiting]) & (auctions.ends[at] > time[waiting])
            )
            item[waiting[is_open]] = drawn[is_open]
            waiting = waiting[~is_open]
        people = np.repeat(rounds.first_person + rounds.persons, counts)
        bidder = (random.random(len(time)) * people).astype(np.int64)
        return time, item, bidder, random.integers(w.raise_by[0], w.raise_by[1] + 1, len(time))

    @cached_property
    def _weights(self) -> Array:
        return np.cumsum(1 / np.arange(1, self.workload.block + 1) ** self.workload.zipf_exponent)

    @cached_property
    def _places(self) -> Array:
        """The place of each rank in a block of auctions.

        It is one order for all seeds, shuffled so that popular auctions are not the oldest ones of a block.
        """
        ranked = list(range(self.workload.block))
        Random(0).shuffle(ranked)
        return np.array([*ranked, ranked[-1]])

    @staticmethod
    def _closed(auctions: _Auctions, bids: _Bids, since: int, until: int) -> Columns:
        """The auctions that end in (since, until]."""
        ending = np.flatnonzero((auctions.ends > since) & (auctions.ends <= until))
        ending = ending[np.argsort(auctions.ends[ending], kind="stable")]
        last = np.full(len(auctions.time), -1)
        last[auctions.places(bids.item)] = np.arange(len(bids.item))  # the last one stays
        found = last[ending]
        is_unsold = found < 0
        at = np.maximum(found, 0)
        none = np.zeros(len(ending), np.int64)
        buyer, price = (bids.bidder[at], bids.price[at]) if len(bids.item) else (none, none)
        columns = {
            "item": ending + auctions.first,
            "seller": auctions.seller[ending],
            "buyer": np.ma.masked_array(buyer, is_unsold),
            "price": np.ma.masked_array(price, is_unsold),
        }
        return Columns("closed_auction", auctions.ends[ending], columns)
