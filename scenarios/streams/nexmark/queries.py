"""Queries over the auction workload."""

from __future__ import annotations

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.plans.values.schema import Schema
from midstream.scenarios.streams.nexmark.workload import (
    AUCTION,
    BID,
    HOUR,
    PERSON,
)


def interest_in_new_sellers() -> Stream:
    """Per category, the number of the last hour's bids on auctions of new sellers, and the highest bid.

    An auction counts for twelve hours from its opening on; a seller is new for twelve hours after
    registering. The joins are written in the natural order, bids with auctions first, which is good while
    most sellers are new, and poor when few are.
    """
    bids = _columns("bid", BID, "item", "price").window(HOUR)
    auctions = _columns("auction", AUCTION, "item", "seller", "category").window(12 * HOUR)
    sellers = _columns("person", PERSON, "id").window(12 * HOUR)
    return (
        bids.join(auctions, on=[("bid.item", "auction.item")])
        .join(sellers, on=[("auction.seller", "person.id")])
        .group_by("auction.category")
        .aggregate(bids=count(), highest=max_("bid.price"))
    )


def _columns(name: str, schema: Schema, *columns: str) -> Stream:
    """Some columns of a stream, with its name in front of theirs."""
    return stream(name, schema).select(**{f"{name}.{column}": col(column) for column in columns})
