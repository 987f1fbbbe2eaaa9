"""The demonstration changes the plan in mid-stream, and its figures say what happened."""

from __future__ import annotations

import io
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from midstream.arrivals import interleave
from midstream.driving import run
from midstream.engine import Engine
from midstream.io.plan_files import read_plan
from midstream.migration.report import MigrationReport
from midstream.plans.algebra.operators import Filter, Source, TimeWindow
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.serialise import dumps, plan_from_json
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import InputFileError, MigrationRefused
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.verdicts import Equivalence
from midstream.scenarios.trials.demonstration.demo import (
    Demonstration,
    DemoScenario,
    IntermediateRates,
    Phases,
    auctions,
    demonstrate,
    flights,
)
from midstream.scenarios.trials.demonstration.demo_text import show


@pytest.fixture(scope="module")
def bidding() -> Demonstration:
    """Enough auctions for the migration to be over well before the end."""
    return demonstrate(auctions(events=100_000))


def bids_only_above(price: int, plan: Plan) -> Plan:
    """The plan of the auctions without the cheap bids: of the same columns, but not of the same meaning."""
    window = next(
        node
        for node in plan.nodes
        if isinstance(node.operator, TimeWindow) and "bid.price" in node.schema.names
    )
    return plan.replace(window, Node(Filter((col("bid.price") > price).expression), (window,)))


def texts(demonstration: Demonstration) -> str:
    """What is printed."""
    out = io.StringIO()
    show(demonstration, Console(file=out, width=100))
    return out.getvalue()


def total(phases: Phases) -> int:
    return phases.before + phases.during + phases.after


def assert_moved_to_less_work(demonstration: Demonstration) -> None:
    """Verified, something happened in every phase, and the new plan passes less between its operators."""
    d = demonstration
    assert d.is_equivalent
    assert min(d.elements.before, d.elements.during, d.elements.after) > 0
    assert min(d.results.before, d.results.during, d.results.after) > 0
    assert abs(d.elements.before - total(d.elements) / 2) < d.scenario.batch_size
    assert d.new.plan != d.old.plan == d.scenario.plan
    assert d.new.cost < d.old.cost
    assert d.considered > 1
    assert d.migration.phase == "done"
    passed = d.intermediate
    assert passed.before is not None
    assert passed.after is not None
    assert passed.after_without is not None
    assert passed.after < passed.before
    assert passed.after < passed.after_without


def test_the_auctions_move_to_less_work(bidding: Demonstration) -> None:
    assert_moved_to_less_work(bidding)


def test_recorded_flights_move_to_less_work(shared_data: Path) -> None:
    demonstration = demonstrate(flights(shared_data / "nycflights13"))
    assert total(demonstration.elements) == 37_126
    assert_moved_to_less_work(demonstration)


def test_the_phases_add_up(bidding: Demonstration) -> None:
    scenario = bidding.scenario
    assert total(bidding.elements) == sum(len(list(elements)) for elements in scenario.streams.values())
    # Results that mean the same need not be equally many, but nearly.
    assert total(bidding.results) == pytest.approx(len(run(scenario.plan, scenario.streams)), rel=0.01)


def test_what_is_counted_before_and_after_is_one_plan_alone(bidding: Demonstration) -> None:
    """Counted over the same elements, each plan passes as much between its operators as when it runs alone.

    The new plan, alone, has seen all elements before: it may owe a few results less to the migration.
    """

    def passed(plan: Plan, after: int, until: int) -> float:
        engine = Engine(plan)
        seen, start = 0, engine.counters()
        for name, batch in interleave(bidding.scenario.streams, bidding.scenario.batch_size):
            engine.push(name, batch)
            seen += len(batch)
            if seen == after:
                start = engine.counters()
            if seen == until:
                break
        if until == everything:
            engine.close()
        end = engine.counters()
        return 1000 * (end.intermediate - start.intermediate) / (end.elements - start.elements)

    everything = total(bidding.elements)
    begun, done = bidding.elements.before, bidding.elements.before + bidding.elements.during
    assert passed(bidding.old.plan, 0, begun) == bidding.intermediate.before
    assert passed(bidding.old.plan, done, everything) == bidding.intermediate.after_without
    assert passed(bidding.new.plan, done, everything) == pytest.approx(bidding.intermediate.after, rel=0.05)


