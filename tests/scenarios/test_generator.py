"""The generated auction workload keeps the facts that queries over it rely on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.workload import (
    HOUR,
    SCHEMAS,
    AuctionEvent,
    AuctionWorkload,
    WorkloadError,
    by_stream,
    take,
)


def ranges(least: int, greatest: int) -> st.SearchStrategy[tuple[int, int]]:
    """Two numbers in order."""
    numbers = st.integers(least, greatest)
    return st.tuples(numbers, numbers).map(lambda pair: (min(pair), max(pair)))


@st.composite
def workloads(draw: st.DrawFn) -> AuctionWorkload:
    """Workloads in which auctions open, get bids and close within a few hundred events, if any open."""
    least_step = draw(st.integers(0, 3))
    return AuctionWorkload(
        seed=draw(st.integers()),
        start=draw(st.integers(-(10**12), 10**12)),
        step=(least_step, least_step + draw(st.integers(1, 5))),
        initial_persons=draw(st.integers(1, 4)),
        initial_auctions=draw(st.integers(0, 8)),
        person_probability=draw(st.floats(0.01, 1)),
        auctions_per_round=draw(ranges(0, 4)),
        bids_per_round=draw(ranges(0, 9)),
        duration=draw(ranges(1, 40)),
        start_price=draw(ranges(0, 50)),
        raise_by=draw(ranges(1, 9)),
        categories=draw(st.integers(1, 5)),
        quantity=draw(ranges(1, 3)),
        block=draw(st.integers(1, 12)),
        zipf_exponent=draw(st.floats(0, 1)),
    )


def some_events(workload: AuctionWorkload) -> list[AuctionEvent]:
    """Enough events for many auctions to close."""
    return take(generate(workload), 300)


@given(workloads())
def test_events_are_in_order_of_time(workload: AuctionWorkload) -> None:
    times = [time for _, time, _ in some_events(workload)]
    assert times[0] == workload.start
    assert all(one <= other for one, other in pairwise(times))


@given(workloads())
def test_payloads_fit_their_schemas(workload: AuctionWorkload) -> None:
    streams = by_stream(some_events(workload))
    assert streams.keys() == SCHEMAS.keys()
    for name, rows in streams.items():
        SCHEMAS[name].check([payload for _, payload in rows])


@given(workloads())
def test_a_bid_comes_while_its_auction_is_open_and_raises_the_price(workload: AuctionWorkload) -> None:
    price: dict[int, int] = {}
    ends: dict[int, int] = {}
    for stream, time, payload in some_events(workload):
        if stream == "auction":
            price[payload[0]], ends[payload[0]] = payload[3], payload[-1]
        elif stream == "bid":
            item, _, bid = payload
            assert time < ends[item]
            assert workload.raise_by[0] <= bid - price[item] <= workload.raise_by[1]
            price[item] = bid
        elif stream == "closed_auction":
            del price[payload[0]]


@given(workloads())
def test_every_auction_closes_at_its_end_with_its_last_bid(workload: AuctionWorkload) -> None:
    waiting: dict[int, tuple[int, int]] = {}
    last_bid: dict[int, tuple[int, int]] = {}
    for stream, time, payload in some_events(workload):
        if stream == "closed_auction":
            item, *outcome = payload
            end, seller = waiting.pop(item)
            assert time == end
            assert outcome == [seller, *last_bid.get(item, (None, None))]
        # What ends now closes before anything else happens.
        assert all(end > time or (stream == "closed_auction" and end == time) for end, _ in waiting.values())
        if stream == "auction":
            waiting[payload[0]] = (payload[-1], payload[1])
        elif stream == "bid":
            last_bid[payload[0]] = payload[1:]


@given(workloads())
def test_who_is_referred_to_is_known(workload: AuctionWorkload) -> None:
    persons = items = 0
    for stream, _, payload in some_events(workload):
        if stream == "person":
            assert payload[0] == persons
            persons += 1
        elif stream == "auction":
            assert payload[0] == items
            assert 0 <= payload[1] < persons
            items += 1
        elif stream == "bid":
            assert 0 <= payload[0] < items
            assert 0 <= payload[1] < persons


@given(workloads())
def test_values_are_in_their_ranges(workload: AuctionWorkload) -> None:
    for stream, time, payload in some_events(workload):
        if stream == "auction":
            _, _, category, price, reserve, quantity, kind, _, ends = payload
            assert 0 <= category < workload.categories
            assert workload.start_price[0] <= price <= workload.start_price[1]
            assert reserve is None or 2.2 * price - 0.5 <= reserve <= 3.2 * price + 0.5
            assert workload.quantity[0] <= quantity <= workload.quantity[1]
            assert kind.split(", ")[0] in ("Regular", "Featured")
            assert quantity > 1 or "Dutch" not in kind
            assert workload.duration[0] <= ends - time <= workload.duration[1]


@given(workloads())
def test_equal_seeds_give_equal_events(workload: AuctionWorkload) -> None:
    assert some_events(workload) == some_events(replace(workload))


def test_other_seeds_give_other_events() -> None:
    assert take(generate(AuctionWorkload(seed=1)), 200) != take(generate(AuctionWorkload(seed=2)), 200)


def test_events_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "from midstream.scenarios.streams.nexmark.generator import *; print([*zip(range(2000), generate())])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_the_mix_is_that_of_the_original() -> None:
    events = take(generate(), 100_000)
    assert [stream for stream, _, _ in events[:100]] == ["person"] * 50 + ["auction"] * 50
    counts = Counter(stream for stream, _, _ in events[100:])
    assert counts["person"] / counts["auction"] == pytest.approx(0.1, rel=0.1)
    assert counts["bid"] / counts["auction"] == pytest.approx(9.5, rel=0.05)
    # Auctions stay open for 2 to 26 hours, so about as many are open as open in 14 hours.
    is_open = 50 + counts["auction"] - counts["closed_auction"]
    hours = events[-1][1] / HOUR
    assert is_open == pytest.approx(counts["auction"] * 14 / hours, rel=0.1)


def test_bids_come_in_bursts() -> None:
    bids = by_stream(take(generate(), 50_000))["bid"]
    sizes = Counter(len(list(group)) for _, group in groupby(time for time, _ in bids))
    assert set(sizes) == set(range(1, 20))
    assert max(sizes.values()) < 2 * min(sizes.values())


def test_each_group_of_events_has_a_timestamp_of_its_own() -> None:
    streams = by_stream(take(generate(), 10_000))
    times = {name: {time for time, _ in rows if time > 0} for name, rows in streams.items()}
    assert not times["auction"] & times["bid"]
    assert not times["person"] & (times["auction"] | times["bid"])


@pytest.mark.parametrize(
    "exponent", [0.3, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.0, 1.0))]
)
def test_popularity_follows_zipf(exponent: float) -> None:
    """Over one block in which nothing closes, the auctions' shares of bids, ranked, are those of the law."""
    workload = AuctionWorkload(
        initial_auctions=100,
        auctions_per_round=(0, 0),
        bids_per_round=(19, 19),
        duration=(10**9, 10**9),
        zipf_exponent=exponent,
    )
    bids = by_stream(take(generate(workload), 100_000))["bid"]
    ranked = [n for _, n in Counter(payload[0] for _, payload in bids).most_common()]
    weights = [1 / rank**exponent for rank in range(1, 101)]
    # Cumulated, because neighbouring ranks change places by chance.
    shares = [n / len(bids) for n in accumulate(ranked)]
    assert shares == pytest.approx([w / sum(weights) for w in accumulate(weights)], abs=0.02)


def test_no_auction_no_bid() -> None:
    nothing_open = AuctionWorkload(initial_auctions=0, auctions_per_round=(0, 0), person_probability=0.5)
    assert {stream for stream, _, _ in take(generate(nothing_open), 200)} == {"person"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"initial_persons": 0}, "initial_persons: found 0, expected 1 or more"),
        ({"duration": (0, 5)}, r"duration: found \(0, 5\), expected .* 1 or more, in this order"),
        ({"duration": (9, 5)}, r"duration: found \(9, 5\)"),
        ({"raise_by": (0, 5)}, "raise_by"),
        ({"step": (0, 0)}, "step: .* expected a greatest step of 1 or more"),
        ({"person_probability": 1.5}, "person_probability: found 1.5, expected a number from 0 to 1"),
        ({"zipf_exponent": 3}, "zipf_exponent: found 3, expected a number from 0 to 2"),
        ({"person_probability": 0, "auctions_per_round": (0, 0)}, "auctions_per_round"),
    ],
)
def test_impossible_workloads_are_refused(parameters: dict, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        AuctionWorkload(**parameters)
