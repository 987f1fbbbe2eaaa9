"""Refusals of files: they cite the value that is wrong, and each advice works, followed word for word.

Following an advice, a query runs, and no value is lost but those of a row that the advice says to set aside.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import midstream as ms
from midstream.cli import app
from midstream.io.sniffing import samples

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FUNCTIONS = {".csv": "read_csv", ".jsonl": "read_json", ".json": "read_json", ".parquet": "read_parquet"}


@dataclass(frozen=True)
class Refusal:
    """Files that are refused, the beginning of the message, and each advice with the rows that it gives.

    given      options of FROM that are refused
    options    options of FROM
    commands   commands of a shell, which write another file
    calls      what stands in FROM instead
    aside      options of FROM, with which `midstream sql --dead-letters` sets bad rows aside
    """

    files: dict[str, str | bytes]
    message: str
    options: dict[str, Any] = field(default_factory=dict)
    commands: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, Any] = field(default_factory=dict)
    aside: dict[str, Any] = field(default_factory=dict)
    given: str = ""


def parquet(**columns: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def line(**values: Any) -> str:
    return json.dumps(values) + "\n"


TS = "2026-01-01 00:00:00"
BY_DELIM = "delim = ','"
AS_TIMESTAMP = "time = 'at', types = 'at TIMESTAMP'"

REFUSALS: dict[str, Refusal] = {
    "an hour that clocks do not have": Refusal(
        {"a.csv": "at,v\n2026-01-01 22:00,1\n2026-01-01 23:00,2\n2026-01-01 24:00,3\n"},
        "a.csv, line 4, column at: found '2026-01-01 24:00', expected a timestamp",
        aside={AS_TIMESTAMP: [(1,), (2,)]},
    ),
    "a total below": Refusal(
        {"a.csv": "at,v\n2026-01-01,1.5\n2026-01-02,2.5\nTotal,4.0\n"},
        "a.csv, line 4, column at: found 'Total', expected a timestamp",
        aside={AS_TIMESTAMP: [(1.5,), (2.5,)]},
    ),
    "a total below a column that is given": Refusal(
        {"a.csv": "x,v\n2026-01-01,1\n2026-01-02,2\nTotal,3\n"},
        "a.csv, line 4, column x: found 'Total', expected a timestamp",
        given="time = 'x'",
        aside={"time = 'x', types = 'x TIMESTAMP'": [(1,), (2,)]},
    ),
    "German dates, and one that is none": Refusal(
        {"a.csv": "at,v\n13.01.2026,1\n14.01.2026,2\n31.02.2026,3\n"},
        "a.csv, line 4, column at: found '31.02.2026', expected a timestamp",
        aside={AS_TIMESTAMP: [(1,), (2,)]},
    ),
    "units that differ": Refusal(
        {"a.csv": "ts,v\n1536507914000,1\n1536507915000,2\n1536507916123000,3\n"},
        "a.csv, line 4, column ts: found 1536507916123000, which counts microseconds, expected milliseconds",
        aside={"time = 'ts'": [(1,), (2,)]},
    ),
    "as many of either unit": Refusal(
        {"a.csv": "ts,v\n1536507914000,1\n1536507916123000,3\n"},
        "a.csv, line 3, column ts: found 1536507916123000, which counts microseconds, expected milliseconds",
    ),
    "integers of a name that says no time": Refusal(
        {"a.csv": "id,stand\n7,1536507914000\n8,1536507915000\n"},
        "a.csv: found no column of timestamps among id, stand",
        options={"time = 'stand', unit = 'milliseconds'": [(7,), (8,)]},
    ),
    "zones with names": Refusal(
        {"a.csv": "at,v\n2026-01-01 12:00 CET,1\n"},
        "a.csv, line 2, column at: found '2026-01-01 12:00 CET', expected a timestamp in UTC, or with an",
    ),
    "a column of time that is declared otherwise": Refusal(
        {"a.csv": "at,v\n2026-01-01,1\n"},
        "a.csv, line 2, column at: found '2026-01-01', expected an integer, as types says",
        given="types = 'at BIGINT', time = 'at'",
        options={"types = 'at TIMESTAMP'": [(1,)]},
    ),
    "a column of time that is declared as text": Refusal(
        {"a.csv": "at,v\n2026-01-01,1\n"},
        "a.csv, column at: found '2026-01-01', expected timestamps or integers",
        given="types = 'at TEXT', time = 'at'",
        options={"types = 'at TIMESTAMP'": [(1,)]},
    ),
    "a column of time as text, which nobody chose": Refusal(
        {"a.csv": "at,v\n2026-01-01 12:00 UTC,1\n"},
        "a.csv: found no column of timestamps among at, v",
        given="types = 'at TEXT'",
        options={"time = 'at', types = 'at TIMESTAMP'": [(1,)]},
    ),
    "two columns of times": Refusal(
        {"a.csv": "born,seen\n2026-01-01,2026-01-02\n"},
        "a.csv: found timestamps in born, seen",
        options={"time = 'born'": [(1767312000000000,)]},
    ),
    "dates with two readings": Refusal(
        {"a.csv": "at,v\n03/04/2026,1\n"},
        "a.csv, column at: found 03/04/2026",
        options={"format = '%d/%m/%Y'": [(1,)], "format = '%m/%d/%Y'": [(1,)]},
    ),
    "dates beside times of day": Refusal(
        {"a.csv": "date,time,v\n2026-01-01,08:15:00,1\n2026-01-01,5:16 PM,2\n"},
        "a.csv: found dates in column date, and times of day in column time",
        options={
            "time_of_day = 'time'": [("08:15:00", 1), ("5:16 PM", 2)],
            "time = 'date'": [("08:15:00", 1), ("5:16 PM", 2)],
        },
    ),
    "dates beside times of day, in JSON": Refusal(
        {"a.jsonl": line(date="2026-01-01", clock="08:15") + line(date="2026-01-01", clock="08:16")},
        "a.jsonl: found dates in column date, and times of day in column clock",
        options={"time_of_day = 'clock'": [("08:15",), ("08:16",)]},
    ),
    "dates beside times of day, in Parquet": Refusal(
        {
            "a.parquet": parquet(
                day=pa.array([20454], pa.date32()), clock=pa.array([8 * 3600 * 10**6], pa.time64("us"))
            )
        },
        "a.parquet: found dates in column day, and times of day in column clock",
        options={"time_of_day = 'clock'": [("08:00:00.000000",)]},
    ),
    "points of thousands": Refusal(
        {"a.csv": f"zeit;preis;menge\n{TS};1,25;1.234\n{TS};2,50;12.500\n"},
        "a.csv, line 2, column menge: found 1.234, which is a fraction",
        options={
            "decimal_separator = '.'": [("1,25", 1.234), ("2,50", 12.5)],
            "decimal_separator = ',', thousands = '.'": [(1.25, 1234), (2.5, 12500)],
        },
    ),
    "points that nothing explains": Refusal(
        {"a.csv": f"zeit;menge\n{TS};1.234\n{TS};12.500\n"},
        "a.csv, line 2, column menge: found 1.234, which is a fraction",
        options={
            "decimal_separator = '.'": [(1.234,), (12.5,)],
            "decimal_separator = ',', thousands = '.'": [(1234,), (12500,)],
        },
    ),
    "a value that DuckDB reads otherwise": Refusal(
        {"a.csv": f"ts,v\n{TS},12\n{TS},0x1f\n"},
        "a.csv, line 3, column v: found '0x1f', which DuckDB reads as integer",
        options={"types = 'v TEXT'": [("12",), ("0x1f",)]},
    ),
    "comments above the header": Refusal(
        {"a.csv": "# exported\n# by x\nat,id\n2026-01-01,1\n2026-01-02,2\n"},
        "a.csv, line 1: found 1 fields, expected 2",
        commands={"tail -n +3 < a.csv > mended.csv": [(1,), (2,)]},
    ),
    "comments above the header, and the separator": Refusal(
        {"a.csv": "# exported\nat,id\n2026-01-01,1\n2026-01-02,2\n"},
        "a.csv, line 1: found 1 fields, expected 2",
        given="delim = ','",
        commands={"tail -n +2 < a.csv > mended.csv": [(1,), (2,)]},
    ),
    "a title above a packed file": Refusal(
        {"a.csv.gz": gzip.compress(b"Orders\n\nat,id\n2026-01-01,1\n2026-01-02,2\n")},
        "a.csv.gz, line 1: found 1 fields, expected 2",
        commands={"gzip -dc < a.csv.gz | tail -n +3 > mended.csv": [(1,), (2,)]},
    ),
    "a header without a name in front": Refusal(
        {"a.csv": "at,v\n1,2026-01-01,5\n2,2026-01-02,6\n"},
        "a.csv, line 1: found 2 fields, expected 3",
        commands={"sed '1s/^/column2,/' < a.csv > mended.csv": [(1, 5), (2, 6)]},
    ),
    "separators at the ends of rows": Refusal(
        {"a.csv": "at,v\n2026-01-01,5,\n2026-01-02,6,\n"},
        "a.csv, line 1: found 2 fields, expected 3",
        commands={"sed '1s/$/,column2/' < a.csv > mended.csv": [(5, None), (6, None)]},
    ),
    "a header with a name too many": Refusal(
        {"a.csv": "at,v,w\n2026-01-01,5\n2026-01-02,6\n"},
        "a.csv, line 1: found 3 fields, expected 2",
        commands={"sed '2,$s/$/,/' < a.csv > mended.csv": [(5, None), (6, None)]},
    ),
    "carriage returns alone": Refusal(
        {"a.csv": "at,v\r2026-01-01,5\r2026-01-02,6\r"},
        "a.csv, line 1: found a carriage return (CR) alone",
        commands={r"tr '\r' '\n' < a.csv > mended.csv": [(5,), (6,)]},
    ),
    "quotes behind backslashes": Refusal(
        {"a.csv": 'at,v\n2026-01-01,"a \\"b\\", c"\n2026-01-02,d\n'},
        "a.csv, line 2: found ',' expected after",
        commands={r"""sed 's/\\"/""/g' < a.csv > mended.csv""": [('a "b", c',), ("d",)]},
    ),
    "quotes that are none": Refusal(
        {"a.csv": 'at,v\n2026-01-01,"5\n2026-01-02,6\n'},
        "a.csv, line 2: found unexpected end of data",
        options={"quote = ''": [('"5',), ("6",)]},
    ),
    "a wide row": Refusal(
        {"a.csv": "at,v\n2026-01-01,5\n2026-01-02,6,7\n2026-01-03,8\n"},
        "a.csv, line 3: found 3 fields, expected 2",
        aside={BY_DELIM: [(5,), (8,)]},
    ),
    "a column that a file lacks": Refusal(
        {"a-1.csv": f"at,a,b\n{TS},1,2\n", "a-2.csv": "at,a\n2026-01-01 00:00:01,3\n"},
        "a-2.csv, line 1, column b: found no such column",
        calls={"read_csv('a-*.csv', time = 'at', sparse = true)": [(1, 2), (3, None)]},
    ),
    "a column that a file of Parquet lacks": Refusal(
        {"a-1.parquet": parquet(at=[TS], a=[1], b=[2]), "a-2.parquet": parquet(at=[TS], a=[3])},
        "a-2.parquet, column b: found no such column",
        calls={"read_parquet('a-*.parquet', time = 'at', sparse = true)": [(1, 2), (3, None)]},
    ),
    "a key that later objects lack": Refusal(
        {"a-1.jsonl": line(at=TS, a=1), "a-2.jsonl": line(at=TS)},
        "a-2.jsonl, line 1, column a: found no such column",
        calls={"read_json('a-*.jsonl', time = 'at', sparse = true)": [(1,), (None,)]},
    ),
    "a code in another file": Refusal(
        {"a-1.csv": f"at;zip;x\n{TS};2139;a\n", "a-2.csv": f"at;zip;x\n{TS};02139;b\n"},
        "a-2.csv, line 2, column zip: found '02139', expected integer, or nothing, without a plus or zeros",
        given="delim = ';'",
        calls={
            "read_csv('a-*.csv', delim = ';', time = 'at', types = 'zip TEXT')": [
                ("2139", "a"),
                ("02139", "b"),
            ]
        },
    ),
    "a text in another file, where types are given": Refusal(
        {"a-1.csv": f"at,n,m\n{TS},1,2\n", "a-2.csv": f"at,n,m\n{TS},x,3\n"},
        "a-2.csv, line 2, column n: found 'x', expected integer",
        given="types = 'm DOUBLE, n INT'",
        calls={"read_csv('a-*.csv', time = 'at', types = 'm DOUBLE, n TEXT')": [("1", 2.0), ("x", 3.0)]},
    ),
    "another type in another file of Parquet": Refusal(
        {"a-1.parquet": parquet(at=[TS], a=[1]), "a-2.parquet": parquet(at=[TS], a=[2.5])},
        "a-2.parquet, column a: found double, expected integer",
        calls={"read_parquet('a-*.parquet', time = 'at', types = 'a TEXT')": [("1",), ("2.5",)]},
    ),
    "texts in another file of Parquet": Refusal(
        {"a-1.parquet": parquet(at=[TS], a=[1]), "a-2.parquet": parquet(at=[TS], a=["x"])},
        "a-2.parquet, column a: found string, expected integer",
        commands={"python -c": [("1",), ("x",)]},
    ),
    "keys that the beginning lacks": Refusal(
        {
            "a.jsonl": "".join(line(at=TS, n=1) for _ in range(4000))
            + line(at=TS, n=2, k=5, **{"two words": True})
            + line(at=TS, n=3, k=0.5, late="x", mixed=1)
            + line(at=TS, n=4, mixed="y")
        },
        "a.jsonl, line 4001, column k: found a column that the file's beginning lacks, expected only at, n;",
        calls={
            "read_json('a.jsonl', time = 'at', types = 'k DOUBLE, \"two words\" BOOLEAN, "
            "late TEXT, mixed TEXT', sparse = true)": [
                *([(1, None, None, None, None)] * 4000),
                (2, 5.0, True, None, None),
                (3, 0.5, None, "x", "1"),
                (4, None, None, None, "y"),
            ]
        },
    ),
    "a key behind the beginning, set aside": Refusal(
        {
            "a.jsonl": "".join(line(at=TS, n=1) for _ in range(4000))
            + line(at=TS, k=1, n=2)
            + line(at=TS, n=3)
        },
        "a.jsonl, line 4001, column k: found a column that the file's beginning lacks",
        aside={"": [(1,)] * 4000 + [(3,)]},
    ),
    "keys that a later file has": Refusal(
        {"a-1.jsonl": line(at=TS, n=1), "a-2.jsonl": line(at=TS, n=2, m=2**70, x={"a": [1]})},
        "a-2.jsonl, line 1, column m: found a column that the file's beginning lacks",
        calls={
            "read_json('a-*.jsonl', time = 'at', types = 'm BIGINT, x TEXT', sparse = true)": [
                (1, None, None),
                (2, 2**70, '{"a": [1]}'),
            ]
        },
    ),
    "columns that later files have": Refusal(
        {
            "a-1.csv": f"at,n\n{TS},1\n",
            "a-2.csv": f"at,m,n\n{TS},02,2\n",
            "a-3.csv": f"at,n,m,o\n{TS},3,5,x\n",
        },
        "a-2.csv, line 1, column m: found a column that the file's beginning lacks",
        given="types = 'n DOUBLE'",
        calls={
            "read_csv('a-*.csv', time = 'at', types = 'n DOUBLE, m TEXT, o TEXT', sparse = true)": [
                (1.0, None, None),
                (2.0, "02", None),
                (3.0, "5", "x"),
            ]
        },
    ),
    "a column without a name in a later file": Refusal(
        {"a-1.csv": f"at,n\n{TS},1\n", "a-2.csv": f"at,,n\n{TS},7,2\n"},
        "a-2.csv, line 1: found a column without a name, which the file's beginning lacks, expected only",
        calls={"read_csv('a-2.csv', time = 'at')": [(2,)]},
    ),
    "a key without a name in a later file": Refusal(
        {"a-1.jsonl": line(at=TS, n=1), "a-2.jsonl": line(at=TS, n=2, **{"": 5}) + line(at=TS, n=3)},
        "a-2.jsonl, line 1: found a column without a name, which the file's beginning lacks, expected only",
        aside={"": [(1,), (3,)]},
    ),
    "a column of another name in a later file": Refusal(
        {"a-1.csv": f"at,n\n{TS},1\n", "a-2.csv": f"at,N 2\n{TS},2\n"},
        "a-2.csv, line 1, column n: found no such column",
        calls={
            "read_csv('a-*.csv', time = 'at', types = '\"N 2\" TEXT', sparse = true)": [
                (1, None),
                (None, "2"),
            ]
        },
    ),
    "columns that a later file of Parquet has": Refusal(
        {
            "a-1.parquet": parquet(at=[TS], a=[1]),
            "a-2.parquet": parquet(at=[TS], a=[2], b=[2.5], d=pa.array([1], pa.date32()), t=[[1]]),
        },
        "a-2.parquet, column b: found a column that the file's beginning lacks",
        calls={
            "read_parquet('a-*.parquet', time = 'at', types = 'b DOUBLE, d DATE, t TEXT', sparse = true)": [
                (1, None, None, None),
                (2, 2.5, 86400 * 10**6, "[1]"),
            ]
        },
    ),
    "a type of a column that the beginning lacks": Refusal(
        {"a-1.csv": f"at,n\n{TS},1\n", "a-2.csv": f"at,n,m\n{TS},2,3\n"},
        "a-*.csv: types: found m, expected one of at, n",
        given="types = 'm INT'",
        options={"types = 'm BIGINT', sparse = true": [(1, None), (2, 3)]},
    ),
    "nested, beside a key of the flat name": Refusal(
        {"a.jsonl": line(at=TS, u_id=7, u={"id": 1})},
        "a.jsonl, line 1, column u: found a nested value",
        options={"types = 'u TEXT'": [(7, '{"id": 1}')]},
    ),
    "nested, with a key that is no word": Refusal(
        {"a.jsonl": line(at=TS, **{"a b": {"a-b": 2**63}})},
        "a.jsonl, line 1, column a b: found a nested value",
        options={"types = '\"a b\" TEXT'": [('{"a-b": 9223372036854775808}',)]},
    ),
    "lists in Parquet": Refusal(
        {"a.parquet": parquet(at=[TS], tags=[["a", "b"]])},
        "a.parquet, column tags: found list",
        options={"types = 'tags TEXT'": [('["a", "b"]',)]},
    ),
    "bytes in Parquet": Refusal(
        {"a.parquet": parquet(at=[TS], key=[b"\xff\x00"])},
        "a.parquet, column key: found binary",
        commands={"python -c": [("FF00",)]},
    ),
    "a time inside of an object": Refusal(
        {"a.jsonl": line(at={"$date": "2026-01-01"}, v=1) + line(at={"$date": "2026-01-02"}, v=2)},
        "a.jsonl, line 1, column at: found a nested value",
        commands={"""jq -c '.["at"] = .["at"]["$date"]' < a.jsonl > mended.jsonl""": [(1,), (2,)]},
    ),
    "times of two types in JSON": Refusal(
        {"a.jsonl": line(at=1767225600, v=1) + line(at="2026-01-02", v=2)},
        "a.jsonl, line 2, column at: found '2026-01-02', expected timestamps of one form, or integers",
    ),
    "CSV as JSON": Refusal(
        {"a.jsonl": "at,v\n2026-01-01,1\n"},
        "a.jsonl, line 1: found Expecting value",
        calls={"read_csv('a.jsonl')": [(1,)]},
    ),
    "JSON with a fault": Refusal(
        {"a.jsonl": '{"at": "2026-01-01", "v": 1,}\n{"at": "2026-01-02", "v": 2}\n'},
        "expected an object a line; mend it, or remove the line",
    ),
    "zones of places": Refusal(
        {"a.csv": "at,v\n2026-01-01 12:00:00 Europe/Berlin,1\n"},
        "a.csv, line 2, column at: found '2026-01-01 12:00:00 Europe/Berlin', expected a timestamp in UTC",
    ),
    "dates of both readings": Refusal(
        {"a.csv": "at,v\n03/04/2026,1\n13/04/2026,2\n04/13/2026,3\n"},
        "a.csv, line 4, column at: found '04/13/2026', which DuckDB reads as DATE, expected timestamps",
    ),
    "values of several types in JSON": Refusal(
        {"a.jsonl": line(at=TS, n=5) + line(at=TS, n="x")},
        "a.jsonl, line 2, column n: found 'x', expected integer, as in the lines before",
        options={"types = 'n TEXT'": [("5",), ("x",)]},
    ),
    "NaN in JSON": Refusal(
        {"a.jsonl": '{"at": "2026-01-01", "v": NaN}\n{"at": "2026-01-02", "v": 12345678901234567890}\n'},
        "a.jsonl, line 1: found NaN, which is no JSON, expected a number or null",
        commands={"python -c": [(None,), (12345678901234567890,)]},
    ),
    "an array of objects": Refusal(
        {"a.json": json.dumps([{"at": TS, "n": 1}, {"at": TS, "n": 2}])},
        "a.json, line 1: found an array",
        commands={"jq -c '.[]' < a.json > mended.jsonl": [(1,), (2,)]},
    ),
    "objects of many lines": Refusal(
        {"a.json": json.dumps({"at": TS, "n": 1}, indent=1)},
        "a.json, line 1: found Expecting property name",
        commands={"jq -c . < a.json > mended.jsonl": [(1,)]},
    ),
}


def rows_of(source: str) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [row for _, _, row in ms.run(ms.sql(f"SELECT * FROM {source}"))]


def call(pattern: str, options: str) -> str:
    function = FUNCTIONS[next(suffix for suffix in FUNCTIONS if suffix in pattern)]
    return f"{function}('{pattern}'{', ' if options else ''}{options})"


@pytest.fixture(params=REFUSALS.values(), ids=REFUSALS)
def refused(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Refusal, str, str]:
    """A refusal, the path or pattern of its files, and the message."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(samples, "SIZE", 1 << 12)
    refusal: Refusal = request.param
    for name, content in refusal.files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    first = next(iter(refusal.files))
    pattern = first.replace("-1.", "-*.") if len(refusal.files) > 1 else first
    with pytest.raises(ms.MidstreamError) as refusing:
        rows_of(call(pattern, refusal.given))
    return refusal, pattern, str(refusing.value)


