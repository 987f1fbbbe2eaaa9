"""Queries of one engine are optimized beside each other, and all together."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

import midstream as ms
from midstream.cli import app
from midstream.operators.signs import signed_plan
from midstream.optimizer.search import labelled

BIDS = ms.stream("bids", item="integer", price="integer").window(60)
ASKS = ms.stream("asks", sought="integer").window(60)
DEALS = BIDS.join(ASKS, on=[("item", "sought")])
DEAR = ms.col("price") > 10
DEAR_DEALS = ASKS.join(BIDS.filter(DEAR), on=[("sought", "item")])
BATCHES = 200

Batch = tuple[str, list[tuple[int, int, tuple[int, ...]]]]


def batches(seed: int = 3, first: int = 0) -> list[Batch]:
    rng = random.Random(seed)
    rows: list[Batch] = []
    for t in range(first, first + BATCHES):
        rows.append(("bids", [(t, t + 1, (rng.randrange(3), rng.randrange(20)))]))
        rows.append(("asks", [(t, t + 1, (rng.randrange(3),))]))
    return rows


def fed(engine: ms.Engine, rows: list[Batch]) -> None:
    for name, batch in rows:
        engine.push(name, batch)


@pytest.fixture
def engine() -> ms.Engine:
    engine = ms.Engine()
    engine.add(DEALS, name="deals")
    fed(engine, batches())
    return engine


def test_a_new_query_is_put_above_what_runs(engine: ms.Engine) -> None:
    """Its own state would be that of a join; beside the running one it needs none."""
    before = engine.size()
    choice = engine.optimize(DEAR_DEALS)
    assert choice.is_better
    (part,) = choice.common
    assert part.users == ("deals",)
    assert part.node == DEALS.node
    assert choice.added == pytest.approx(choice.cost.total - part.cost)
    assert choice.added < choice.original_cost.total
    engine.add(choice.plan, name="dear")
    assert engine.size() == before
    alone = ms.Engine()
    alone.add(DEALS, name="deals")
    alone.add(DEAR_DEALS, name="dear")
    fed(alone, batches())
    assert alone.size() > before
    assert ms.equivalent(choice.plan, DEAR_DEALS).answer is ms.Answer.PROVED


def test_a_search_in_slices_finds_the_same(engine: ms.Engine) -> None:
    expected = engine.optimize(DEAR_DEALS)
    search = engine.optimize(DEAR_DEALS, budget=30_000)
    while not search.is_done:
        engine.advance("bids", engine.progress("bids") + 1)
    assert search.choice == expected


def test_all_queries_together(engine: ms.Engine) -> None:
    """Replaced by what is chosen, the second query shares the first one's join, and gives the same."""
    given, results = [], []
    engine.add(DEAR_DEALS, results.extend, name="dear")
    alone = ms.Engine(DEAR_DEALS, given.extend)
    for running in (engine, alone):
        fed(running, batches(5, BATCHES))
    separate = engine.size()
    choices = engine.optimize_all()
    assert list(choices) == ["deals", "dear"]
    assert not choices["deals"].is_better
    assert choices["dear"].is_better
    assert [part.users for part in choices["dear"].common] == [("deals",)]
    assert choices["deals"].added == 0.0
    assert choices["dear"].original == DEAR_DEALS.plan()
    assert choices["dear"].added < choices["dear"].original_cost.total
    assert list(choices["dear"].plans)[-1] == choices["dear"].plan
    engine.replace(choices["dear"].plan, "dear")
    for running in (engine, alone):
        fed(running, batches(7, 2 * BATCHES))
        running.close()
    assert separate > engine.size()
    from_then = [e for e in given if e[0] >= BATCHES + 60]
    assert ms.plans.normal_form(e for e in results if e[0] >= BATCHES + 60) == ms.plans.normal_form(from_then)


def test_the_sum_is_never_more_than_that_of_queries_alone(engine: ms.Engine) -> None:
    engine.add(DEAR_DEALS, name="dear")
    engine.add(BIDS.filter(DEAR).distinct(), name="dear bids")
    fed(engine, batches(5, BATCHES))
    choices = engine.optimize_all()
    operators = {n: e.cost for choice in choices.values() for n, e in choice.cost.operators.items()}
    alone = sum(choice.original_cost.total for choice in choices.values())
    assert sum(operators.values()) < alone


def test_another_window_of_a_known_stream_has_a_price(engine: ms.Engine) -> None:
    wide = ms.stream("bids", item="integer", price="integer").window(90).distinct()
    assert engine.optimize(wide).cost.total > 0
    with pytest.raises(ms.errors.StatisticsError, match="other"):
        engine.optimize(ms.stream("other", x="integer").window(9).distinct())


def test_what_gives_signs_is_not_shared(engine: ms.Engine) -> None:
    signs = BIDS.distinct().plan()
    engine.add(signed_plan(signs), name="signs")
    fed(engine, batches(5, BATCHES))
    assert all("signs" not in part.users for part in engine.optimize(signs).common)
    engine.add(signs, name="intervals")
    users = {part.node: part.users for part in engine.optimize(BIDS.distinct().filter(DEAR)).common}
    assert users == {BIDS.distinct().node: ("intervals",), BIDS.node: ("deals", "intervals")}


def test_outputs_of_several_queries_have_names_of_their_own() -> None:
    two = ms.Plan({"x": BIDS.node, "y": ASKS.node})
    labels, roots = labelled({"a": two, "a, x": BIDS.plan(), "b": ASKS.plan()})
    assert labels == {"a": {"x": "a, x", "y": "a, y"}, "a, x": {"out": "a, x'"}, "b": {"out": "b"}}
    assert roots == {"a, x": BIDS.node, "a, y": ASKS.node, "a, x'": BIDS.node, "b": ASKS.node}


SCRIPT = """
CREATE STREAM bid(item INT, price REAL, at TIMESTAMP) ORDERED BY at;
CREATE STREAM ask(sought INT, at TIMESTAMP) ORDERED BY at;
SELECT item FROM bid WINDOW(RANGE 1 MINUTE), ask WINDOW(RANGE 1 MINUTE) WHERE item = sought;
SELECT item, COUNT(*) AS n
FROM bid WINDOW(RANGE 1 MINUTE), ask WINDOW(RANGE 1 MINUTE) WHERE item = sought GROUP BY item;
SELECT item FROM bid WINDOW(RANGE 2 MINUTES);
"""


def test_explain_tells_what_the_queries_of_a_script_share(tmp_path: Path) -> None:
    script = tmp_path / "queries.sql"
    script.write_text(SCRIPT)
    text = CliRunner().invoke(app, ["explain", str(script)])
    assert text.exit_code == 0, text.output
    (line,) = (line for line in text.output.splitlines() if " share " in line)
    assert line == "query_1 and query_2 share hash-join bid.item = ask.sought"
    known = tmp_path / "seen.json"
    known.write_text('{"midstream_statistics": 1, "streams": {"bid": {"d": 1.0}, "ask": {"d": 2.0}}}')
    text = CliRunner().invoke(app, ["explain", str(script), "--stats", str(known)])
    assert f"{line}: " in text.output and "µs per chronon" in text.output
    result = CliRunner().invoke(app, ["explain", str(script), "--json"])
    explained = json.loads(result.output)
    (part,) = explained["query_1"]["shared"]
    assert part["users"] == ["query_1", "query_2"]
    assert part["cost"] > 0
    assert explained["query_2"]["shared"] == [part]
    assert explained["query_3"]["shared"] == []
