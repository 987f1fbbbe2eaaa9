"""Departures from New York's three airports: recorded streams, and a query over them.

Times are seconds since 1970, delays are minutes (negative for early departures).
"""

from __future__ import annotations

from pathlib import Path

from midstream.io.readers import CsvStream
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col, greatest

AIRPORTS = ("EWR", "JFK", "LGA")

HOUR = 3600
"""In seconds."""


def departures(folder: Path) -> dict[str, CsvStream]:
    """The departures of each airport, from `departures.csv` in a folder; nothing is read yet."""
    columns = {
        "dest": ("dest", "string"),
        "carrier": ("carrier", "string"),
        "flight": ("flight", "integer"),
        "dep_delay_min": ("delay", "integer"),
    }
    file = folder / "departures.csv"
    return {airport: CsvStream(file, "dep_ts", columns, where={"origin": airport}) for airport in AIRPORTS}


def common_destinations(streams: dict[str, CsvStream]) -> Stream:
    """Per destination, the number of triples of departures in the last hour, and the largest delay in them.

    A triple has one departure from each airport. The joins are written in the order EWR, LGA, JFK.
    """
    newark, kennedy, la_guardia = (
        stream(name, streams[name].schema).alias(name.lower()).window(HOUR) for name in AIRPORTS
    )
    return (
        newark.join(la_guardia, on=[("ewr.dest", "lga.dest")])
        .join(kennedy, on=[("lga.dest", "jfk.dest")])
        .group_by("ewr.dest")
        .aggregate(
            matches=count(), delay=max_(greatest(col("ewr.delay"), col("lga.delay"), col("jfk.delay")))
        )
    )
