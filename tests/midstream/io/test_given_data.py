"""Data that a program gives: read again or refused, in order of time, without errors of other libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

import midstream as ms
from midstream.io.errors import ConnectorError
from midstream.plans.values.errors import ArgumentError, InputFileError, Note, QueryNote, SchemaError
from midstream.plans.values.unit_words import ImplausibleTime

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

PLAN = ms.stream("s", k="integer").window(3)
ROWS = [(0, (1,)), (5, (2,))]
ELEMENTS = [(0, 1, (1,)), (5, 6, (2,))]


def declared(type_: str, unit: str = "seconds") -> Any:
    return asked(f"at TIMESTAMP, k {type_}", "SELECT k FROM s", unit)


def asked(columns: str, query: str, unit: str = "seconds") -> Any:
    return ms.sql(f"CREATE STREAM s({columns}) ORDERED BY at TIME_UNIT '{unit}'; {query}")


def run(plan: Any, data: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(ms.run(plan, {"s": data}))


def generator() -> Iterator[Any]:
    yield from ELEMENTS


@pytest.mark.parametrize(
    "data", [ms.chronons(ROWS), ms.chronons(ROWS, "seconds"), ms.chronons(tuple(ROWS)), ELEMENTS]
)
def test_what_can_be_read_again_gives_the_same_results(data: Any) -> None:
    first = run(PLAN, data)
    assert run(PLAN, data) == first and len(first) == 2


@pytest.mark.parametrize(
    "make",
    [
        generator,
        lambda: iter(ELEMENTS),
        lambda: map(tuple, ELEMENTS),
        lambda: ms.chronons(iter(ROWS)),
        lambda: ms.chronons(row for row in ROWS),
        lambda: pa.table({"at": [0], "k": [1]}).to_reader(),
    ],
)
def test_what_can_be_read_once_is_refused_the_second_time(make: Callable[[], Any]) -> None:
    data, plan = make(), declared("INT")
    assert run(plan, data)
    with pytest.raises(ArgumentError, match=r"read before.*expected"):
        run(plan, data)


def test_a_run_that_failed_has_read_its_input() -> None:
    data = ms.chronons(iter([(0, (1,)), (1, ("x",)), (2, (3,))]))
    with pytest.raises(ms.MidstreamError):
        ms.run(PLAN, {"s": data}, batch_size=1)
    with pytest.raises(ArgumentError, match="read before"):
        run(PLAN, data)


def test_an_iterator_that_others_have_read_is_refused() -> None:
    data = generator()
    assert list(data) == ELEMENTS
    with pytest.raises(ArgumentError, match="found a generator at its end"):
        run(PLAN, data)
    assert run(PLAN, (element for element in [])) == [] == run(PLAN, [])


def test_one_iterator_is_no_two_streams() -> None:
    data = iter(ELEMENTS)
    two = PLAN.union(ms.stream("t", k="integer").window(3))
    with pytest.raises(ArgumentError, match="found one list_iterator for s and t, which would share"):
        ms.run(two, {"s": data, "t": data})


def test_comparisons_and_engines_refuse_what_others_have_read() -> None:
    data = iter(ELEMENTS)
    assert ms.equivalent(data, ELEMENTS)
    with pytest.raises(ArgumentError, match="equivalent: left: found a list_iterator at its end"):
        ms.equivalent(data, ELEMENTS)
    with pytest.raises(ArgumentError, match="for left and right, which would share"):
        ms.equivalent(data, data)
    rows = ({"at": at, "k": 1} for at in range(3))
    engine = ms.Engine(declared("INT"), ms.Results())
    engine.push_rows("s", rows)
    engine.push_rows("s", map(dict, []))
    with pytest.raises(ArgumentError, match="found a generator at its end"):
        engine.push_rows("s", rows)


FRAMES: dict[str, Callable[[Any], Any]] = {
    "arrow": pa.table,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "reader": lambda columns: pa.table(columns).to_reader(max_chunksize=2),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_table_out_of_order_is_sorted(make: Callable[[Any], Any]) -> None:
    columns = {"at": [5, 3, 9, 3, 9], "k": [1, 2, 3, 4, 5]}
    assert [(start, *row) for start, _, row in run(declared("INT"), make(columns))] == [
        *((3, 2), (3, 4), (5, 1), (9, 3), (9, 5))
    ]


def test_a_note_tells_the_row_that_is_out_of_order() -> None:
    frame = pd.DataFrame({"at": [1] * 2000 + [0], "k": range(2001)})
    with pytest.warns(Note, match=r"stream s: rows are not in order of time \(first in row 2001\)"):
        assert ms.run(declared("INT"), {"s": frame})[0] == (0, 1, (2000,))
    with warnings.catch_warnings():
        warnings.simplefilter("error", Note)
        warnings.simplefilter("ignore", ImplausibleTime)
        ms.run(declared("INT"), {"s": frame.sort_values("at", kind="stable")})


AT = pd.to_datetime(["2026-01-01"] * 2)


@pytest.mark.parametrize(
    ("type_", "data", "message"),
    [
        (
            "TEXT",
            {"k": [1, "x"]},
            "s, row 1, column k: found 1, expected string, or null; convert the column, or",
        ),
        ("INT", {"k": [1, "x"]}, "s, row 2, column k: found 'x', expected integer, or null"),
        ("TEXT", {"k": ["a", "\ud800"]}, "s, row 2, column k: found "),
        ("TEXT", {"k": [1j, 2j]}, "s, row 1, column k: found 1j"),
        ("TEXT", {"k": [[1], [2]]}, "stream s, column k: found list.*; convert the column, or declare"),
        ("TEXT", {"k": pd.period_range("2026", periods=2, freq="M")}, "stream s, column k: found .*convert"),
        ("INT", {"j": [1, 2]}, "stream s, column k: found no such column"),
    ],
)
def test_errors_name_stream_row_and_column(type_: str, data: Any, message: str) -> None:
    with pytest.raises((SchemaError, InputFileError), match=message):
        run(declared(type_), pd.DataFrame({"at": AT, **data}))


def test_a_column_twice_matters_if_it_is_read() -> None:
    frame = pd.DataFrame([[AT[0], 1, 2]], columns=["at", "k", "k"])
    with pytest.raises(SchemaError, match="column k: found 2 columns of this name, expected one; rename"):
        run(declared("INT"), frame)
    frame = pd.DataFrame([[AT[0], 1, 2, "x"]], columns=["at", "k", "z", "z"])
    assert [row for _, _, row in run(declared("INT"), frame)] == [(1,)]


@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        ("INT", [10**30, 1], [10**30, 1]),
        ("REAL", [Decimal("1.10"), 2.5], [1.1, 2.5]),
        ("INT", pd.arrays.SparseArray([0, 1]), [0, 1]),
        ("TEXT", pd.Categorical(["a", None]), ["a", None]),
        ("REAL", [float("nan"), Decimal("2.5")], [None, 2.5]),
        ("INT", [float("nan"), 2], [None, 2]),
    ],
)
def test_columns_that_arrow_does_not_take_are_read_by_value(type_: str, values: Any, expected: Any) -> None:
    frame = pd.DataFrame({"at": AT, "k": values, "unread": [1, "x"]})
    assert [row for _, _, (row,) in run(declared(type_), frame)] == expected


def test_columns_of_an_index_are_columns() -> None:
    frame = pd.DataFrame({"k": [1, 2]}, index=pd.Index(AT, name="at"))
    assert len(run(declared("INT"), frame)) == 2


def test_errors_of_other_libraries_are_explained() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT 1 AS at, CAST(x AS INT) AS k FROM (VALUES ('1'), ('x')) t(x)")
    with pytest.raises(SchemaError, match=r"stream s: found a .*Relation that gives no rows.*'x'"):
        run(declared("INT"), relation)
    with pytest.raises(SchemaError, match=r"found a polars.Series that gives no rows"):
        run(declared("INT"), pl.Series("k", [1]))


def test_dicts_keep_instants_or_refuse_them() -> None:
    rows = [{"at": "2026-01-01T12:00:00.123456789", "k": 1}]
    fine = ms.run(declared("INT", "nanoseconds"), {"s": rows})
    with pytest.raises(
        ConnectorError, match=r"result 1, column start: found 2026-01-01T12:00:00.123456789, .* to_arrow\(\)"
    ):
        fine.to_dicts()
    found = fine.to_arrow().column("start")[0]
    assert found.value == fine[0][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        last = ms.run(declared("INT"), {"s": [{"at": "9999-12-31T23:59:59", "k": 1}]})
    with pytest.raises(ConnectorError, match=r"result 1, column end: found \+010000-01-01T00:00:00"):
        last.to_dicts()
    assert last.to_arrow().num_rows == 1


def test_dicts_refuse_columns_of_times_likewise() -> None:
    plan = declared("TIMESTAMP", "nanoseconds")
    found = ms.run(plan, {"s": [{"at": "2026-01-01", "k": "2026-01-01T00:00:00.000000001"}]})
    found[:] = [(start, start + 1000, row) for start, _, row in found]
    with pytest.raises(ConnectorError, match=r"result 1, column k: found 2026-01-01T00:00:00\.000000001"):
        found.to_dicts()


def test_arrow_names_the_instant_that_has_no_room() -> None:
    plan = asked("at TIMESTAMP, d DATE", "SELECT d FROM s", "nanoseconds")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [
            {"at": "2026-01-01", "d": "0001-01-01"},
            {"at": "2400-01-01", "d": "2026-01-01"},
        ]
        found = ms.run(plan, {"s": rows})
    with pytest.raises(
        ConnectorError, match=r"result 2, column start: found 2400-01-01T00:00:00.0*, which has"
    ):
        found.to_arrow()
    first = ms.Results(found[:1], plan=plan)
    assert first.to_arrow()["d"][0].as_py() == date(1, 1, 1)


DECIMALS = [{"at": 1, "k": Decimal("0.0100")}]


@pytest.mark.parametrize("make", [list, pd.DataFrame, pa.Table.from_pylist], ids=["dicts", "pandas", "arrow"])
def test_a_note_tells_where_decimals_meet_a_limit(make: Callable[[Any], Any]) -> None:
    plan = asked("at TIMESTAMP, k REAL", "SELECT k FROM s WHERE k * 2 > 0.02")
    with pytest.warns(QueryNote, match=r"k holds decimals, .* \(k \* 2\) > 0.02 .* ROUND\(k \* 2, 8\)"):
        ms.run(plan, {"s": make(DECIMALS)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryNote)
        warnings.simplefilter("ignore", ImplausibleTime)
        ms.run(plan, {"s": make([{"at": 1, "k": 0.01}])})


def test_a_file_and_its_query_in_sql_have_the_same_dates(tmp_path: Any) -> None:
    pytest.importorskip("duckdb")
    path = tmp_path / "o.csv"
    path.write_text("at,d,k\n2026-01-05 00:00:00,2026-01-01,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_builder = ms.run(ms.read_csv(path, time="at"))
        of_sql = ms.run(ms.sql(f"SELECT d, k FROM read_csv('{path}', time = 'at')"))
        of_script = ms.run(
            ms.sql(
                f"CREATE STREAM o(at TIMESTAMP, d DATE, k INT) SOURCE csv('{path}') ORDERED BY at; "
                "SELECT * FROM o"
            )
        )
    expected = {
        "start": datetime(2026, 1, 5),
        "end": datetime(2026, 1, 5, 0, 0, 0, 1),
        "d": date(2026, 1, 1),
        "k": 1,
    }
    assert of_builder.to_dicts() == of_sql.to_dicts() == of_script.to_dicts() == [expected]
    assert of_builder.to_arrow().schema == of_sql.to_arrow().schema
