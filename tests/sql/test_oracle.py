"""Continuous queries in SQL against DuckDB: at every instant, the rows of the plain query on what the windows
hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("duckdb", reason="the oracle is DuckDB")

from sql_oracle.checking import check, verdict
from sql_oracle.data import World, generated, recorded
from sql_oracle.duck import Oracle
from sql_oracle.joins import Joins, groves
from sql_oracle.names import Names
from sql_oracle.queries import Query, read

QUERIES = Path(__file__).parent / "queries"
RECORDED = read(QUERIES / "recorded.sql")
GENERATED = [
    query for file in sorted(QUERIES.glob("*.sql")) if file.stem != "recorded" for query in read(file)
]


@pytest.fixture(scope="module")
def streams() -> World:
    return generated()


@pytest.fixture(scope="module")
def oracle(streams: World) -> Iterator[Oracle]:
    made = Oracle(streams)
    yield made
    made.close()


@pytest.fixture(scope="module")
def departures(shared_data: Path) -> World:
    return recorded(shared_data / "nycflights13" / "departures.csv")


@pytest.fixture(scope="module")
def oracle_of_departures(departures: World) -> Iterator[Oracle]:
    made = Oracle(departures)
    yield made
    made.close()


@pytest.mark.parametrize("query", GENERATED, ids=lambda query: query.name)
def test_snapshots_are_those_of_plain_sql(query: Query, streams: World, oracle: Oracle) -> None:
    assert check(query, streams, oracle), "there is no row to compare"


@pytest.mark.parametrize("query", RECORDED, ids=lambda query: query.name)
def test_snapshots_of_recorded_streams_are_those_of_plain_sql(
    query: Query, departures: World, oracle_of_departures: Oracle
) -> None:
    assert check(query, departures, oracle_of_departures), "there is no row to compare"


@pytest.fixture(scope="module")
def oracle_of_groves() -> Iterator[Callable[[int], tuple[World, Oracle]]]:
    """The streams of a seed with their oracle, made once for all examples."""

    @cache
    def of(seed: int) -> tuple[World, Oracle]:
        world = groves(seed)
        made.append(Oracle(world))
        return world, made[-1]

    made: list[Oracle] = []
    yield of
    for oracle in made:
        oracle.close()


@given(st.data())
def test_commas_and_joins_of_all_kinds_bind_as_in_plain_sql(
    oracle_of_groves: Callable[[int], tuple[World, Oracle]], data: st.DataObject
) -> None:
    world, oracle = oracle_of_groves(data.draw(st.integers(0, 9)))
    query = Joins(lambda options: data.draw(st.sampled_from(options))).query()
    check(query, world, oracle)


INSTANTS = (0, 3, 5, 8, 11, 14, 20)
"""Some of those at which the windows of `groves` hold something."""


@given(st.data())
def test_names_stand_for_what_they_stand_for_in_plain_sql(
    oracle_of_groves: Callable[[int], tuple[World, Oracle]], data: st.DataObject
) -> None:
    world, oracle = oracle_of_groves(data.draw(st.integers(0, 9)))
    verdict(Names(lambda options: data.draw(st.sampled_from(options))).query(), world, oracle, INSTANTS)


@pytest.mark.slow
def test_names_in_hundreds_of_queries_stand_for_what_they_do_in_plain_sql(
    oracle_of_groves: Callable[[int], tuple[World, Oracle]],
) -> None:
    verdicts: Counter[str] = Counter()
    for seed in range(number := 6 * settings.default.max_examples):
        query = Names(Random(seed).choice).query()
        verdicts[verdict(query, *oracle_of_groves(seed % 10), INSTANTS)] += "SELECT" in query.ours[8:]
    assert verdicts["rows"] >= number // 10, verdicts


def test_queries_have_names_of_their_own() -> None:
    names = [query.name for query in GENERATED + RECORDED]
    assert len(set(names)) == len(names) >= 60
