"""Generated streams are stored as ingested ones are, and the same however many tasks make them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from midstream.cli import app
from midstream.io.ingested import read_manifest
from midstream.plans.values.errors import MidstreamError
from midstream.scenarios.streams.nexmark.workload import (
    SCHEMAS,
    AuctionWorkload,
)

pytestmark = pytest.mark.spark

TEXT = """
unit: milliseconds
duration: 20 s
streams:
  A:
    columns: {k: {values: zipf, n: 9}, m: {values: choice, of: {x: 1, y: 2}}}
    arrivals: {process: poisson, rate: 100}
    disorder: 400
    slack: 400
"""


def stored(folder: Path) -> dict[str, list[dict[str, Any]]]:
    import pyarrow.parquet as pq

    manifest = read_manifest(folder)
    return {
        name: [
            row
            for file in manifest.files(name)
            for row in pq.ParquetFile(folder / file.path).read().to_pylist()
        ]
        for name in manifest.streams
    }


@pytest.mark.spark(fast=True)
def test_elements_do_not_depend_on_parts(spark: Any, tmp_path: Path) -> None:
    from midstream.scenarios.stages.generate.auctions import AuctionCells
    from midstream.scenarios.stages.generate.generate import generate

    blocks = AuctionCells(AuctionWorkload(seed=3, bids_per_round=(0, 2)), 5)
    found = [generate(spark, [blocks], tmp_path / str(n), 10**9, {}, parts=n) for n in (1, 5)]
    one, five = stored(tmp_path / "1"), stored(tmp_path / "5")
    assert one == five
    assert set(one) == set(SCHEMAS)
    assert found[0].rows == found[1].rows == {name: len(rows) for name, rows in one.items()}
    assert [len(each.manifest.files("bid")) for each in found] == [1, 5]
    assert list(one["bid"][0]) == ["stream", "start", "end", "payload"]
    with pytest.raises(MidstreamError, match="found streams already, expected a new folder"):
        generate(spark, [blocks], tmp_path / "1", 10**9, {})


def test_what_arrives_out_of_order_is_ingested_as_what_is_in_order(spark: Any, tmp_path: Path) -> None:
    assert spark is not None  # the commands use the session that there is
    (tmp_path / "s.yaml").write_text(TEXT)
    (tmp_path / "s.sql").write_text(
        "CREATE STREAM A(start TIMESTAMP, k INT NOT NULL, m TEXT NOT NULL) SOURCE file('raw/A') "
        "ORDERED BY start TIME_UNIT milliseconds"
    )

    def run(*given: str) -> str:
        result = CliRunner().invoke(app, ["study", *given])
        assert result.exit_code == 0, result.output
        return result.stdout

    generated = run("generate", str(tmp_path / "s.yaml"), "--output", str(tmp_path / "made"))
    raw = str(tmp_path / "raw")
    told = json.loads(run("generate", str(tmp_path / "s.yaml"), "--arrivals", "--output", raw, "--json"))
    data = ["--data", str(tmp_path), "--output", str(tmp_path / "in"), "--json"]
    found = json.loads(run("ingest", str(tmp_path / "s.sql"), *data))["streams"]["A"]
    assert stored(tmp_path / "in") == stored(tmp_path / "made")
    assert f"A: {found['rows']:,}" in generated
    assert told["rows"] == {"A": found["rows"]}
    assert 300 < found["disorder"]["greatest"] <= 400
    assert 0.5 < found["disorder"]["share"] < 1
    again = CliRunner().invoke(
        app, ["study", "generate", str(tmp_path / "s.yaml"), "--arrivals", "--output", raw]
    )
    assert "found a folder, expected a new one" in str(again.output) + str(again.exception)


@pytest.mark.parametrize(("events", "files"), [(10**5, 1), (10**7, 2), (10**8, 9)])
def test_files_are_of_a_good_size(events: int, files: int) -> None:
    from midstream.scenarios.stages.generate.auctions import AuctionCells
    from midstream.scenarios.stages.generate.generate import parts_of

    blocks = AuctionCells.of(AuctionWorkload(), events)
    found = parts_of(blocks, None)
    assert len(found) == files
    assert [cell for first, end in found for cell in range(first, end)] == list(range(blocks.cells))
