"""What Spark raises becomes an error of ours that names what failed, the file and the first cause."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")


class Cause:
    """A Java exception."""

    def __init__(self, message: str, cause: Cause | None = None) -> None:
        self._message, self._cause = message, cause

    def getMessage(self) -> str:
        return self._message

    def getCause(self) -> Cause | None:
        return self._cause


@pytest.mark.parametrize(
    ("outer", "inner", "message"),
    [
        (
            "Encountered error while reading file file:///data/a%20b.parquet. SQLSTATE: KD001",
            "could not read page",
            "study s, file /data/a b.parquet: could not read page",
        ),
        ("Job aborted", "No space left on device", "study s: No space left on device"),
    ],
)
def test_the_file_and_the_first_cause_are_named(outer: str, inner: str, message: str) -> None:
    from midstream.scenarios.spark.spark_errors import failed

    error = RuntimeError("Job failed")
    error.java_exception = Cause(outer, Cause(inner))  # type: ignore[attr-defined]
    assert str(failed("study s", error)) == message