def test_a_refusal_cites_what_is_wrong_and_its_advice_works(refused: tuple[Refusal, str, str]) -> None:
    refusal, pattern, message = refused
    assert refusal.message in message
    for advice, rows in refusal.options.items():
        assert advice in message
        assert rows_of(call(pattern, advice)) == rows
    for advice, rows in refusal.calls.items():
        assert f"FROM {advice}" in message
        assert rows_of(advice) == rows
    for advice, rows in refusal.commands.items():
        assert rows_of(f"'{carried_out(advice, message)}'") == rows
    for advice, rows in refusal.aside.items():
        assert advice in message and "--dead-letters FILE of midstream sql" in message
        query = f"SELECT * FROM {call(pattern, advice)}"
        result = CliRunner().invoke(app, ["sql", query, "--dead-letters", "dead.jsonl", "--format", "jsonl"])
        assert result.exit_code == 0, result.stderr
        assert [tuple(json.loads(one)["row"].values()) for one in result.stdout.splitlines()] == rows
        assert len(Path("dead.jsonl").read_text().splitlines()) == 1


def test_init_takes_what_it_advises(refused: tuple[Refusal, str, str]) -> None:
    refusal, pattern, _ = refused
    argument = call(pattern, refusal.given) if refusal.given else pattern
    advised = dict(refusal.calls)
    if not refusal.given:
        advised |= {call(pattern, one): rows for one, rows in refusal.options.items()}
    if not advised:
        pytest.skip("no options are advised")
    told = CliRunner().invoke(app, ["init", argument])
    words = shlex.split(told.stderr.partition("midstream init takes ")[2])
    for advice, rows in advised.items():
        assert advice in words
        result = CliRunner().invoke(app, ["init", advice, "--output", "declared.sql"])
        assert result.exit_code == 0 and "does not fit" not in result.stderr
        script = Path("declared.sql").read_text()
        (name,) = (catalog := ms.catalog()).execute(script) or catalog.streams
        assert [row for _, _, row in ms.run(ms.sql(f"{script} SELECT * FROM {name}"))] == rows


def carried_out(advice: str, message: str) -> str:
    """The file that the command writes that begins so in a message."""
    assert advice in message
    command = message[message.index(advice) :]
    if "mended" in command:
        written = "mended.csv" if "mended.csv" in command else "mended.jsonl"
        command = command[: command.index(written) + len(written)]
    else:
        written = next(name for name in ("together.parquet", "texts.parquet") if name in command)
        command = command[: command.index(" writes ")]
    if (program := command.split()[0]) != "python" and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    folder = os.path.dirname(sys.executable)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, shell=True, check=True, env={**os.environ, "PATH": path})
    return written
