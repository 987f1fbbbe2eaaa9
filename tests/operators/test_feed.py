"""Large batches run in pieces, which nobody can tell but by the sizes of batches of results."""

from __future__ import annotations

import pytest

import midstream as ms
from midstream.engine import Engine
from midstream.operators.engine.graph.feed import PIECE
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.aggregates import count
from midstream.plans.values.errors import SchemaError
from midstream.plans.values.streams import Batch

BIDS = stream("bids", item="integer").window(10)
ROWS: Batch = [(t, t + 1, (t % 3,)) for t in range(3 * PIECE)]


def test_results_are_the_same() -> None:
    plan = BIDS.group_by("item").aggregate(n=count()).plan()
    found: list[Batch] = [[], []]
    sizes = []
    for results, at_once in zip(found, (len(ROWS), 1), strict=True):
        engine = Engine(plan, results.extend)
        engine.subscribe(lambda batch: sizes.append(len(batch)))
        for at in range(0, len(ROWS), at_once):
            engine.push("bids", ROWS[at : at + at_once])
        engine.close()
    assert found[0] == found[1]
    assert max(sizes) <= 2 * PIECE


def test_the_whole_batch_is_checked_first() -> None:
    """What is wrong at its end keeps its beginning out."""
    results: Batch = []
    engine = Engine(BIDS.plan(), results.extend)
    with pytest.raises(SchemaError):
        engine.push("bids", [*ROWS, (len(ROWS), len(ROWS) + 1, ("no integer",))])
    assert results == []
    engine.push("bids", ROWS)
    assert len(results) == len(ROWS)


def test_a_sink_may_change_the_queries_between_pieces() -> None:
    """A query that is removed gets no more; one that is added gets what follows; then nobody reads."""
    seen: dict[str, int] = {"first": 0, "second": 0}
    engine = Engine()

    def first(batch: Batch) -> None:
        seen["first"] += len(batch)
        engine.add(BIDS.distinct().plan(), second, name="second")
        engine.remove("first")

    def second(batch: Batch) -> None:
        seen["second"] += len(batch)
        engine.remove("second")

    engine.add(BIDS.plan(), first, name="first")
    engine.push("bids", ROWS)
    assert seen["first"] == PIECE
    assert 0 < seen["second"] < PIECE
    assert engine.streams == ()


def test_closing_goes_on_where_a_stream_is_read_no_more() -> None:
    a, b = (ms.stream(name, x="integer").window(5) for name in "ab")
    engine = ms.Engine()
    counted = b.aggregate(n=ms.count())
    engine.add(counted, lambda results: "other" in engine.queries and engine.remove("other"), "first")
    engine.add(a, name="other")
    engine.push("b", [(0, 1, (1,))])
    assert engine.streams == ("b", "a")
    engine.close()
    assert engine.streams == ("b",)
