"""Run a query of the catalog over the rows, and compare its snapshots with the oracle's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

import duckdb

from midstream.commands.explaining import plan_to_run
from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import SqlError
from midstream.plans.values.streams import FOREVER, Element
from sql_oracle.data import World
from sql_oracle.duck import Oracle
from sql_oracle.queries import Query

LARGEST_BATCH = 40


def check(query: Query, world: World, oracle: Oracle, seed: int = 1) -> int:
    """Compare a query's snapshots with the oracle's, where something starts or ends and at random instants.

    Gives the number of rows that were compared.
    """
    results = results_of(query, world, seed)
    random = Random(seed)
    ends = {int(at) for start, end, _ in results for at in (start, end) if at != FOREVER}
    changes = oracle.instants(query) | ends
    span = (min(changes, default=0) - 2, max(changes, default=0) + 2)
    instants = sorted({*changes, *span, *(random.randint(*span) for _ in range(20))})
    compared = 0
    expected = oracle.answers(query, instants)
    for instant, theirs, ours in zip(instants, expected, snapshots(results, instants), strict=True):
        compared += len(theirs)
        difference = compare(ours, theirs)
        assert not difference, f"{query.name} at {instant}: {difference}\n{query.statement()}"
    nth = max(range(len(instants)), key=lambda i: len(expected[i]))
    alone = oracle.answer(query, instants[nth])
    assert not compare(alone, expected[nth]), f"{query.name}: DuckDB answers otherwise for one instant alone"
    return compared


def verdict(query: Query, world: World, oracle: Oracle, instants: Sequence[int]) -> str:
    """What becomes of a query that may not be valid: "refused", "rows" or "no rows".

    Raises AssertionError where it is accepted and DuckDB refuses it, or answers otherwise at one of the
    instants.
    """
    try:
        results = results_of(query, world, seed=1)
    except SqlError:
        return "refused"
    expected = []
    for instant in instants:
        try:
            expected.append(oracle.answer(query, instant))
        except duckdb.Error as error:
            raise AssertionError(f"accepted: {query.statement()}\nDuckDB: {error}") from error
    for instant, theirs, ours in zip(instants, expected, snapshots(results, instants), strict=True):
        assert not (difference := compare(ours, theirs)), f"at {instant}: {difference}\n{query.statement()}"
    return "rows" if any(expected) else "no rows"


def results_of(query: Query, world: World, seed: int) -> list[Element]:
    """What the engine gives for the last query of a statement, over batches of random sizes."""
    catalog = Catalog(unit=world.unit)
    catalog.execute(world.script())
    # What `midstream run` runs.
    plan = plan_to_run(catalog.execute(query.statement())[-1].plan)
    results: list[Element] = []
    relations = {
        table.name: constant(values for _, values in table.rows)
        for table in world.sources
        if table.is_relation
    }
    engine = Engine(plan, results.extend, relations=relations)
    for stream, batch in batches(world, engine.streams, Random(seed)):
        engine.push(stream, batch)
    engine.close()
    return results


def batches(world: World, streams: Iterable[str], random: Random) -> Iterator[tuple[str, list[Element]]]:
    """The rows of some streams as chronons; one stream may run ahead of the others."""
    waiting = {
        name: [(t, t + 1, values) for t, values in world.tables[name.lower()].rows] for name in streams
    }
    while waiting:
        name = random.choice(sorted(waiting))
        size = random.randint(1, LARGEST_BATCH)
        batch, waiting[name] = waiting[name][:size], waiting[name][size:]
        if not waiting[name]:
            del waiting[name]
        if batch:
            yield name, batch


def snapshots(results: Iterable[Element], instants: Sequence[int]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows that are valid at each of some instants in order."""
    results = list(results)
    arriving = sorted(range(len(results)), key=lambda i: results[i][0])
    leaving = sorted(arriving, key=lambda i: results[i][1])
    valid: dict[int, tuple[Any, ...]] = {}
    arrived = left = 0
    for instant in instants:
        while arrived < len(results) and results[arriving[arrived]][0] <= instant:
            valid[arriving[arrived]] = results[arriving[arrived]][2]
            arrived += 1
        while left < len(results) and results[leaving[left]][1] <= instant:
            del valid[leaving[left]]
            left += 1
        yield list(valid.values())


def compare(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> str:
    """How two multisets of rows differ, floats taken as equal to nine digits; nothing if they do not.

    >>> compare([(1, 0.1 + 0.2), (2, None)], [(2, None), (1, 0.3)])
    ''
    >>> compare([(1,)], [(1,), (True,)])
    'missing (True,)'
    """
    have, want = Counter(map(_typed, ours)), Counter(map(_typed, theirs))
    if have == want:
        return ""
    surplus, missing = _untyped(have - want), _untyped(want - have)
    close = sorted(surplus, key=_order), sorted(missing, key=_order)
    if len(surplus) == len(missing) and all(map(_is_close, *close)):
        return ""
    sides = {"surplus": surplus, "missing": missing}
    return "; ".join(f"{word} {', '.join(map(repr, rows[:5]))}" for word, rows in sides.items() if rows)


def _untyped(rows: Counter[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(value for _, value in row) for row in rows.elements()]


def _typed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row in which True is not 1."""
    return tuple((type(value) is bool, value) for value in row)


def _order(row: tuple[Any, ...]) -> list[Any]:
    """What neighbours agree in if they are to be taken as equal."""
    return [
        (1, float(f"{value:.6g}"), "") if type(value) in (int, float) else (2, 0, repr(value))
        for value in row
    ]


def _is_close(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(row) == len(other) and all(map(_are_equal, row, other))


def _are_equal(value: Any, other: Any) -> bool:
    numbers = (int, float)
    if type(value) in numbers and type(other) in numbers:
        return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)
    return type(value) is type(other) and bool(value == other)
