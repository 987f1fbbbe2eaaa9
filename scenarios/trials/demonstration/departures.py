"""Departures from New York's three airports: recorded streams, and a query over them.

Times are seconds since 1970, delays are minutes (negative for early departures).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from midstream.io import open_source
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col, greatest
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.streams import Element
from midstream.plans.values.units import TimeUnit

AIRPORTS = ("EWR", "JFK", "LGA")

HOUR = 3600
"""In seconds."""


COLUMNS: Mapping[str, tuple[str, Type]] = {
    "dest": ("dest", Type.STRING),
    "carrier": ("carrier", Type.STRING),
    "flight": ("flight", Type.INTEGER),
    "dep_delay_min": ("delay", Type.INTEGER),
}
"""By column of the file, its name and type in the streams."""

SCHEMA = Schema(tuple(Column(name, type_) for name, type_ in COLUMNS.values()))


def departures(folder: Path) -> dict[str, Iterator[Element]]:
    """The departures of each airport, from `departures.csv` in a folder; nothing is read yet."""
    time = ColumnDeclaration("dep_ts", Type.INTEGER, nullable=False, is_timestamp=True)
    columns = tuple(ColumnDeclaration(name, type_, nullable=False) for name, (_, type_) in COLUMNS.items())
    return {
        airport: chain.from_iterable(
            open_source(
                StreamDeclaration(
                    airport, (time, *columns), ordered_by="dep_ts", where=(("origin", airport),)
                ),
                TimeUnit.of("seconds"),
                folder / "departures.csv",
            )
        )
        for airport in AIRPORTS
    }


def common_destinations() -> Stream:
    """Per destination, the number of triples of departures in the last hour, and the largest delay in them.

    A triple has one departure from each airport. The joins are written in the order EWR, LGA, JFK.
    """
    newark, kennedy, la_guardia = (stream(name, SCHEMA).alias(name.lower()).window(HOUR) for name in AIRPORTS)
    return (
        newark.join(la_guardia, on=[("ewr.dest", "lga.dest")])
        .join(kennedy, on=[("lga.dest", "jfk.dest")])
        .group_by("ewr.dest")
        .aggregate(
            matches=count(), delay=max_(greatest(col("ewr.delay"), col("lga.delay"), col("jfk.delay")))
        )
    )
