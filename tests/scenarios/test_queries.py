"""The queries over the auction workload, by hand."""

from __future__ import annotations

from midstream.driving import run
from midstream.plans.values.streams import chronons
from midstream.scenarios.streams.nexmark.queries import interest_in_new_sellers
from midstream.scenarios.streams.nexmark.workload import (
    HOUR,
)


def test_bids_count_while_bid_auction_and_seller_are_new() -> None:
    """The bid on an old seller's auction does not count; a count ends with the first window that does."""
    persons = [(0, (0, "Ada Berg", "ada@example.org", "Boise", "ID"))]
    auctions = [
        (HOUR, (0, 0, 42, 100, None, 1, "Regular", False, 20 * HOUR)),
        (HOUR, (1, 9, 42, 100, None, 1, "Regular", False, 20 * HOUR)),
    ]
    last = 12 * HOUR - 60
    bids = [
        (HOUR + 60, (0, 7, 110)),
        (HOUR + 90, (1, 7, 900)),
        (HOUR + 120, (0, 8, 130)),
        (last, (0, 7, 140)),
    ]
    streams = {"person": chronons(persons), "auction": chronons(auctions), "bid": chronons(bids)}
    query = interest_in_new_sellers().plan()
    assert query.schema.names == ("auction.category", "bids", "highest")
    assert run(query, streams) == [
        (HOUR + 60, HOUR + 120, (42, 1, 110)),
        (HOUR + 120, 2 * HOUR + 60, (42, 2, 130)),
        (2 * HOUR + 60, 2 * HOUR + 120, (42, 1, 130)),
        (last, 12 * HOUR, (42, 1, 140)),
    ]
