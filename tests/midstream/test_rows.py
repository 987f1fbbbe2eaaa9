"""Rows in and results out: tuples, dicts, dataclasses, Arrow, pandas and Polars give the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import make_dataclass
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.errors import ArgumentError, InputFileError, SchemaError
from midstream.io import ConnectorError
from midstream.plans.algebra.plan import Plan

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'midstream[arrow]'")
pd = pytest.importorskip("pandas", reason="needs pandas: pip install 'midstream[pandas]'")

NAMES = ("at", "item", "price", "note", "sold", "made")
SCRIPT = """
SET time_unit = 'milliseconds';
CREATE STREAM bids(
    at TIMESTAMP NOT NULL, item INT NOT NULL, price REAL, note TEXT, sold BOOLEAN, made TIMESTAMP
) ORDERED BY at;
"""
QUERIES = (
    "SELECT * FROM bids",
    "SELECT item, made AS since FROM bids WINDOW(RANGE 5 MILLISECONDS)",
    "SELECT item, price * 2 AS twice FROM bids WHERE price > 1",
    "SELECT item, COUNT(*) AS n FROM bids WINDOW(RANGE 5 MILLISECONDS SLIDE 5 MILLISECONDS) GROUP BY item",
    "SELECT note, AVG(price) AS mean FROM bids WINDOW(RANGE 9 MILLISECONDS) GROUP BY note",
    "SELECT MAX(made) AS latest, MIN(price) AS least FROM bids WINDOW(ROWS 3 TIES BY ARRIVAL)",
    "SELECT DISTINCT note, sold FROM bids WINDOW(RANGE 4 MILLISECONDS)",
    "SELECT a.item, b.price FROM bids WINDOW(RANGE 6 MILLISECONDS) AS a, "
    "bids WINDOW(RANGE 3 MILLISECONDS) AS b WHERE a.item = b.item",
    "SELECT item FROM bids WINDOW(RANGE 4 MILLISECONDS) WHERE sold",
    "SELECT upper(note) AS loud, made FROM bids WHERE note IS NOT NULL",
)
PLANS = [ms.sql(SCRIPT + query) for query in QUERIES]
BID = make_dataclass("Bid", NAMES)
EPOCH = datetime(1970, 1, 1)

Row = tuple[Any, ...]

ROWS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.integers(-3, 3),
        st.none() | st.floats(-9, 9),
        st.none() | st.sampled_from(["", "é", "two words"]),
        st.none() | st.booleans(),
        st.none() | st.integers(0, 10**13),
    ),
    max_size=25,
).map(lambda rows: sorted(rows, key=lambda row: row[0]))


def arrow(rows: Sequence[Row]) -> Any:
    types = (pa.timestamp("ms"), pa.int32(), pa.float64(), pa.string(), pa.bool_(), pa.timestamp("ms"))
    columns = zip(*rows, strict=True) if rows else ((),) * len(NAMES)
    arrays = [pa.array(list(column), type_) for column, type_ in zip(columns, types, strict=True)]
    return pa.table(arrays, list(NAMES))


def dates(row: Row) -> Row:
    return tuple(
        EPOCH + timedelta(milliseconds=value) if place in (0, 5) and value is not None else value
        for place, value in enumerate(row)
    )


def polars(rows: Sequence[Row]) -> Any:
    return pytest.importorskip("polars", reason="needs polars: pip install 'midstream[polars]'").from_arrow(
        arrow(rows)
    )


FORMS: dict[str, Callable[[Sequence[Row]], Any]] = {
    "tuples": list,
    "an iterator": lambda rows: (row for row in rows),
    "dates": lambda rows: [dates(row) for row in rows],
    "dicts": lambda rows: [dict(zip(reversed(NAMES), reversed(row), strict=True)) for row in rows],
    "dataclasses": lambda rows: [BID(*row) for row in rows],
    "arrow": arrow,
    "a record batch": lambda rows: arrow(rows).combine_chunks().to_batches()[0] if rows else arrow(rows),
    "pandas": lambda rows: arrow(rows).to_pandas(),
    "rows of pandas": lambda rows: (
        arrow(rows)
        .to_pandas(integer_object_nulls=True)
        .astype(object)
        .where(lambda frame: frame.notna(), None)
        .to_dict("records")
    ),
    "polars": polars,
}


@pytest.mark.parametrize("form", FORMS)
@given(rows=ROWS, size=st.integers(1, 30), plan=st.sampled_from(PLANS))
def test_all_forms_give_the_results_of_elements(form: str, rows: list[Row], size: int, plan: Plan) -> None:
    expected = ms.run(plan, {"bids": ms.chronons([(row[0], row[1:]) for row in rows])})
    results = ms.Results()
    engine = ms.Engine(plan, results)
    for at in range(0, len(rows), size):
        engine.push_rows("bids", FORMS[form](rows[at : at + size]))
    engine.close()
    assert Counter(results) == Counter(expected)
    assert Counter(ms.run(plan, {"bids": FORMS[form](rows)}, time="at")) == Counter(expected)


def test_a_long_batch_is_taken_in_order() -> None:
    rows = [(n, n % 7, n / 3, str(n), True, n) for n in range(5000)]
    engine = ms.Engine(PLANS[0], results := ms.Results())
    engine.push_rows("bids", arrow(rows))
    engine.close()
    assert [row for _, _, row in results] == [row[1:] for row in rows]


@given(rows=ROWS)
def test_results_in_all_forms_say_the_same(rows: list[Row]) -> None:
    """Instants are dates with times in UTC, NULL is None or null, and the end of what lasts for ever, too."""
    plan = ms.sql(SCRIPT + "SELECT item, price, made, sold FROM bids WINDOW(RANGE UNBOUNDED)")
    results = ms.run(plan, {"bids": FORMS["dicts"](rows)})
    expected = [
        {
            "start": EPOCH + timedelta(milliseconds=at),
            "end": None,
            "item": item,
            "price": price,
            "made": None if made is None else EPOCH + timedelta(milliseconds=made),
            "sold": sold,
        }
        for at, item, price, _, sold, made in rows
    ]
    assert results.to_dicts() == expected
    assert results.to_arrow().to_pylist() == expected
    frame = results.to_pandas()
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == expected
    polars = pytest.importorskip("polars", reason="needs polars: pip install 'midstream[polars]'")
    assert isinstance(results.to_polars(), polars.DataFrame)
    assert results.to_polars().to_dicts() == expected


@given(rows=ROWS)
def test_results_are_data_again(rows: list[Row]) -> None:
    """What one query gives, another takes; start is its time."""
    plan = ms.sql(SCRIPT + "SELECT item, price, made FROM bids")
    results = ms.run(plan, {"bids": FORMS["dicts"](rows)})
    stream = ms.stream("s", item="integer", price="float?", made="timestamp?", time_unit="milliseconds")
    again = ms.run(stream, {"s": results.to_arrow()}, time="start")
    assert again == results


def test_a_column_keeps_its_time_where_it_is_copied() -> None:
    """Not in arithmetic; and no plan differs by it."""
    bids = ms.stream("bids", item=int, made=datetime, day=date, time_unit="seconds")
    plain = ms.stream("bids", item=int, made=int, day=int, time_unit="seconds")
    copied = bids.rename({"made": "since"}).filter(ms.col("item") > 0)
    other = bids.select("day").rename({"day": "other"})
    joined = copied.join(other).union(copied.join(other.filter(ms.col("other") > 5)))
    schema = joined.plan().root.schema
    assert [(c.name, c.time) for c in schema] == [
        ("item", None),
        ("since", "timestamp"),
        ("day", "date"),
        ("other", "date"),
    ]
    moved = bids.select(later=ms.col("made") + 1)
    assert moved.plan().root.schema.columns[0].time is None
    assert bids.plan() == plain.plan() and hash(bids.plan()) == hash(plain.plan())
    assert ms.equivalent(bids, plain).answer is ms.Answer.PROVED


def test_dates_come_back_as_dates() -> None:
    bids = ms.stream("bids", day="date?", time_unit="hours")
    rows = [
        {"at": datetime(2024, 2, 29, 13), "day": date(2024, 2, 29)},
        {"at": date(2024, 3, 1), "day": None},
    ]
    results = ms.run(bids, {"bids": rows}, time="at")
    expected = [
        {"start": datetime(2024, 2, 29, 13), "end": datetime(2024, 2, 29, 14), "day": date(2024, 2, 29)},
        {"start": datetime(2024, 3, 1), "end": datetime(2024, 3, 1, 1), "day": None},
    ]
    assert results.to_dicts() == expected
    assert results.to_arrow().to_pylist() == expected


def scalars() -> Iterator[tuple[str, Any, Any]]:
    np = pytest.importorskip("numpy")
    yield "item", np.int64(7), 7
    yield "item", np.uint8(7), 7
    yield "price", np.float32(0.5), 0.5
    yield "price", np.float64(0.5), 0.5
    yield "price", None, None
    yield "price", pd.NA, None
    yield "note", np.str_("x"), "x"
    yield "sold", np.bool_(True), True
    yield "made", pd.Timestamp("1970-01-01T00:00:00.007"), 7
    yield "made", np.datetime64("1970-01-01T00:00:00.007"), 7
    yield "made", np.datetime64(7_000_000, "ns"), 7
    yield "made", pd.NaT, None
    yield "made", np.datetime64("NaT"), None


@pytest.mark.parametrize(("column", "value", "expected"), list(scalars()))
def test_scalars_of_numpy_and_pandas_are_values(column: str, value: Any, expected: Any) -> None:
    row = {"at": 1, "item": 1, "price": 1.0, "note": "n", "sold": False, "made": 3, column: value}
    ((_, _, found),) = ms.run(PLANS[0], {"bids": [row]})
    assert found[NAMES.index(column) - 1] == expected
    assert type(found[NAMES.index(column) - 1]) is type(expected)


def test_integers_with_missing_values_are_floats_in_pandas() -> None:
    bids = ms.stream("bids", item="integer?").window(9)
    frame = pd.DataFrame({"at": [1, 2], "item": [5, math.nan]})
    assert [row for _, _, row in ms.run(bids, {"bids": frame}, time="at")] == [(5,), (None,)]
    with pytest.raises(InputFileError, match=r"bids, row 2, column item: found 1\.5, expected integer"):
        ms.run(bids, {"bids": frame.fillna(1.5)}, time="at")


def test_names_are_found_in_any_case_and_others_are_ignored() -> None:
    bids = ms.stream("bids", Item="integer")
    table = pa.table({"more": [1], "ITEM": [2], "At": [3]})
    assert ms.run(bids, {"bids": table}, time="at") == [(3, 4, (2,))]


BIDS = ms.stream("bids", item="integer", price="float").window(9)


@pytest.mark.parametrize(
    ("data", "time", "error", "message"),
    [
        (5, "at", ArgumentError, "push_rows: stream bids: found 5 .int., expected rows .tuples, dicts or"),
        ({"at": 1}, "at", ArgumentError, "found {'at': 1} .dict., expected rows"),
        ("text", "at", ArgumentError, "expected rows"),
        (
            [7],
            "at",
            InputFileError,
            "bids, row 1: found 7, expected a tuple, a list, a mapping or a dataclass",
        ),
        ([(1, 2)], "at", InputFileError, "bids, row 1: found 2 values, expected 3: at, item, price"),
        ([{"at": 1, "item": 2}], "at", InputFileError, "bids, row 1, column price: found no such column"),
        ([(1, 2, "x")], "at", InputFileError, "bids, row 1, column price: found 'x', expected float"),
        ([(1, 2, math.nan)], "at", InputFileError, "bids, row 1, column price: found nan, expected float"),
        (
            [(None, 2, 1.0)],
            "at",
            InputFileError,
            "bids, row 1, column at: found null, expected an integer, or",
        ),
        ([(1, 2, 1.0)], None, ArgumentError, r"found no time for stream bids, expected time='…', the column"),
        (
            [(1, 2, 1.0)],
            "item",
            ArgumentError,
            "found time='item', a column of stream bids, expected another",
        ),
        ([(1, 2, 1.0)], 3, ArgumentError, "push_rows: time: found 3 .int., expected the name of a column"),
        (
            [(EPOCH, 2, 1.0)],
            "at",
            SchemaError,
            "found 1970-01-01.*, expected an integer, as the stream has no unit",
        ),
        (
            pa.table({"at": [1]}),
            "at",
            SchemaError,
            "stream bids, column item: found no such column, expected one of at",
        ),
        (
            pa.table({"at": ["x"], "item": ["y"], "price": [1.0]}),
            "at",
            SchemaError,
            "column item: found string, exp",
        ),
    ],
)
def test_other_data_is_refused(data: Any, time: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ms.Engine(BIDS).push_rows("bids", data, time)


def test_streams_that_take_no_rows_are_refused() -> None:
    engine = ms.Engine(ms.stream("s", x="integer", intervals=True))
    with pytest.raises(ArgumentError, match="stream s has intervals of its own"):
        engine.push_rows("s", [(1, 2)], "at")
    with pytest.raises(ms.MidstreamError, match="the query reads no stream t"):
        engine.push_rows("t", [])


def test_integers_of_an_assumed_unit_are_refused_and_dates_are_taken() -> None:
    plan = ms.sql(
        "CREATE STREAM s(x INT, at TIMESTAMP) ORDERED BY at; SELECT x FROM s WINDOW(RANGE 1 SECOND)"
    )
    ((start, end, _),) = ms.run(plan, {"s": [{"x": 1, "at": EPOCH}]})
    assert (start, end) == (0, 10**6)
    with pytest.raises(
        InputFileError, match="s, row 1, column at: found an integer as timestamp, and nothing says"
    ):
        ms.run(plan, {"s": [{"x": 1, "at": 7}]})


def test_results_without_columns_say_so() -> None:
    engine = ms.Engine(BIDS, (results := ms.Results()).extend)
    engine.push_rows("bids", [(1, 2, 3.0)], "at")
    engine.close()
    with pytest.raises(ArgumentError, match="found no columns, expected those of a query"):
        results.to_dicts()
    assert ms.Results(results, plan=BIDS).to_dicts() == [{"start": 1, "end": 10, "item": 2, "price": 3.0}]


def test_results_that_fit_no_table_say_so() -> None:
    large = ms.run(ms.stream("s", x="integer"), {"s": [{"x": 2**70, "at": 1}]}, time="at")
    assert large.to_dicts()[0]["x"] == 2**70
    with pytest.raises(ConnectorError, match="result 1, column x: found an integer beyond 64 bits"):
        large.to_arrow()
    named = ms.run(ms.stream("s", end="integer"), {"s": [{"end": 2, "at": 1}]}, time="at")
    for call in (named.to_dicts, named.to_arrow):
        with pytest.raises(ConnectorError, match="found a column end, expected other names"):
            call()


def test_a_stream_that_run_does_not_get_is_named() -> None:
    with pytest.raises(
        ArgumentError, match="run: time: found a stream bid, expected one of bids; did you mean"
    ):
        ms.run(BIDS, {"bids": []}, time={"bid": "at"})
