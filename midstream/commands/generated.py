"""Streams and relations of the generated auction workload."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from midstream.io import ConnectorError, Source
from midstream.io.sources.conversion import lists_of
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import RelationDeclaration, SourceClause, StreamDeclaration
from midstream.plans.values.streams import Element, chronons
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.nexmark.generator import generate
from midstream.scenarios.streams.nexmark.streams import lasting, rows
from midstream.scenarios.streams.nexmark.workload import (
    AuctionEvent,
    AuctionWorkload,
)

KIND = "nexmark"


class _Wanted(NamedTuple):
    stream: str
    seed: int
    second: int
    """The length of a second, in chronons."""


def generated_stream(
    declared: StreamDeclaration, unit: TimeUnit, clause: SourceClause, count: int | None
) -> Source:
    """A stream of the generated auctions; `count` is the number of generated events in all, None for no end.

    Raises   ConnectorError for other arguments than nexmark('stream', seed), and for a unit that seconds are
             no multiple of; the errors of `rows`.
    """
    if declared.where:
        raise ConnectorError(
            f"stream {declared.name}: found WHERE, expected none, as {clause} has rows of one stream; "
            "a query may have conditions"
        )
    for name, _ in clause.options:
        raise ConnectorError(f"stream {declared.name}: found the option {name} for {KIND}, expected none")
    wanted = _wanted(declared.name, unit, clause)
    made = chronons(rows(wanted.stream, declared.schema, _events(wanted, count), wanted.second))
    timestamps = Timestamps(unit, declared.unit)
    return Source(f"{KIND} {wanted.stream}", lists_of(made), timestamps=timestamps)


def generated_relation(
    declared: RelationDeclaration, unit: TimeUnit, clause: SourceClause, count: int | None
) -> list[Element]:
    """A generated stream as a temporal relation: its rows are valid from their timestamps on, without end.

    Raises   As `generated_stream`; ConnectorError where there is no count, or the relation is constant.
    """
    if count is None or declared.valid_from is None:
        raise ConnectorError(
            f"relation {declared.name}: {clause} needs VALID FROM … TO …, and --rows, as it has no end"
        )
    wanted = _wanted(declared.name, unit, clause)
    return lasting(wanted.stream, declared.schema, _events(wanted, count), wanted.second)


def _wanted(name: str, unit: TimeUnit, clause: SourceClause) -> _Wanted:
    match clause.arguments:
        case ():
            stream, seed = name.lower(), 1
        case (str() as stream,):
            seed = 1
        case (str() as stream, int() as seed):
            pass
        case _:
            raise ConnectorError(f"source {clause}: expected nexmark('stream') or nexmark('stream', seed)")
    second, rest = divmod(TimeUnit.of("seconds").nanoseconds, unit.nanoseconds)
    if rest or not second:
        raise ConnectorError(
            f"source {clause}: found time in {unit.name}, expected seconds, or a unit that they are made of"
        )
    return _Wanted(stream, seed, second)


def _events(wanted: _Wanted, count: int | None) -> Iterator[AuctionEvent]:
    return islice(generate(AuctionWorkload(seed=wanted.seed)), count)
