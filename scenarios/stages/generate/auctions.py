"""The NEXMark auctions in parts: blocks of the generator's rounds, each made alone.

The events of a round are drawn from the number of its block alone: the steps of the clock, the numbers of
persons, auctions and bids, and their values. So numbers and times are sums over the rounds before, which are
cheap. A bid goes to an open auction. To know the open ones, the auctions of the last `duration` are made
again, and so are the bids on them, as each raises a price. Nothing older matters.

The distributions are those of the generator. A bid there goes to a block of auctions and a place in it, and
is drawn again where that auction is not open. Here this is done for all bids of a block at once, over the
blocks of all auctions that may be open: bids that are drawn again do not change the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from midstream.plans.values.schema import Schema
from midstream.scenarios.stages.generate.counters import drawer
from midstream.scenarios.stages.generate.tables import sorted_table
from midstream.scenarios.streams.nexmark.generator import (
    CITIES,
    FIRST_NAMES,
    LAST_NAMES,
    SCHEMAS,
    AuctionWorkload,
    WorkloadError,
)

Array = npt.NDArray[Any]

BLOCK = 4096
"""The rounds in a block: about a day of auctions, 47,000 events with the usual parameters."""

TOGETHER = 16
"""The number of blocks made at once: far more than the blocks that must be made again for them."""

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


def _rates(workload: AuctionWorkload) -> dict[str, float]:
    """The average number of elements of each stream in a round."""
    auctions, bids = sum(workload.auctions_per_round) / 2, sum(workload.bids_per_round) / 2
    persons = workload.person_probability
    return {"person": persons, "auction": auctions, "bid": bids, "closed_auction": auctions}


@dataclass(frozen=True)
class AuctionBlocks:
    """A workload of auctions, in so many blocks of rounds."""

    workload: AuctionWorkload
    cells: int

    def __post_init__(self) -> None:
        if self.workload.step[0] < 1:
            raise WorkloadError(f"step: found {self.workload.step}, expected a least step of 1 or more")

    @classmethod
    def of(cls, workload: AuctionWorkload, events: int) -> AuctionBlocks:
        """Blocks for at least so many events, on average."""
        rounds = events / sum(_rates(workload).values())
        return cls(workload, max(1, -(-int(rounds) // BLOCK)))

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The columns of the four streams."""
        return SCHEMAS

    @property
    def expected(self) -> Mapping[str, float]:
        """The average number of elements of each stream, about."""
        rounds = self.cells * BLOCK
        return {name: rounds * rate for name, rate in _rates(self.workload).items()}

    def tables(self, first: int, end: int) -> Iterator[tuple[str, pa.Table]]:
        """The elements of some blocks, in order by stream: columns start and payload."""
        for block in range(first, end, TOGETHER):
            yield from self._part(block, min(block + TOGETHER, end))

    def _part(self, first: int, end: int) -> Iterator[tuple[str, pa.Table]]:
        rounds = self._rounds(first, end)
        yield "person", self._persons(first, end, rounds)
        longest = self.workload.duration[1]
        since = self._before(first)
        earliest = self._block_at(self._time[first] - longest)
        auctions = self._auctions(self._block_at(self._time[earliest] - longest), end)
        bids = self._bids(earliest, end, auctions)
        new = auctions.places(np.arange(0 if first == 0 else self._number[first], self._number[end]))
        yield "auction", self._auction_table(auctions, new)
        here = bids.time > since
        yield (
            "bid",
            sorted_table(
                bids.time[here],
                {name: pa.array(getattr(bids, name)[here]) for name in ("item", "bidder", "price")},
            ),
        )
        yield "closed_auction", self._closed(auctions, bids, since, int(self._time[end]))

    def _before(self, block: int) -> int:
        """The time after which all elements of a block and of later ones come.

        The first block also holds the initial persons and auctions.
        """
        return int(self._time[block]) if block else self.workload.start - 1

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        w = self.workload
        time, persons, auctions = [w.start], [w.initial_persons], [w.initial_auctions]
        for block in range(self.cells):
            coins, steps, opened, _ = self._drawn(block)
            passed = int(steps[coins, 0].sum() + steps[:, 1:].sum())
            time.append(time[-1] + passed)
            persons.append(persons[-1] + int(coins.sum()))
            auctions.append(auctions[-1] + int(opened.sum()))
        return np.array(time), np.array(persons), np.array(auctions)

    @property
    def _time(self) -> Array:
        """The time at which each block begins, and at which the last one ends.

        A block's first group of events comes later than its beginning.
        """
        return self._sums[0]

    @property
    def _people(self) -> Array:
        """The number of persons before each block."""
        return self._sums[1]

    @property
    def _number(self) -> Array:
        """The number of auctions before each block."""
        return self._sums[2]

    def _block_at(self, time: int) -> int:
        """The block that holds a time; the first one if the time is before all."""
        return max(0, int(np.searchsorted(self._time, time, "right")) - 1)

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
        times = self._time[first] + np.cumsum(steps.reshape(-1)).reshape(-1, 3)
        persons = coins.astype(np.int64)
        return _Rounds(
            persons,
            auctions,
            bids,
            times[:, 0],
            times[:, 1],
            times[:, 2],
            self._people[first] + np.cumsum(persons) - persons,
            self._number[first] + np.cumsum(auctions) - auctions,
        )

    def _persons(self, first: int, end: int, rounds: _Rounds) -> pa.Table:
        start = self.workload.start
        numbers = np.arange(0 if first == 0 else self._people[first], self._people[end])
        came = np.repeat(rounds.person_time, rounds.persons)
        times = np.concatenate([np.full(self.workload.initial_persons if first == 0 else 0, start), came])
        draws = []
        for block in [*([INITIAL] if first == 0 else []), *range(first, end)]:
            count = self._people[0] if block == INITIAL else self._people[block + 1] - self._people[block]
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
        texts = [pa.array([row[i] for row in rows], pa.string()) for i in range(4)]
        columns = dict(zip(("name", "email", "city", "state"), texts, strict=True))
        return sorted_table(times, {"id": pa.array(numbers), **columns})

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
            count = self._number[0] if block == INITIAL else self._number[block + 1] - self._number[block]
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
            0 if first == 0 else int(self._number[first]),
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
    def _auction_table(auctions: _Auctions, new: Array) -> pa.Table:
        reserve = auctions.reserve[new]
        kinds = pa.array(["Regular", "Regular, Dutch", "Featured", "Featured, Dutch"])
        return sorted_table(
            auctions.time[new],
            {
                "item": pa.array(new + auctions.first),
                "seller": pa.array(auctions.seller[new]),
                "category": pa.array(auctions.category[new]),
                "start_price": pa.array(auctions.start_price[new]),
                "reserve": pa.array(np.nan_to_num(reserve).astype(np.int64), mask=np.isnan(reserve)),
                "quantity": pa.array(auctions.quantity[new]),
                "kind": kinds.take(pa.array(auctions.kind[new])),
                "is_private": pa.array(auctions.is_private[new]),
                "ends": pa.array(auctions.ends[new]),
            },
        )

    def _bids(self, first: int, end: int, auctions: _Auctions) -> _Bids:
        """The bids of some blocks; prices are right for auctions that begin in these blocks."""
        parts = [self._block_bids(block, auctions) for block in range(first, end)]
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
        """The place of each rank in a block of auctions, as in the generator."""
        ranked = list(range(self.workload.block))
        Random(0).shuffle(ranked)
        return np.array([*ranked, ranked[-1]])

    @staticmethod
    def _closed(auctions: _Auctions, bids: _Bids, since: int, until: int) -> pa.Table:
        """The auctions that end in (since, until]."""
        ending = np.flatnonzero((auctions.ends > since) & (auctions.ends <= until))
        last = np.full(len(auctions.time), -1)
        last[auctions.places(bids.item)] = np.arange(len(bids.item))  # the last one stays
        found = last[ending]
        is_unsold = found < 0
        at = np.maximum(found, 0)
        none = np.zeros(len(ending), np.int64)
        buyer, price = (bids.bidder[at], bids.price[at]) if len(bids.item) else (none, none)
        return sorted_table(
            auctions.ends[ending],
            {
                "item": pa.array(ending + auctions.first),
                "seller": pa.array(auctions.seller[ending]),
                "buyer": pa.array(buyer, mask=is_unsold),
                "price": pa.array(price, mask=is_unsold),
            },
        )
