"""The streams that the queries read: seeded, with ties, duplicates, unknown values and gaps; and recorded
departures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from sql_oracle.windows import Row


@dataclass(frozen=True)
class Table:
    """A stream with all its rows, or, with `is_relation`, rows that are always there.

    `columns` are the names and types of the payload; timestamps are those of the rows.
    """

    name: str
    columns: Mapping[str, str]
    rows: Sequence[Row]
    is_relation: bool = False

    def statement(self) -> str:
        """Its declaration."""
        columns = ", ".join(f"{name} {type_}" for name, type_ in self.columns.items())
        if self.is_relation:
            return f"CREATE RELATION {self.name}({columns});"
        return f"CREATE STREAM {self.name}({columns}, ts TIMESTAMP) ORDERED BY ts;"


@dataclass(frozen=True)
class Derived:
    """A stream derived row by row from another: `query` says for the catalog what `of` computes here; it
    gives None for a row that is left out."""

    name: str
    base: str
    query: str
    columns: Mapping[str, str]
    of: Callable[..., tuple[Any, ...] | None]


@dataclass(frozen=True)
class World:
    """Streams, streams derived from them, the time unit, and the seconds of a chronon."""

    unit: str
    chronon: int
    sources: Sequence[Table]
    derived: Sequence[Derived] = ()
    tables: dict[str, Table] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for table in self.sources:
            self.tables[table.name.lower()] = table
        for stream in self.derived:
            base = self.tables[stream.base.lower()].rows
            rows = [(t, row) for t, values in base if (row := stream.of(*values)) is not None]
            self.tables[stream.name.lower()] = Table(stream.name, stream.columns, rows)

    def script(self) -> str:
        """All declarations."""
        derived = (f"CREATE STREAM {stream.name} AS {stream.query};" for stream in self.derived)
        return "\n".join([*(table.statement() for table in self.sources), *derived])


WORDS = ("red", "Red", "green", "blue_5", "50%", "", "a b c", "ünï")
CITIES = ("Boise", "Eugene", "Oakland", "Portland")


def generated(seed: int = 4) -> World:
    """Four streams of some 200 s, and a relation.

    Prices are multiples of a quarter, so that sums of them are exact in any order.
    """
    random = Random(seed)

    def perhaps(value: Any, probability: float = 0.12) -> Any:
        return None if random.random() < probability else value

    def bid() -> tuple[Any, ...]:
        placed = random.randrange(900_000_000, 1_900_000_000)
        return (
            perhaps(random.randrange(6)),
            perhaps(random.randrange(4, 40) / 4),
            perhaps(random.randrange(5)),
            perhaps(random.choice(WORDS)),
            perhaps(placed),
        )

    def auction() -> tuple[Any, ...]:
        return (
            random.randrange(6),
            perhaps(random.randrange(5)),
            perhaps(random.randrange(4, 24) / 4),
            perhaps(random.choice(("car", "boat", "bike"))),
        )

    def reading() -> tuple[Any, ...]:
        return (
            random.randrange(4),
            perhaps(random.randrange(-20, 40)),
            perhaps(random.choice((-1.5, 0.25, 0.5, 2.5, 3.5))),
            perhaps(random.choice(("good", "bad"))),
            perhaps(random.random() < 0.5),
        )

    def person() -> tuple[Any, ...]:
        number = random.randrange(6)
        return (
            number,
            perhaps(f"P{number}"),
            perhaps(random.choice(CITIES)),
            perhaps(random.randrange(20, 26)),
        )

    bids = [(t, bid()) for t in _times(random, 150, (*(0,) * 9, 1, 2, 14))]
    bids += [(t, bids[-1][1]) for t in (bids[-1][0],) * 2]  # the same row three times at once
    sources = (
        Table(
            "Bid",
            {
                "item": "INTEGER",
                "price": "DOUBLE",
                "bidder": "INTEGER",
                "note": "VARCHAR",
                "placed": "TIMESTAMP",
            },
            bids,
        ),
        Table(
            "Auction",
            {
                "item": "INTEGER NOT NULL",
                "seller": "INTEGER",
                "start_price": "DOUBLE",
                "category": "VARCHAR",
            },
            [(t, auction()) for t in _times(random, 70, (*(0,) * 5, 1, 3, 9))],
        ),
        Table(
            "Reading",
            {
                "sensor": "INTEGER NOT NULL",
                "value": "INTEGER",
                "factor": "DOUBLE",
                "quality": "VARCHAR",
                "ok": "BOOLEAN",
            },
            [(t, reading()) for t in _times(random, 70, (1, 1, 1, 2, 2, 5))],
        ),
        Table(
            "Person",
            {"id": "INTEGER NOT NULL", "name": "VARCHAR", "city": "VARCHAR", "age": "INTEGER"},
            [(t, person()) for t in _times(random, 50, (*(0,) * 4, 3, 12))],
        ),
        Table(
            "Category",
            {"name": "VARCHAR NOT NULL", "rank": "INTEGER"},
            [(0, row) for row in (("car", 1), ("boat", None), ("bike", 3), ("bike", 4), ("plane", 5))],
            is_relation=True,
        ),
    )
    derived = (
        Derived(
            "Warm",
            "Reading",
            "SELECT sensor, value * 2 AS twice FROM Reading WHERE value > 5",
            {"sensor": "INTEGER", "twice": "INTEGER"},
            lambda sensor, value, *_: (sensor, value * 2) if value is not None and value > 5 else None,
        ),
        Derived(
            "Offer",
            "Bid",
            "SELECT item, price AS amount, UPPER(note) AS remark FROM Bid WHERE price >= 2",
            {"item": "INTEGER", "amount": "DOUBLE", "remark": "VARCHAR"},
            lambda item, price, _, note, __: (
                (item, price, None if note is None else note.upper())
                if price is not None and price >= 2
                else None
            ),
        ),
    )
    return World("seconds", 1, sources, derived)


def _times(random: Random, count: int, steps: Sequence[int]) -> list[int]:
    """Timestamps whose distances are drawn from `steps`."""
    now, times = 3, []
    for _ in range(count):
        times.append(now)
        now += random.choice(steps)
    return times


def recorded(file: Path, count: int = 220) -> World:
    """The first departures of a recorded day, from each of three airports, in minutes since 1970."""
    origins: dict[str, list[Row]] = {"EWR": [], "JFK": [], "LGA": []}
    with file.open(newline="", encoding="utf-8") as lines:
        for number, line in enumerate(csv.DictReader(lines)):
            if number == count:
                break
            delay, tail = line["arr_delay_min"], line["tailnum"]
            values = (
                line["dest"],
                line["carrier"],
                int(line["flight"]),
                int(line["dep_delay_min"]),
                int(delay) if delay not in ("", "NA") else None,
                tail if tail not in ("", "NA") else None,
                int(line["distance_mi"]),
            )
            origins[line["origin"]].append((int(line["dep_ts"]) // 60, values))
    columns = {
        "dest": "VARCHAR NOT NULL",
        "carrier": "VARCHAR NOT NULL",
        "flight": "INTEGER NOT NULL",
        "delay": "INTEGER NOT NULL",
        "arrival_delay": "INTEGER",
        "tail": "VARCHAR",
        "miles": "INTEGER NOT NULL",
    }
    return World("minutes", 60, [Table(origin, columns, rows) for origin, rows in origins.items()])
