"""Generated streams in declared columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.values.errors import SchemaError, UnknownStreamError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER
from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.streams import OTHER_NAMES, batches, lasting, rows
from midstream.scenarios.streams.nexmark.workload import (
    SCHEMAS,
    AuctionWorkload,
    by_stream,
    take,
)

EVENTS = take(generate(AuctionWorkload(duration=(30, 90))), 400)
STREAMS = by_stream(EVENTS)


@pytest.mark.parametrize("stream", SCHEMAS)
def test_the_generators_own_columns_give_its_rows(stream: str) -> None:
    assert list(rows(stream, SCHEMAS[stream], EVENTS)) == STREAMS[stream] != []


@pytest.mark.parametrize("stream", OTHER_NAMES)
def test_other_names_stand_for_columns(stream: str) -> None:
    for other, name in OTHER_NAMES[stream].items():
        column = SCHEMAS[stream][name]
        declared = Schema.of(**{other.upper(): column.type.value + "?" * column.nullable})
        position = SCHEMAS[stream].index(name)
        assert list(rows(stream, declared, EVENTS)) == [
            (time, (row[position],)) for time, row in STREAMS[stream]
        ]


def test_columns_come_in_the_declared_order_and_type() -> None:
    declared = Schema.of(price="float?", itemID="integer", buyerID="integer?")
    found = list(rows("closed_auction", declared, EVENTS))
    assert found == [
        (time, (price, item, buyer)) for time, (item, _, buyer, price) in STREAMS["closed_auction"]
    ]
    assert {type(price) for _, (price, *_) in found} == {float, type(None)}


def test_a_declaration_may_have_no_column_of_the_generator() -> None:
    assert list(rows("bid", Schema(()), EVENTS)) == [(time, ()) for time, _ in STREAMS["bid"]]


def test_seconds_are_counted_in_chronons() -> None:
    declared = Schema.of(id="integer")
    assert [t for t, _ in rows("person", declared, EVENTS, second=1000)] == [
        t * 1000 for t, _ in STREAMS["person"]
    ]
    assert lasting("person", declared, EVENTS, second=1000)[-1] == (
        STREAMS["person"][-1][0] * 1000,
        FOREVER,
        STREAMS["person"][-1][1][:1],
    )


@given(size=st.integers(1, 500))
def test_batches_hold_all_rows_in_step(size: int) -> None:
    declared = {
        "Bid": ("bid", Schema.of(itemID="integer", bid_price="float")),
        "OpenAuction": ("auction", Schema.of(itemID="integer")),
        "Item": ("auction", Schema.of(id="integer", categoryID="integer")),
    }
    found: dict[str, list[tuple[int, tuple[object, ...]]]] = {name: [] for name in declared}
    latest = 0
    for name, batch in batches(declared, EVENTS, size):
        assert 0 < len(batch) <= size
        assert batch[-1][0] >= latest or size > 1
        latest = batch[-1][0]
        for start, end, row in batch:
            assert end == start + 1
            found[name].append((start, row))
    assert found == {
        name: list(rows(stream, columns, EVENTS)) for name, (stream, columns) in declared.items()
    }


def test_batches_are_made_as_they_are_asked_for() -> None:
    """The generator has no end."""
    declared = {"Bid": ("bid", Schema.of(item="integer"))}
    name, batch = next(batches(declared, generate(), 200))
    assert name == "Bid"
    assert 0 < len(batch) <= 200


@pytest.mark.parametrize(
    ("stream", "declared", "error", "message"),
    [
        ("bids", "integer", UnknownStreamError, "no stream bids; did you mean bid?"),
        ("bid", "string", SchemaError, "column item is declared string, expected integer"),
        ("person", "integer", SchemaError, "found no column item"),
    ],
)
def test_what_the_generator_has_not_is_refused(
    stream: str, declared: str, error: type[Exception], message: str
) -> None:
    """At once, before a row is asked for."""
    with pytest.raises(error) as caught:
        batches({"s": (stream, Schema.of(item=declared))}, EVENTS)
    assert message in str(caught.value)


def test_an_unknown_price_needs_a_nullable_column() -> None:
    with pytest.raises(SchemaError) as caught:
        rows("closed_auction", Schema.of(price="integer"), EVENTS)
    assert "declared NOT NULL, but may be unknown" in str(caught.value)
