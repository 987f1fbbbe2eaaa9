"""Auctions that are made in blocks: like those of a market, whichever blocks are made together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from agreeing import chi_square, kolmogorov_smirnov
from auction_market import market

from midstream.scenarios.stages.generate import auctions
from midstream.scenarios.stages.generate.auctions import AuctionCells
from midstream.scenarios.streams.nexmark import generator
from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.workload import (
    SCHEMAS,
    AuctionWorkload,
    by_stream,
    take,
)

SEEDS = range(10)
EVENTS = 25_000
Streams = dict[str, list[dict[str, Any]]]


@cache
def made(seed: int) -> Streams:
    """As many events as the market has in the same time."""
    cells = AuctionCells.of(AuctionWorkload(seed=seed), EVENTS)
    found: Streams = {name: [] for name in SCHEMAS}
    for name, table in cells.tables(0, cells.cells):
        found[name] += table.to_pylist()
    last = drawn(seed)["bid"][-1]["start"]
    return {name: [row for row in rows if row["start"] <= last] for name, rows in found.items()}


@cache
def drawn(seed: int) -> Streams:
    events = by_stream(take(market(AuctionWorkload(seed=1000 + seed)), EVENTS))
    return {
        name: [{"start": time, **dict(zip(SCHEMAS[name].names, row, strict=True))} for time, row in rows]
        for name, rows in events.items()
    }


def gaps(rows: Sequence[dict[str, Any]]) -> list[int]:
    times = sorted({row["start"] for row in rows})
    return list(np.diff(times))


def bids_of_a_round(streams: Streams) -> list[int]:
    return list(Counter(row["start"] for row in streams["bid"]).values())


def prices(streams: Streams) -> list[float]:
    """Of closings: one price an auction, since bids on one auction depend on one another."""
    return [row["price"] for row in streams["closed_auction"] if row["price"] is not None]


def raises(streams: Streams) -> list[int]:
    last = {row["item"]: row["start_price"] for row in streams["auction"]}
    found = []
    for row in sorted(streams["bid"], key=lambda row: (row["start"], row["price"])):
        found.append(row["price"] - last[row["item"]])
        last[row["item"]] = row["price"]
    return found


def bids_of_an_auction(streams: Streams) -> list[int]:
    counts = Counter(row["item"] for row in streams["bid"])
    return [counts[row["item"]] for row in streams["closed_auction"]]


def waits(streams: Streams) -> list[int]:
    """How old an auction is when the first bid comes."""
    began = {row["item"]: row["start"] for row in streams["auction"]}
    first: dict[int, int] = {}
    for row in streams["bid"]:
        first.setdefault(row["item"], row["start"] - began[row["item"]])
    return list(first.values())


def places(streams: Streams) -> list[int]:
    """The place in its block of an auction with many bids, for all that have closed: which are popular."""
    counts = Counter(row["item"] for row in streams["bid"])
    closed = [row["item"] for row in streams["closed_auction"]]
    many = np.quantile([counts[item] for item in closed], 0.8)
    return [item % 100 // 10 for item in closed if counts[item] > many]


def references(name: str, column: str) -> Callable[[Streams], list[float]]:
    """To which part of the persons that there are a stream refers."""

    def relative(streams: Streams) -> list[float]:
        came = np.array([row["start"] for row in streams["person"]])
        times = np.array([row["start"] for row in streams[name]])
        people = np.searchsorted(came, times, "right")
        found = np.array([row[column] for row in streams[name]]) / people
        assert (found < 1).all()
        return list(found)

    return relative


def column(name: str, key: str) -> Callable[[Streams], list[Any]]:
    return lambda streams: [row[key] for row in streams[name]]


FACTS: dict[str, tuple[Callable[..., float], Callable[[Streams], list[Any]]]] = {
    "gaps of bids": (chi_square, lambda streams: gaps(streams["bid"])),
    "gaps of auctions": (chi_square, lambda streams: gaps(streams["auction"])),
    "gaps of persons": (kolmogorov_smirnov, lambda streams: gaps(streams["person"])),
    "bids of a round": (chi_square, bids_of_a_round),
    "prices": (kolmogorov_smirnov, prices),
    "raises": (chi_square, raises),
    "start prices": (chi_square, column("auction", "start_price")),
    "bids of an auction": (kolmogorov_smirnov, bids_of_an_auction),
    "waits": (kolmogorov_smirnov, waits),
    "popular places": (chi_square, places),
    "bidders": (kolmogorov_smirnov, references("bid", "bidder")),
    "sellers": (kolmogorov_smirnov, references("auction", "seller")),
    "categories": (chi_square, column("auction", "category")),
    "quantities and kinds": (chi_square, lambda s: [(row["quantity"], row["kind"]) for row in s["auction"]]),
    "reserves": (
        kolmogorov_smirnov,
        lambda s: [(row["reserve"] or 0) / max(1, row["start_price"]) for row in s["auction"]],
    ),
    "durations": (kolmogorov_smirnov, lambda s: [row["ends"] - row["start"] for row in s["auction"]]),
    "cities": (chi_square, lambda s: [(row["city"], row["state"]) for row in s["person"]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("fact", FACTS)
def test_distributions_are_those_of_the_market(fact: str) -> None:
    test, of = FACTS[fact]
    found = [test(of(made(seed)), of(drawn(seed))) for seed in SEEDS]
    assert max(found) <= 1, found


def test_another_distribution_is_found() -> None:
    other = AuctionCells.of(replace(AuctionWorkload(seed=1), zipf_exponent=1.0, raise_by=(1, 26)), EVENTS)
    found: Streams = {name: [] for name in SCHEMAS}
    for name, table in other.tables(0, other.cells):
        found[name] += table.to_pylist()
    for fact in ("raises", "bids of an auction", "prices"):
        test, of = FACTS[fact]
        assert test(of(found), of(drawn(1))) > 1


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> AuctionCells:
    """Blocks so short that an auction lasts for several."""
    monkeypatch.setattr(generator, "BLOCK", 64)
    monkeypatch.setattr(auctions, "TOGETHER", 3)
    return AuctionCells(AuctionWorkload(seed=5, duration=(100, 9000), initial_persons=3), 40)


@pytest.mark.slow
def test_a_block_is_the_same_alone(small_blocks: AuctionCells) -> None:
    whole: dict[str, list[Any]] = {name: [] for name in SCHEMAS}
    for name, table in small_blocks.tables(0, small_blocks.cells):
        whole[name] += table.to_pylist()
    for size in (1, 7, 40):
        parts: dict[str, list[Any]] = {name: [] for name in SCHEMAS}
        for first in range(0, 40, size):
            again = AuctionCells(small_blocks.workload, 40)
            for name, table in again.tables(first, min(40, first + size)):
                parts[name] += table.to_pylist()
        assert parts == whole


def test_what_happens_makes_sense(small_blocks: AuctionCells) -> None:
    found: Streams = {name: [] for name in SCHEMAS}
    for name, table in small_blocks.tables(0, small_blocks.cells):
        assert table.column_names == ["start", *SCHEMAS[name].names]
        found[name] += table.to_pylist()
    for name, key in (("person", "id"), ("auction", "item")):
        assert [row[key] for row in found[name]] == list(range(len(found[name])))
    for rows in found.values():
        assert [row["start"] for row in rows] == sorted(row["start"] for row in rows)
    began = {row["id"]: row["start"] for row in found["person"]}
    auction = {row["item"]: row for row in found["auction"]}
    price = {item: row["start_price"] for item, row in auction.items()}
    buyer: dict[int, int] = {}
    # A bid that raises a price comes before those of the same time that raise it further.
    for row in sorted(found["bid"], key=lambda row: (row["start"], row["price"])):
        item = auction[row["item"]]
        assert item["start"] <= row["start"] < item["ends"]
        assert began[row["bidder"]] <= row["start"]
        assert 1 <= row["price"] - price[row["item"]] <= 25
        price[row["item"]], buyer[row["item"]] = row["price"], row["bidder"]
    end = max(row["start"] for rows in found.values() for row in rows)
    assert {row["item"] for row in found["closed_auction"]} >= {
        i for i, row in auction.items() if row["ends"] < end
    }
    for row in found["closed_auction"]:
        item = auction[row["item"]]
        assert (row["start"], row["seller"]) == (item["ends"], item["seller"])
        assert row["buyer"] == buyer.get(row["item"])
        assert row["price"] == (price[row["item"]] if row["item"] in buyer else None)
    assert len({row["buyer"] is None for row in found["closed_auction"]}) == 2


def test_events_are_the_elements_of_blocks(small_blocks: AuctionCells) -> None:
    found: Streams = {name: [] for name in SCHEMAS}
    for name, table in small_blocks.tables(0, small_blocks.cells):
        found[name] += table.to_pylist()
    count = sum(map(len, found.values()))
    for name, rows in by_stream(take(generate(small_blocks.workload), count)).items():
        listed = [{"start": time, **dict(zip(SCHEMAS[name].names, row, strict=True))} for time, row in rows]
        assert sorted(map(str, listed)) == sorted(map(str, found[name]))


def test_a_clock_may_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks may then begin at the instant of the last events of the block before."""
    workload = AuctionWorkload(step=(0, 1), duration=(3, 9))
    monkeypatch.setattr(generator, "BLOCK", 2)
    streams = by_stream(take(generate(workload), 3000))
    monkeypatch.setattr(auctions, "TOGETHER", 7)
    found = dict.fromkeys(SCHEMAS, 0)
    last = max(rows[-1][0] for rows in streams.values())
    for name, table in AuctionCells(workload, 400).tables(0, 400):
        found[name] += sum(time < last for time in table.column("start").to_pylist())
    assert found == {name: sum(time < last for time, _ in rows) for name, rows in streams.items()}
    opened = {row[0]: (time, row[-1]) for time, row in streams["auction"]}
    assert all(opened[row[0]][0] <= time < opened[row[0]][1] for time, row in streams["bid"])
