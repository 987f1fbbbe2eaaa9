"""`midstream explain --alternatives`: the cheapest plans of a query, by statistics of a file and an
objective."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app
from midstream.commands.comparing import compare
from midstream.optimizer import Sample, Statistics, StreamStatistics, alternatives, price
from midstream.optimizer.cost.objective import MEMORY, Objective, objective_of, om
from midstream.optimizer.statistics_file import dump_statistics, load_statistics, read_statistics
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import StatisticsError

SCRIPT = """SET time_unit = 'seconds';
CREATE STREAM bids(ts TIMESTAMP, item INTEGER, bidder INTEGER, price INTEGER) ORDERED BY ts;
CREATE STREAM items(ts TIMESTAMP, id INTEGER, kind INTEGER) ORDERED BY ts;
CREATE STREAM people(ts TIMESTAMP, id INTEGER, city INTEGER) ORDERED BY ts;
SELECT b.price FROM bids WINDOW(RANGE 1 MINUTE) b, items WINDOW(RANGE 5 MINUTES) i,
  people WINDOW(RANGE 2 MINUTES) p WHERE b.item = i.id AND b.bidder = p.id AND i.kind = 7"""
KNOWN: dict[str, Any] = {
    "midstream_statistics": 1,
    "streams": {"bids": {"d": 1}, "items": {"d": 20, "l": 1}, "people": {"d": 10, "even": True}},
    "selectivities": {"i.kind = 7": 0.05},
}
SECOND = 1e6
"""Microseconds: the script counts time in seconds."""
PLAN = Catalog().execute(SCRIPT)[0].plan


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to work in, with a script and statistics for it."""
    monkeypatch.chdir(tmp_path)
    Path("q.sql").write_text(SCRIPT)
    Path("s.json").write_text(json.dumps(KNOWN))


