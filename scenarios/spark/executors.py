"""Midstream and its libraries on executors: Midstream is sent to those that lack it."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import WeakSet

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from midstream.plans.values.errors import MidstreamError, MissingExtra

ARROW = ("pyarrow", "pandas")
"""The libraries that Spark itself needs on executors for functions over Arrow's batches."""

ASKED = 8
"""The number of tasks that look for libraries."""

PACKAGE = "midstream"

_known: WeakSet[SparkSession] = WeakSet()
"""Sessions whose executors have been checked."""

_kept: list[tempfile.TemporaryDirectory[str]] = []


def require_executors(spark: SparkSession) -> None:
    """Make sure that the executors of a session have Midstream and its libraries.

    Executors without Midstream get the package as it is installed here, as an artifact of the session; they
    must have its libraries. Where tasks run on this machine in this Python, nothing is checked.

    Raises   MissingExtra, naming the libraries that executors lack; MidstreamError where they have another
             version of Midstream or of Python.
    """
    if spark in _known or _is_here(spark):
        return
    found = _look(spark)
    if missing := sorted({name for one in found for name in one["missing"]}):
        raise MissingExtra(
            f"executors: found no {', '.join(missing)}, expected what Midstream needs; install on every "
            f"machine of the cluster: pip install {' '.join(missing)}",
            missing=missing,
        )
    here = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}", "midstream": version(PACKAGE)}
    for what, expected in here.items():
        others = sorted({one[what] for one in found if one[what] not in (None, expected)})
        if others:
            raise MidstreamError(f"executors: found {what} {', '.join(others)}, expected {expected} as here")
    if any(one["midstream"] is None for one in found):
        spark.addArtifacts(str(packed()), pyfile=True)
    _known.add(spark)


def _is_here(spark: SparkSession) -> bool:
    return not is_remote() and is_here(spark.conf.get("spark.master", "") or "")


def is_here(master: str) -> bool:
    """True if tasks run on this machine, in the Python of this process."""
    return re.match(r"local(\[|$)", master) is not None


def needed() -> list[str]:
    """The libraries that Midstream needs on executors."""
    own = [re.split(r"[^\w.-]", one)[0] for one in requires(PACKAGE) or () if "extra ==" not in one]
    return [*own, *ARROW]


def _look(spark: SparkSession) -> list[dict[str, Any]]:
    """The libraries that the executors of some tasks have."""
    ask = F.udf(_having(needed()), "string", useArrow=False)
    rows = spark.range(0, ASKED, 1, ASKED).select(ask("id").alias("found")).distinct().collect()
    return [json.loads(row["found"]) for row in rows]


def _having(names: Sequence[str]) -> Callable[[int], str]:
    """A function that tells the libraries where it runs.

    It is sent by value, as its module may not be there.
    """

    def having(_: int) -> str:
        import json
        import sys
        from importlib.metadata import PackageNotFoundError, version
        from importlib.util import find_spec

        try:
            found = version("midstream") if find_spec("midstream") is not None else None
        except PackageNotFoundError:  # it is there as a file
            found = None
        missing = [name for name in names if find_spec(name) is None]
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return json.dumps({"midstream": found, "missing": missing, "python": python}, sort_keys=True)

    having.__module__ = "__main__"
    having.__annotations__.clear()  # by which Spark would choose another kind of function
    return having


@cache
def packed() -> Path:
    """The installed package as a zip file, which exists as long as this process."""
    _kept.append(tempfile.TemporaryDirectory(prefix=f"{PACKAGE}-"))
    place = Path(_kept[-1].name) / f"{PACKAGE}.zip"
    spec = find_spec(PACKAGE)
    assert spec is not None and spec.submodule_search_locations
    root = spec.submodule_search_locations[0]
    with zipfile.ZipFile(place, "w") as zipped:
        for path in sorted(_files(root)):
            name = (Path(PACKAGE) / path.relative_to(root)).as_posix()
            zipped.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return place


def _files(root: str) -> Iterator[Path]:
    """The files of a package, including those of rooms that are links to other folders."""
    for place, folders, names in os.walk(root, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(place, name) for name in names)