def test_json_is_plain_and_complete(bidding: Demonstration) -> None:
    data: dict[str, Any] = json.loads(json.dumps(bidding.as_dict(), allow_nan=False))
    assert list(data) == [
        "scenario",
        "question",
        "seed",
        "equivalent",
        "checks",
        "elements",
        "results",
        "intermediate_per_1000",
        "migration",
        "plans",
        "elements_per_second",
    ]
    assert data["equivalent"] is True
    assert data["checks"] == {"same_snapshots": True, "in_order": True, "unmatched": 0, "differences": []}
    for phases in ("elements", "results"):
        assert list(data[phases]) == ["before", "during", "after"]
    assert list(data["intermediate_per_1000"]) == ["before", "after", "after_without"]
    assert data["migration"]["duration"] > 0
    assert data["migration"]["split_time"] > data["migration"]["duration"]
    assert data["migration"]["peak_state_old"] > 0
    assert data["migration"]["peak_state_new"] > 0
    assert data["elements_per_second"] > 0
    for which, priced in (("old", bidding.old), ("new", bidding.new)):
        assert plan_from_json(data["plans"][which]["plan"]) == priced.plan
        assert data["plans"][which]["tree"] == str(priced.plan)
        assert data["plans"][which]["cost"] == priced.cost


def test_the_same_seed_gives_the_same_demonstration() -> None:
    def figures(seed: int | None) -> dict[str, Any]:
        data = demonstrate(auctions(seed, events=5_000)).as_dict()
        del data["elements_per_second"]
        return data

    assert figures(5) == figures(5)
    assert figures(5)["results"] != figures(6)["results"]
    assert figures(None) == figures(None)


@pytest.mark.parametrize("price", [300, pytest.param(10**9, marks=pytest.mark.slow)])
def test_a_plan_that_means_something_else_is_found_out(price: int) -> None:
    scenario = auctions(events=50_000)
    wrong = bids_only_above(price, scenario.plan)
    demonstration = demonstrate(scenario, wrong)
    assert demonstration.new.plan == wrong
    assert not demonstration.is_equivalent
    assert not demonstration.equivalence
    data = demonstration.as_dict()
    assert data["equivalent"] is False
    assert 0 < len(data["checks"]["differences"]) <= 10
    assert "WRONG" in texts(demonstration)
    assert "Verified" not in texts(demonstration)


@pytest.mark.parametrize("broken", ["same_snapshots", "in_order", "unmatched"])
def test_each_check_decides(broken: str, bidding: Demonstration) -> None:
    wrong = {
        "same_snapshots": replace(bidding, equivalence=equivalent([(0, 1, "a")], [])),
        "in_order": replace(bidding, is_ordered=False),
        "unmatched": replace(bidding, migration=replace(bidding.migration, unmatched=3)),
    }[broken]
    assert not wrong.is_equivalent
    assert wrong.as_dict()["checks"][broken] != bidding.as_dict()["checks"][broken]
    reason = {"same_snapshots": "not equivalent", "in_order": "not in order", "unmatched": "3 of"}[broken]
    assert reason in texts(wrong)


def test_a_plan_over_other_inputs_is_refused() -> None:
    scenario = auctions(events=2_000)
    with pytest.raises(MigrationRefused, match="windows"):
        demonstrate(scenario, with_a_longer_window(scenario.plan))


def with_a_longer_window(plan: Plan) -> Plan:
    """Every window twice as long."""
    return plan.map(
        lambda node: (
            Node(TimeWindow(node.operator.size * 2), node.inputs)
            if isinstance(node.operator, TimeWindow) and node.operator.size is not None
            else node
        )
    )


def test_progress_goes_from_nothing_to_all() -> None:
    told: list[tuple[int, int]] = []
    scenario = auctions(events=2_000)
    demonstrate(scenario, progress=lambda n, in_all: told.append((n, in_all)))
    counts = [n for n, _ in told]
    assert counts == sorted(counts)
    assert told[-1] == (sum(len(list(s)) for s in scenario.streams.values()),) * 2


def test_a_migration_that_only_the_end_completes_has_no_afterwards() -> None:
    demonstration = demonstrate(auctions(events=2_000))
    assert demonstration.is_equivalent
    assert demonstration.elements.after == 0
    assert demonstration.intermediate.after is None
    assert demonstration.as_dict()["intermediate_per_1000"]["after_without"] is None
    assert "–" in texts(demonstration)


