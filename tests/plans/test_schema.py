"""Schemas say what fits, and where something does not, which and why."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.plans.values.errors import MidstreamError, SchemaError
from midstream.plans.values.schema import Column, Schema, Type, parse_column, suggest

BIDS = Schema.of(item="integer", price="float?", note="string", open="boolean", tag="any")


def fits(value: Any, column: Column) -> bool:
    """What a column accepts, one value at a time."""
    if value is None:
        return column.nullable
    if value != value:
        return False
    match column.type:
        case Type.INTEGER:
            return type(value) is int
        case Type.FLOAT:
            return type(value) in (int, float)
        case Type.STRING:
            return type(value) is str
        case Type.BOOLEAN:
            return type(value) is bool
        case Type.ANY:
            try:
                hash(value)
            except TypeError:
                return False
            return True


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=2),
    st.tuples(st.integers()),
    st.just([1]),
    st.just(([1],)),
    st.binary(max_size=1),
)
COLUMNS = st.builds(Column, st.just("x"), st.sampled_from(Type), st.booleans())


@given(st.lists(COLUMNS, max_size=3), st.lists(st.lists(VALUES, max_size=3), max_size=4))
def test_a_row_is_accepted_exactly_if_each_value_fits(columns: list[Column], rows: list[list[Any]]) -> None:
    """True is no integer and 1 is no truth value, though Python calls them equal."""
    schema = Schema(tuple(Column(f"c{i}", c.type, c.nullable) for i, c in enumerate(columns)))
    payloads = [tuple(row) for row in rows]
    expected = all(len(row) == len(columns) and all(map(fits, row, schema.columns)) for row in payloads)
    try:
        schema.check(payloads)
    except SchemaError:
        assert not expected
    else:
        assert expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1, 2.0, "n", True), r"found row \(1, 2.0, 'n', True\) with 4 values, expected 5"),
        ([1, 2.0, "n", True, 0], r"found row \[1, .*\(list\), expected a tuple of \(item integer, price"),
        ((1.0, 2.0, "n", True, 0), r"column item: found 1.0 \(float\), expected integer"),
        ((True, 2.0, "n", True, 0), r"column item: found True \(bool\), expected integer"),
        ((None, 2.0, "n", True, 0), r"column item: found None \(NoneType\), expected integer"),
        ((1, "2", "n", True, 0), r"column price: found '2' \(str\), expected float"),
        ((1, float("nan"), "n", True, 0), "column price: found NaN, expected a finite number"),
        ((1, 2.0, b"n", True, 0), r"column note: found b'n' \(bytes\), expected string"),
        ((1, 2.0, "n", 1, 0), r"column open: found 1 \(int\), expected boolean"),
        ((1, 2.0, "n", True, None), "column tag: found None, expected a value"),
        ((1, 2.0, "n", True, float("nan")), "column tag: found NaN"),
        ((1, 2.0, "n", True, {}), "column tag: unhashable type: 'dict', expected hashable"),
    ],
)
def test_what_does_not_fit_is_named(row: Any, message: str) -> None:
    """Also behind a thousand rows that do."""
    good = (1, None, "n", True, 0)
    BIDS.check([good])
    with pytest.raises(SchemaError, match=message):
        BIDS.check([good] * 1000 + [row] + [good])


def test_a_row_is_a_plain_tuple() -> None:
    """A subclass may compare and hash as it likes."""
    row = namedtuple("row", "x")
    with pytest.raises(SchemaError, match="expected a tuple"):
        Schema.of(x="integer").check([row(1)])


def test_no_rows_fit_any_schema() -> None:
    BIDS.check([])
    Schema(()).check([(), ()])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Schema((Column("x"), Column("x"))), "column x occurs twice; rename one of them"),
        (lambda: BIDS.concat(Schema.of(item="string")), "column item occurs twice"),
        (lambda: BIDS.select(["item", "item"]), "column item occurs twice"),
        (lambda: Column(""), "must be a non-empty string, found ''"),
        (lambda: Column(None), "must be a non-empty string, found None"),
        (lambda: Schema.of(x="list"), "column x: found type 'list', expected one of integer, float, string"),
        (lambda: BIDS.index("prise"), r"there is no column prise in \(item .*; did you mean price\?"),
        (lambda: BIDS["zzz"], r"there is no column zzz in \([^?]*\)$"),
        (lambda: BIDS.select(["item", "pricee"]), "no column pricee"),
    ],
)
def test_a_schema_that_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()


def test_facts_are_attributes() -> None:
    """A program need not parse a message."""
    with pytest.raises(SchemaError) as caught:
        BIDS.index("prise")
    assert caught.value.column == "prise"
    with pytest.raises(MidstreamError) as other:
        BIDS.check([(1, "dear", "n", True, 0)])
    assert (other.value.column, other.value.value) == ("price", "dear")


def test_columns_are_found_chosen_and_put_together() -> None:
    assert BIDS.names == ("item", "price", "note", "open", "tag")
    assert len(BIDS) == 5
    assert "price" in BIDS
    assert "prise" not in BIDS
    assert BIDS["price"] == Column("price", Type.FLOAT, nullable=True)
    assert BIDS.select(["price", "item"]).names == ("price", "item")
    assert BIDS.concat(Schema.of(x="any")).names == (*BIDS.names, "x")
    assert [column.name for column in BIDS] == list(BIDS.names)
    assert str(BIDS) == "(item integer, price float null, note string, open boolean, tag any)"


@pytest.mark.parametrize("type_", Type)
def test_a_type_is_read_as_it_is_written(type_: Type) -> None:
    assert parse_column("x", type_.value) == Column("x", type_)
    assert parse_column("x", type_.value.upper() + "?") == Column("x", type_, nullable=True)
    assert parse_column("x", type_) == Column("x", type_)


def test_a_suggestion_is_made_only_where_one_is_near() -> None:
    assert suggest("prce", ["price", "item"]) == "; did you mean price?"
    assert suggest("zzz", ["price", "item"]) == ""
    assert suggest("x", []) == ""
