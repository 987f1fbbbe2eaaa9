"""What comes to the driver does not grow with the data: a profile and what-if bring it as many rows from four
times the data in the same buckets.

MIDSTREAM_DRIVER_ELEMENTS says how many elements a stream has at first: `MIDSTREAM_DRIVER_ELEMENTS=1000000`
tries it at 3 and 12 million.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

ELEMENTS = int(os.environ.get("MIDSTREAM_DRIVER_ELEMENTS", "10000"))
"""Of each stream. More than are drawn of it (8,192), or what is drawn would still grow."""

SECONDS = 1000
STREAMS = """
unit: seconds
duration: {seconds} s
streams:
  a: {{columns: {{k: {{values: uniform, low: 1, high: 500}}}}, arrivals: {{process: poisson, rate: {rate}}}}}
  b: {{columns: {{k: {{values: uniform, low: 1, high: 500}}}}, arrivals: {{process: poisson, rate: {rate}}}}}
  c: {{columns: {{k: {{values: zipf, n: 500}}}}, arrivals: {{process: poisson, rate: {rate}}}}}
"""
STUDY = """
CREATE STREAM a(start BIGINT, k INTEGER NOT NULL) ORDERED BY start TIME_UNIT 's';
CREATE STREAM b(start BIGINT, k INTEGER NOT NULL) ORDERED BY start TIME_UNIT 's';
CREATE STREAM c(start BIGINT, k INTEGER NOT NULL) ORDERED BY start TIME_UNIT 's';
SELECT a.k FROM a WINDOW(RANGE 2 SECONDS), b WINDOW(RANGE 2 SECONDS), c WINDOW(RANGE 2 SECONDS)
WHERE a.k = b.k AND b.k = c.k
"""


@contextmanager
def counted_rows() -> Iterator[Counter[str]]:
    """A block, and how many rows each way brings to the driver meanwhile. `first`, `head`, `take` collect."""
    from pyspark.sql.classic.dataframe import DataFrame

    found: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:

        def watch(name: str, rows_of: Any) -> None:
            there = getattr(DataFrame, name)

            def watched(self: Any, *given: Any, **named: Any) -> Any:
                result = there(self, *given, **named)
                found[name] += rows_of(result)
                return result

            patch.setattr(DataFrame, name, watched)

        def watch_each(name: str) -> None:
            there = getattr(DataFrame, name)

            def watched(self: Any, *given: Any, **named: Any) -> Iterator[Any]:
                for row in there(self, *given, **named):
                    found[name] += 1
                    yield row

            patch.setattr(DataFrame, name, watched)

        watch("collect", len)
        watch("tail", len)
        watch("count", lambda result: 1)
        watch(
            "_collect_as_arrow",
            lambda batches: sum(one.num_rows for one in batches if hasattr(one, "num_rows")),
        )
        watch_each("toLocalIterator")
        yield found


def brought(spark: Any, folder: Path, elements: int) -> tuple[Counter[str], Counter[str]]:
    """How many rows a profile and what-if bring to the driver, of so many elements a stream."""
    from midstream import studies

    folder.mkdir()
    (folder / "streams.yaml").write_text(STREAMS.format(seconds=SECONDS, rate=elements / SECONDS))
    study, data = folder / "study.sql", folder / "streams"
    study.write_text(STUDY)
    made = studies.generate(spark, folder / "streams.yaml", data, seed=1)
    assert all(0.9 * elements < rows < 1.1 * elements for rows in made.rows.values())
    with counted_rows() as of_profile:
        studies.profile(spark, study, data=data, bucket="50s", output=folder / "found")
    with counted_rows() as of_what_if:
        studies.what_if(spark, study, data=data, bucket="50s", output=folder / "found")
    return of_profile, of_what_if


def test_rows_at_the_driver_do_not_grow_with_the_data(spark: Any, tmp_path: Path) -> None:
    once, four = (brought(spark, tmp_path / str(n), n * ELEMENTS) for n in (1, 4))
    print(f"rows at the driver: {once} from {ELEMENTS:,} elements a stream, {four} from four times as many")
    assert 0 < sum(once[1].values()) < sum(once[0].values()) < 3 * ELEMENTS
    assert four == once
