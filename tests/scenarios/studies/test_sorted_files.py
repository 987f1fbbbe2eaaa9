"""Files whose bytes depend on their rows alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from .conftest import reversed_settings

pytestmark = pytest.mark.spark

ROWS = [
    {"at": at, "name": name, "n": number, "heavy": [{"value": name, "count": at}] * (at % 3)}
    for name in ("a", "b/c", "d=e", "ü %")
    for number in (1, 2)
    for at in range(20)
]


def files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_bytes_depend_on_the_rows_alone(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.spark.sorted_files import FILE, write_sorted_files

    schema = "at long, name string, n int, heavy array<struct<value string, count long>>"
    settings = {"spark.sql.execution.arrow.maxRecordsPerBatch": "3"}
    for name, rows in (("one", ROWS), ("two", ROWS[::-1])):
        (tmp_path / name).mkdir()
        with reversed_settings(spark, settings if name == "two" else {}):
            frame = spark.createDataFrame(rows, schema).repartition(len(name))
            write_sorted_files(frame, tmp_path / name, ["name", "n"], ["at"])
    one = files(tmp_path / "one")
    assert one == files(tmp_path / "two")
    assert len(one) == 8 and f"name=b%2Fc/n=2/{FILE}" in one
    found = ds.dataset(tmp_path / "one", partitioning="hive").to_table().to_pylist()
    assert sorted(found, key=lambda row: (row["name"], row["n"], row["at"])) == ROWS
    read = spark.read.parquet(str(tmp_path / "one")).orderBy("name", "n", "at").collect()
    assert [row.asDict(recursive=True) for row in read] == ROWS


@pytest.mark.parametrize("length", [1, 3, 8, 100])
def test_parts_of_a_file_have_one_size(length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from midstream.scenarios.spark import sorted_files

    monkeypatch.setattr(sorted_files, "ROWS_IN_GROUP", 8)
    table = pa.table({"k": [1] * 20 + [2] * 16, "at": [*range(36)]})
    written = sorted_files.write_batches(table.to_batches(length), str(tmp_path), 1)
    told = [row for batch in written for row in batch.to_pylist()]
    assert [row["folder"] for row in told] == ["k=1", "k=2"]
    for row, expected, sizes in zip(told, (range(20), range(20, 36)), ([8, 8, 4], [8, 8]), strict=True):
        file = pq.ParquetFile(row["path"])
        assert file.read().to_pydict() == {"at": [*expected]}
        assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == sizes