def test_text_says_what_the_figures_say() -> None:
    plan = auctions(events=200).plan
    priced = demonstrate(auctions(events=2_000)).old
    text = texts(
        Demonstration(
            scenario=DemoScenario("auctions", "how many", plan, {}, 1, seed=7),
            old=priced,
            new=replace(priced, cost=0.25),
            considered=16,
            elements=Phases(5_000, 1_000, 4_000),
            results=Phases(123, 45, 67),
            intermediate=IntermediateRates(800.5, 20.25, 700.0),
            migration=MigrationReport("done", 12_345, 678, 91, 82, 0, 30, 5, 10, 0, 15, 11_667, 12_346),
            elements_per_second=55_555.5,
            equivalence=Equivalence.of(()),
            is_ordered=True,
        )
    )
    assert "auctions, seed 7: how many" in text
    assert "After 5,000 of 10,000 elements, 16 parts of equivalent plans" in text
    assert "estimated cost: 0.25 µs" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["before", "the", "migration", "5,000", "123", "800.5"] in rows
    assert ["during", "1,000", "45", "–"] in rows
    assert ["after", "4,000", "67", "20.2"] in rows
    assert ["instead,", "without", "migration", "4,000", "–", "700.0"] in rows
    flat = " ".join(text.split())
    assert "from 12,345 s of application time on, 678 s after the migration began" in flat
    assert "at most 91 elements, and the new one 82" in flat
    assert "55,556 elements were processed per second" in flat
    assert "Verified" in flat


def test_plans_are_drawn_whole_on_narrow_terminals(bidding: Demonstration) -> None:
    out = io.StringIO()
    show(bidding, Console(file=out, width=40))
    for line in str(bidding.new.plan).splitlines():
        assert line in out.getvalue()


def in_words(text: str) -> str:
    """What is printed, but for the line breaks, and what a clock on the wall says."""
    return re.sub(
        r"[\d,]+ elements were processed per", "… elements were processed per", " ".join(text.split())
    )


def printed_in(document: Path) -> list[str]:
    """The outputs that a document shows."""
    blocks = re.findall(r"```text\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    return [in_words(block.removeprefix("$ midstream demo\n")) for block in blocks]


@pytest.mark.slow
def test_the_document_shows_what_is_printed(source_tree: Path) -> None:
    auctions_shown, _ = printed_in(source_tree / "docs" / "demo.md")
    assert in_words(texts(demonstrate(auctions()))) == auctions_shown


@pytest.mark.slow
def test_the_document_shows_what_is_printed_of_flights(source_tree: Path, shared_data: Path) -> None:
    _, flights_shown = printed_in(source_tree / "docs" / "demo.md")
    assert flights_shown in in_words(texts(demonstrate(flights(shared_data / "nycflights13"))))


HEADER = "dep_ts,origin,dest,carrier,flight,dep_delay_min"


def departures_file(folder: Path, lines: list[str]) -> Path:
    """A folder with a file of departures."""
    folder.joinpath("departures.csv").write_text("\n".join([HEADER, *lines, ""]))
    return folder


def test_an_airport_may_be_without_departures(tmp_path: Path) -> None:
    draw = random.Random(1)
    lines = [
        f"{60 * i},{draw.choice(['JFK', 'LGA'])},{draw.choice('XYZ')},UA,{i},{i % 30 - 5}" for i in range(300)
    ]
    demonstration = demonstrate(flights(departures_file(tmp_path, lines)))
    assert demonstration.is_equivalent
    assert total(demonstration.elements) == 300
    assert total(demonstration.results) == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "found no departure from EWR, JFK, LGA"),
        (["1,SFO,BOS,UA,1,5"], "found no departure from EWR, JFK, LGA"),
        (
            ["1,EWR,BOS,UA,1,late"],
            r"departures\.csv, line 2, column dep_delay_min: found 'late', expected integer",
        ),
    ],
)
def test_bad_departures_are_refused(lines: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=message):
        flights(departures_file(tmp_path, lines))


def test_no_departures(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"departures\.csv: No such file"):
        flights(tmp_path)
    tmp_path.joinpath("departures.csv").write_text("dep_ts,origin,dest,carrier,flight\n")
    with pytest.raises(InputFileError, match="column dep_delay_min: found no such column"):
        flights(tmp_path)


def test_a_plan_is_read_from_a_file(tmp_path: Path) -> None:
    plan = auctions(events=200).plan
    file = tmp_path / "plan.json"
    file.write_text(dumps(plan), encoding="utf-8")
    assert read_plan(file) == plan
    assert {s.stream for s in read_plan(file).sources if isinstance(s, Source)} == {
        "bid",
        "auction",
        "person",
    }
    file.write_text("{}")
    with pytest.raises(InputFileError, match=r"plan\.json: this is no plan"):
        read_plan(file)
    with pytest.raises(InputFileError, match=r"nowhere\.json: No such file"):
        read_plan(tmp_path / "nowhere.json")
