"""Files by seed with odd values where nobody looks: read as DuckDB reads the whole file, or refused.

Odd values, and columns that the beginning lacks, stand behind the sample of the sniffer, in the second file
of a pattern, or nowhere.
"""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import midstream as ms
from midstream.io.sniffing import samples
from midstream.plans.sql.declarations import literal
from midstream.plans.values.instants import nanoseconds, of_datetime

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SEEDS = 60
ROWS = 2200
"""The number of rows, which are more than the sniffer looks at."""

BEGIN = nanoseconds("2026-01-05") // 10**9

ODD_TEXTS = (
    *(
        "02139",
        "+49",
        "-07",
        "007.5",
        "+1.5",
        "5.0",
        "5.",
        ".5",
        "1e5",
        "1_000",
        "0x1f",
        "1.234",
        "1,5",
        "9" * 20,
    ),
    *("true", "t", "no", "NA", "NULL", "nan", "inf", "-inf", "x", "5L", "", " 5", "5 ", '"q"', "08:15"),
    *("2026-1-5", "2026-01-05", "20260105", "2026-01-05T10:00:00", "2026-01-05T10:00:00Z"),
    *("2026-01-05T10:00:00+02:00", "2026-01-05 24:00:00", "2026-01-05 09:00:00", "2026-01-05 10:00:00 UTC"),
)
ODD_JSON = (
    '"02139"',
    '"7"',
    "7",
    "7.5",
    "5.0",
    "1e3",
    "true",
    "null",
    '"x"',
    '"2026-01-05"',
    "[1]",
    '{"a": 1}',
)
ODD_TYPES = (
    *(pa.string(), pa.float64(), pa.int32(), pa.bool_()),
    *(pa.decimal128(20, 2), pa.timestamp("ms"), pa.timestamp("us", "Europe/Vienna"), pa.date32()),
)
KINDS = ("code", "share", "day", "moment", "flag", "word")


def usual(kind: str, draw: random.Random) -> str:
    """A value of a column in CSV, as its beginning has it."""
    match kind:
        case "code":
            return str(draw.randrange(10_000, 99_999))
        case "share":
            return f"{draw.randrange(1, 999)}.{draw.randrange(1, 9)}"
        case "day":
            return f"2026-01-{draw.randrange(1, 29):02}"
        case "moment":
            return f"2026-01-{draw.randrange(1, 29):02} {draw.randrange(24):02}:15:00"
        case "flag":
            return draw.choice(("true", "false"))
    return draw.choice(("Ann", "Bob", "Österreich"))


def time_of(at: int, is_epoch: bool) -> str:
    second = BEGIN + at
    return str(second) if is_epoch else f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}"


