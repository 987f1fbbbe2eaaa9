"""The generated auction workload under the names that a script declares.

The thesis and the Stream Query Repository call the columns otherwise than the generator does, and take the
items' registrations for a stream of their own. A declaration may use either's names, in any case and order,
and leave columns out.

    generated         columns, and what else they may be called
    person            id, name, email (emailAddress), city, state
    auction           item (itemID, id), seller (sellerID), category (categoryID), start_price, reserve,
                      quantity, kind, is_private, ends
    bid               item (itemID), bidder (bidderID), price (bid_price)
    closed_auction    item (itemID), seller (sellerID), buyer (buyerID), price
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from midstream.plans.values.errors import SchemaError, UnknownStreamError
from midstream.plans.values.schema import Column, Schema, Type, suggest
from midstream.plans.values.streams import FOREVER, Element, Payload
from midstream.scenarios.streams.nexmark.workload import (
    SCHEMAS,
    AuctionEvent,
    Row,
)

if TYPE_CHECKING:
    from midstream.plans.sql.declarations import RelationDeclaration, StreamDeclaration

OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    "person": {"emailaddress": "email"},
    "auction": {"itemid": "item", "id": "item", "sellerid": "seller", "categoryid": "category"},
    "bid": {"itemid": "item", "bidderid": "bidder", "bid_price": "price"},
    "closed_auction": {"itemid": "item", "sellerid": "seller", "buyerid": "buyer"},
}
"""By stream, the generator's names of columns by their other names, in lower case."""

DOLLAR_IN_EUROS = 0.908
"""The benchmark's exchange rate."""


def dol_to_euro(price: float) -> float:
    """A price in dollars as one in euros: the function DolToEuro of the benchmark's first query.

    >>> dol_to_euro(100)
    90.8
    """
    return price * DOLLAR_IN_EUROS


def generated(
    declared: Mapping[str, StreamDeclaration | RelationDeclaration],
) -> dict[str, tuple[str, Schema]]:
    """The generated stream and the columns of each declaration with a source, by name."""
    return {each.name: (each.source.arguments[0], each.schema) for each in declared.values() if each.source}


def rows(stream: str, columns: Schema, events: Iterable[AuctionEvent], second: int = 1) -> Iterator[Row]:
    """The rows of one generated stream in the declared columns, each with its timestamp.

    A second has `second` chronons.

    State    One event.
    Raises   UnknownStreamError and SchemaError where the generator has no such stream or column, or the
             column is of another type.

    >>> bids = [("bid", 7, (3, 1, 12)), ("person", 8, (4,)), ("bid", 9, (3, 2, 15))]
    >>> list(rows("bid", Schema.of(itemID="integer", bid_price="float"), bids, second=1000))
    [(7000, (3, 12.0)), (9000, (3, 15.0))]
    """
    convert = conversion(stream, columns)
    return ((time * second, convert(payload)) for name, time, payload in events if name == stream)


def lasting(stream: str, columns: Schema, events: Iterable[AuctionEvent], second: int = 1) -> list[Element]:
    """The rows of one generated stream as a temporal relation, each valid from its timestamp on without end.

    >>> ada = ("person", 8, (4, "Ada Berg", "ada@example.org", "Boise", "ID"))
    >>> lasting("person", Schema.of(id="integer", state="string"), [ada])
    [(8, inf, (4, 'ID'))]
    """
    return [(time, FOREVER, row) for time, row in rows(stream, columns, events, second)]


def batches(
    declared: Mapping[str, tuple[str, Schema]], events: Iterable[AuctionEvent], batch_size: int = 1000
) -> Iterator[tuple[str, list[Element]]]:
    """The events as batches for declared streams, in order of time: `(declared name, batch)`.

    `declared` gives, by a stream's name, that of the generated stream and the columns. Several may be made
    from one. A batch is made of `batch_size` consecutive events of all streams, so that streams stay in step.

    State    `batch_size` events.
    Raises   As `rows`, at once.

    >>> bid = ("bid", Schema.of(item="integer"))
    >>> events = [("bid", 7, (3, 1, 12)), ("person", 8, (4,)), ("bid", 9, (5, 2, 15))]
    >>> list(batches({"b": bid, "c": bid}, events, 2))
    [('b', [(7, 8, (3,))]), ('c', [(7, 8, (3,))]), ('b', [(9, 10, (5,))]), ('c', [(9, 10, (5,))])]
    """
    converted = [
        (name, generated, conversion(generated, columns)) for name, (generated, columns) in declared.items()
    ]
    return _batches(converted, iter(events), batch_size)


def _batches(
    declared: Sequence[tuple[str, str, Callable[[Payload], Payload]]],
    events: Iterator[AuctionEvent],
    batch_size: int,
) -> Iterator[tuple[str, list[Element]]]:
    while chunk := list(islice(events, batch_size)):
        for name, generated, convert in declared:
            batch: list[Element] = [
                (time, time + 1, convert(payload)) for stream, time, payload in chunk if stream == generated
            ]
            if batch:
                yield name, batch


def conversion(stream: str, columns: Schema) -> Callable[[Payload], Payload]:
    """Function that turns a generated payload into the declared columns.

    Raises   UnknownStreamError; SchemaError, naming stream and column, what was found and expected.
    """
    if stream not in SCHEMAS:
        raise UnknownStreamError(
            f"the generator has no stream {stream}{suggest(stream, SCHEMAS)}, expected one of "
            f"{', '.join(SCHEMAS)}",
            stream=stream,
        )
    generated = SCHEMAS[stream]
    positions = [generated.index(_field(stream, column)) for column in columns]
    floats = {
        i
        for i, (position, column) in enumerate(zip(positions, columns, strict=True))
        if column.type is Type.FLOAT and generated.columns[position].type is Type.INTEGER
    }
    if len(positions) == 1:
        (position,) = positions
        if floats:
            return lambda payload: (_float(payload[position]),)
        return lambda payload: (payload[position],)
    pick: Callable[[Payload], Payload] = itemgetter(*positions) if positions else lambda _: ()
    if not floats:
        return pick
    return lambda payload: tuple(
        [_float(value) if i in floats else value for i, value in enumerate(pick(payload))]
    )


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _field(stream: str, column: Column) -> str:
    """The generator's name of a declared column, which is checked."""
    generated, others = SCHEMAS[stream], OTHER_NAMES[stream]
    lower = column.name.lower()
    name = others.get(lower, lower)
    if name not in generated:
        known = [*generated.names, *others]
        raise SchemaError(
            f"generated stream {stream}: found no column {column.name}{suggest(lower, known)}, expected "
            f"one of {', '.join(generated.names)}",
            column=column.name,
        )
    made = generated[name]
    if column.type not in (made.type, Type.ANY) and (column.type, made.type) != (Type.FLOAT, Type.INTEGER):
        raise SchemaError(
            f"generated stream {stream}: column {column.name} is declared {column.type.value}, expected "
            f"{made.type.value}",
            column=column.name,
        )
    if made.nullable and not column.nullable:
        raise SchemaError(
            f"generated stream {stream}: column {column.name} is declared NOT NULL, but may be unknown",
            column=column.name,
        )
    return name