def invoke(*arguments: object) -> Result:
    """Explain the query."""
    return CliRunner().invoke(app, ["explain", "q.sql", *map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("processing", Objective(processing=1.0, chronon=SECOND)),
        ("memory", replace(MEMORY, chronon=SECOND)),
        ("latency", Objective(latency=1.0, chronon=SECOND)),
        ("om(1, 2)", om(1, 2, chronon=SECOND)),
    ],
)
def test_what_is_shown_is_what_the_function_gives(text: str, objective: Objective) -> None:
    result = invoke("--alternatives", 4, "--stats", "s.json", "--objective", text, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(result.stdout)["query_1"]
    expected = alternatives(PLAN, read_statistics(Path("s.json"), [PLAN]), 4, objective=objective)
    assert len(shown["alternatives"]) == 4
    for one, choice in zip(shown["alternatives"], expected, strict=True):
        assert [node["text"] for node in one["nodes"]] == [str(node.operator) for node in choice.plan.nodes]
        assert one["terms"] == vars(objective.terms(choice.cost))
        assert math.fsum(node["cost"] or 0 for node in one["nodes"]) == pytest.approx(choice.cost.total)
    assert (shown["statistics"], shown["all_considered"]) == ("given", True)


def test_why_the_first_wins() -> None:
    result = invoke("--alternatives", 3, "--stats", "s.json")
    first, second, third = re.split("plan [23]:", result.stdout)
    assert "plan 1: " in first
    assert "plan 1 wins" not in first
    assert "no cheaper plan was left out; by the statistics given" in third
    choices = alternatives(PLAN, read_statistics(Path("s.json"), [PLAN]), 3)
    for text, choice in ((second, choices[1]), (third, choices[2])):
        less = choice.cost.total - choices[0].cost.total
        assert f"plan 1 wins: {less:.4g} µs per chronon less (" in text


@pytest.mark.parametrize("text", ["processing", "memory", "state", "processing + 0.001 memory"])
def test_the_operators_that_differ_make_up_the_difference(text: str) -> None:
    """What is the same in both plans is not told."""
    wanted = objective_of(text)
    found = compare(PLAN, 8, read_statistics(Path("s.json"), [PLAN]), wanted)
    values = [wanted.of(choice.cost) for choice in found.choices]
    for number in range(1, len(values)):
        differing = found.operators_that_differ(number)
        assert all(one != other for _, one, other in differing)
        total = math.fsum((other or 0.0) - (one or 0.0) for _, one, other in differing)
        assert total == pytest.approx(values[number] - values[0], abs=1e-6)


def test_without_statistics_it_says_what_it_assumed() -> None:
    assert "no statistics were given: 1000 rows of every stream assumed" in invoke("--alternatives", 1).stdout
    assert json.loads(invoke("--alternatives", 1, "--json").stdout)["query_1"]["statistics"] == "assumed"
    assert "per chronon" not in invoke("--alternatives", 3).stdout
    assert "costs need statistics: " in invoke("--alternatives", 3).stdout


def test_one_drawing_shows_all_plans() -> None:
    result = invoke("--alternatives", 3, "--svg", "q.svg", "--dot", "q.dot", "--stats", "s.json")
    assert result.exit_code == 0
    words = "".join(ElementTree.parse("q.svg").getroot().itertext())
    assert all(f"plan {number}: " in words for number in (1, 2, 3))
    assert "elements kept" in words
    assert Path("q.dot").read_text().count("source\\nbids") == 1
    invoke("--alternatives", 3, "--svg", "q.svg")
    words = "".join(ElementTree.parse("q.svg").getroot().itertext())
    assert "plan 3" in words and "elements kept" not in words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found ''"),
        ("speed", "found 'speed'"),
        ("processing + processing", "found 'processing'"),
        ("0 memory", "weighs nothing"),
        ("om(1)", "found 'om(1)'"),
        ("-1 memory", "found '-1 memory'"),
    ],
)
def test_objectives_that_are_none(text: str, message: str) -> None:
    result = invoke("--alternatives", 2, f"--objective={text}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_objectives_are_sums() -> None:
    assert objective_of("2 processing+1e-3*memory") == Objective(processing=2.0, memory=1e-3)
    assert objective_of("rate + 0.5 buffers") == Objective(slowness=1.0, buffers=0.5)


def stats(**changes: Any) -> str:
    """The file's text with something else in it."""
    return json.dumps({**KNOWN, **changes})


def of_bids(told: object) -> str:
    """The same with something else of one stream."""
    return stats(streams={**KNOWN["streams"], "bids": told})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "bad.json: this is no JSON: Expecting"),
        ("[]", 'expected an object with {"midstream_statistics": 1}'),
        (stats(midstream_statistics=2), 'expected an object with {"midstream_statistics": 1}'),
        (stats(windows={}), "found windows"),
        (stats(streams=[]), "streams: found []"),
        (
            stats(streams={"bidz": {"d": 1}}),
            "found bidz, expected one that the query reads: bids, items",
        ),
        (stats(streams={"bids": {"d": 1}}), "found nothing for items, people"),
        (of_bids(5), "bids: found 5"),
        (of_bids({}), "bids: found no d"),
        (of_bids({"d": -1}), "streams.bids: found d = -1"),
        (of_bids({"d": True}), "streams.bids.d: found True"),
        (of_bids({"d": 1, "rate": 2}), "streams.bids: found rate"),
        (of_bids({"d": 1, "even": 1}), "streams.bids.even: found 1"),
        (of_bids({"d": 1, "sample": {"columns": ["x"], "rows": []}}), "bids.sample: found columns ['x']"),
        (
            of_bids({"d": 1, "sample": {"columns": ["item", "bidder", "price"], "rows": [["x", 1, 2]]}}),
            "streams.bids.sample: ",
        ),
        (stats(selectivities={"i.kind = 8": 0.1}), "found 'i.kind = 8', expected conditions of the plan: "),
        (stats(selectivities={"i.kind = 7": 2}), "selectivities.i.kind = 7: found 2"),
    ],
)
def test_statistics_that_are_none(text: str, message: str) -> None:
    Path("bad.json").write_text(text)
    result = invoke("--alternatives", 2, "--stats", "bad.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("midstream: bad.json: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_what_cannot_be_compared() -> None:
    assert invoke("--alternatives", 0).exit_code == 2
    result = invoke("--alternatives", 1, "--stage", "logical", "--svg", "q.svg")
    assert (result.exit_code, Path("q.svg").exists()) == (2, False)
    assert "--stage: found 'logical', expected none beside --alternatives" in result.stderr
    assert "none.json: No such file" in invoke("--stats", "none.json").stderr
    Path("q.sql").write_text(f"{SCRIPT}; SELECT price FROM bids")
    assert "found 2 queries, expected one to draw to -" in invoke("--alternatives", 1, "--svg", "-").stderr


def test_statistics_are_written_and_read() -> None:
    rows, few = stream("rows", x="integer"), relation("few", y="integer")
    known = Statistics(
        {
            rows.node: StreamStatistics(5.0, 2.0, 5, Sample(rows.schema, [(1,), (2,)]), even=True),
            few.node: StreamStatistics(math.inf, math.inf, always=7.0),
        },
        {rows["x"] > 7: 0.1},
    )
    plan = rows.window(9).filter(rows["x"] > 7).join(few, on=[("x", "y")]).plan()
    again = load_statistics(dump_statistics(known), [plan])
    assert (again.streams, again.selectivities) == (known.streams, known.selectivities)
    with pytest.raises(StatisticsError, match="streams and relations only"):
        dump_statistics(Statistics({rows.window(9).node: StreamStatistics(1.0, 9.0)}))


def test_a_condition_keeps_its_selectivity_below_a_projection() -> None:
    """What is told of it holds also where rules move it: the plans that have it there are as cheap."""
    rows = stream("rows", x="integer")
    renamed = rows.window(9).select(y=rows["x"])
    plan = renamed.filter(renamed["y"] > 7).plan()
    known = load_statistics(
        '{"midstream_statistics": 1, "streams": {"rows": {"d": 1}}, "selectivities": {"y > 7": 0.25}}', [plan]
    )
    below = rows.window(9).filter(rows["x"] > 7).select(y=rows["x"]).plan()
    rates = [list(price(each, known).operators.values())[-1].rate for each in (plan, below)]
    assert rates == pytest.approx([0.25, 0.25])