class Drawn:
    """Files drawn by a seed.

    Most have an odd value in one of their last rows, a column of an odd type, or one that only they have.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        draw = random.Random(seed)
        self.kind = ("csv", "csv", "csv", "jsonl", "parquet")[seed % 5]
        self.is_odd = seed % 6 != 0
        self.has_further = self.is_odd and draw.random() < 0.3
        self.columns = draw.sample(KINDS, 3)
        self.names = ("at", *self.columns)
        self.is_epoch = draw.random() < 0.3
        self.delim = draw.choice(",;\t|")
        rows = [
            [time_of(at, self.is_epoch), *(usual(kind, draw) for kind in self.columns)] for at in range(ROWS)
        ]
        cut = ROWS - 3 if self.kind == "parquet" or draw.random() < 0.5 else 0
        self.files = [folder / f"f-{number}.{self.kind}" for number in range(2 if cut else 1)]
        odd = draw.randrange(4) if self.is_odd and not self.has_further else None
        last = rows[cut:]
        if cut:
            self._write(self.files[0], rows[:cut], None, draw)
        if self.has_further:
            # CSV and Parquet name their columns once a file.
            further = len(last) if cut and self.kind != "jsonl" else draw.randrange(1, 3)
            value = usual("code", draw)
            last = [*last[:-further], *([*row, value] for row in last[-further:])]
        self._write(self.files[-1], last, odd, draw)
        self.pattern = str(folder / f"f-*.{self.kind}") if cut else str(self.files[0])

    def _write(self, file: Path, rows: list[list[str]], odd: int | None, draw: random.Random) -> None:
        """Write rows to a file; if a column is `odd`, one of its last values is, or its type."""
        names = [*self.names, "further"] if len(rows[0]) > len(self.names) else self.names
        if self.kind == "parquet":
            return self._write_parquet(file, rows, odd, draw)
        if self.kind == "jsonl":
            rows = [list(map(self._token, (*self.names, "code"), row)) for row in rows]
        if odd is not None:
            odd_values = ODD_TEXTS if self.kind == "csv" else ODD_JSON
            rows[-draw.randrange(1, 3)][odd] = draw.choice(odd_values)
        if self.kind == "csv":
            quoted = [[f'"{one}"' if self.delim in one else one for one in row] for row in (names, *rows)]
            file.write_text("".join(f"{self.delim.join(row)}\n" for row in quoted))
        else:
            keys = list(map(json.dumps, (*self.names, "further")))
            lines = (", ".join(map(": ".join, zip(keys, row, strict=False))) for row in rows)
            file.write_text("".join(f"{{{line}}}\n" for line in lines))

    def _token(self, name: str, text: str) -> str:
        """A value in JSON."""
        is_plain = name in ("code", "share", "flag") or (name == "at" and self.is_epoch)
        return text if is_plain else json.dumps(text, ensure_ascii=False)

    def _write_parquet(self, file: Path, rows: list[list[str]], odd: int | None, draw: random.Random) -> None:
        names = [*self.names, "further"][: len(rows[0])]
        arrays = list(map(self._array, names, zip(*rows, strict=True)))
        if odd is not None:
            other = draw.choice(ODD_TYPES)
            try:
                arrays[odd] = arrays[odd].cast(other, safe=False)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                arrays[odd] = pa.array(["odd"] * len(rows))
        pq.write_table(pa.table(arrays, names=names), file)

    def _array(self, name: str, texts: Sequence[str]) -> Any:
        if name in ("code", "further") or (name == "at" and self.is_epoch):
            return pa.array(map(int, texts))
        read: dict[str, Callable[[str], Any]] = {"share": float, "day": date.fromisoformat, "word": str}
        read["flag"] = "true".__eq__
        return pa.array(map(read.get(name, datetime.fromisoformat), texts))

    def of_duckdb(self) -> str:
        """The call by which DuckDB reads the files, when it looks through them to their ends."""
        paths = f"[{', '.join(literal(str(file)) for file in self.files)}]"
        if self.kind == "parquet":
            return f"read_parquet({paths}, union_by_name = true)"
        if self.kind == "jsonl":
            return f"read_json({paths}, format = 'newline_delimited', sample_size = -1)"
        nothing = "files_to_sniff = 100, sample_size = -1, header = true, union_by_name = true"
        return f"read_csv({paths}, delim = {literal(self.delim)}, quote = '\"', {nothing})"


def normal(value: Any) -> tuple[str, Any]:
    """A value with its kind: 5 and 5.0 are one number, and the text '5' is another value."""
    if isinstance(value, bool) or value is None:
        return type(value).__name__, value
    if isinstance(value, datetime):
        return "time", of_datetime(value)
    if isinstance(value, date):
        return "time", of_datetime(datetime(value.year, value.month, value.day, tzinfo=UTC))
    if isinstance(value, int | float | Decimal):
        return "number", float(value) if abs(value) < 2**53 else value
    return "text", str(value)


def elements_of(results: ms.Results) -> Counter[Any]:
    """The rows of results, with their times."""
    return Counter(
        frozenset(
            ("at" if name == "start" else name, normal(value)) for name, value in row.items() if name != "end"
        )
        for row in results.to_dicts()
    )


def ours(drawn: Drawn, call: str = "") -> Counter[Any]:
    """Our rows of the files, or of a call that reads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if call:
            return elements_of(ms.run(ms.sql(f"SELECT * FROM {call}")))
        function = {"csv": ms.read_csv, "jsonl": ms.read_json, "parquet": ms.read_parquet}[drawn.kind]
        options = {"delim": drawn.delim} if drawn.kind == "csv" else {}
        stream = function(drawn.pattern, **options, time="at")
        return elements_of(ms.run(stream))


def theirs(drawn: Drawn) -> Counter[Any]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        read = connection.execute(f"SELECT * FROM {drawn.of_duckdb()}")
        names = [name for name, *_ in read.description or ()]
        found = read.fetchall()

    def value_of(name: str, value: Any) -> Any:
        is_epoch = name == "at" and drawn.is_epoch and type(value) is int
        return ("time", value * 10**9) if is_epoch else normal(value)

    return Counter(
        frozenset((name, value_of(name, value)) for name, value in zip(names, row, strict=True))
        for row in found
    )


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed >= 10 else []) for seed in range(SEEDS)]
)
def test_files_are_read_as_duckdb_reads_them_or_refused(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "SIZE", 1 << 15)
    drawn = Drawn(seed, tmp_path)
    try:
        found = ours(drawn)
    except ms.MidstreamError as error:
        assert drawn.is_odd, error
        if "a column that the file's beginning lacks" in str(error):
            call = str(error).partition("; FROM ")[2].partition(" reads it")[0]
            # Texts are the type that takes all of CSV.
            assert ours(drawn, call.replace("further TEXT", "further BIGINT")) == theirs(drawn)
        return
    assert found == theirs(drawn)
