"""Scenario files: what is read, and how faults are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from simulated import described, joined, scenario, stream

from midstream.plans.algebra.serialise import dumps, plan_to_json
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.simulator.scenario import load_scenario, parse_scenario

GOOD = """\
name: small
duration: 10 s
streams:
  A:
    columns:
      k: {values: uniform, low: 0, high: 9}
      word: {values: choice, of: {on: 1, off: 2}}
    arrivals: {process: constant, rate: 20}
plans:
  old: {sql: "SELECT k FROM A WINDOW(RANGE 2 SECONDS) WHERE k > 1"}
  new: {sql: "SELECT k FROM A WINDOW(RANGE 2 SECONDS) WHERE k > 1"}
migrations:
  - {at: 5 s, to: new}
strategies: [genmig, swap]
"""

BAD = [
    # what is replaced, by what, and what the message says
    ("name: small\n", "", "line 1, name: found nothing, expected a value"),
    ("name: small", "name: 2024", "line 1, name: found 2024, expected a text"),
    (
        "name: small",
        "name: small\nname: large",
        "line 2, name: found the key a second time, the first is in line 1",
    ),
    ("name: small", "nmae: small", "line 1, nmae: found no such key, expected one of name, description"),
    ("name: small", "nmae: small", "did you mean name?"),
    ("name: small", "yes: small", "line 1, yes: found no such key"),
    ("name: small", "true: small", "line 1: found the key true, expected a text; put it in quotes"),
    ("name: small", "name: !!python/name:os.system x", "line 1, name: found the tag"),
    ("name: small", "name: !!int x", "line 1, name: found the tag"),
    ("name: small", "name: [small", "found no YAML"),
    ("name: small", "name: *small", "line 1: found no YAML: found undefined alias"),
    ("name: small", "<<: {name: small}", "line 1, <<: found no such key"),
    ("duration: 10 s", "duration: 10_000", "line 2, duration: found '10_000', expected a whole number"),
    ("duration: 10 s", "duration: 10.5", "line 2, duration: found 10.5, expected a whole number"),
    ("duration: 10 s", "duration: true", "line 2, duration: found true, expected a whole number"),
    ("duration: 10 s", "duration: 0 s", "line 2, duration: found 0, expected more than 0"),
    ("duration: 10 s", "duration: -1 s", "line 2, duration: found -1000, expected more than 0"),
    ("duration: 10 s", "duration: 10 parsecs", "expected a whole number with a unit, such as 90s"),
    ("duration: 10 s", "duration: 7 us", "found '7 us', expected a whole number of milliseconds"),
    ("duration: 10 s", "duration: 2024-01-01", "line 2, duration: found '2024-01-01', expected"),
    (
        "duration: 10 s",
        "duration: 10 s\nunit: days",
        "line 3, unit: found 'days', expected seconds, or a unit",
    ),
    ("duration: 10 s", "duration: 10 s\nunit: fortnights", "line 3, unit: found the time unit 'fortnights'"),
    (
        "duration: 10 s",
        "duration: 10 s\nrepetitions: yes",
        "repetitions: found 'yes', expected a whole number",
    ),
    (
        "duration: 10 s",
        "duration: 10 s\nrepetitions: 0",
        "line 3, repetitions: found 0, expected more than 0",
    ),
    ("duration: 10 s", "duration: 10 s\nseed: 1.5", "line 3, seed: found 1.5, expected a whole number"),
    ("duration: 10 s", "duration: 10 s\nmeasures: {bytes: on}", "found 'on', expected true or false"),
    (
        "duration: 10 s",
        "duration: 10 s\nrelations: {A: {columns: {k: integer}, rows: []}}",
        "is also a stream",
    ),
    (
        "duration: 10 s",
        "duration: 10 s\nrelations: {r: {columns: {k: integer}, rows: [[1], [x]]}}",
        "line 3, relations.r.rows[1]: column k: found 'x' (str), expected integer",
    ),
    (
        "values: uniform",
        "values: unifrom",
        "line 6, streams.A.columns.k: found 'unifrom', expected one of uniform",
    ),
    ("values: uniform", "values: unifrom", "did you mean uniform?"),
    ("values: uniform, ", "", "line 6, streams.A.columns.k: found no key values"),
    (
        "low: 0",
        "low: {}",
        "line 6, streams.A.columns.k.low: found keys with values, expected either steps or linear",
    ),
    (
        "low: 0",
        "low: {steps: {0: 1, 5 s: x}}",
        "line 6, streams.A.columns.k.low.steps.5 s: found 'x', expected a number",
    ),
    ("low: 0", "low: {steps: {5 s: 1, 0 s: 2}}", "expected points in order of time"),
    ("rate: 20", "rate: fast", "line 8, streams.A.arrivals.rate: found 'fast', expected a number"),
    ("rate: 20}", "rate: 20}\n    disorder: 1 s", "expected a slack of 1000 or more"),
    (
        "rate: 20}",
        "rate: 20}\n    idle: [{since: 2 s, until: 1 s}]",
        "line 9, streams.A.idle[0]: found keys with values, expected an instant `until`",
    ),
    (
        "k: {values: uniform, low: 0, high: 9}",
        "k: {values: recorded, type: integer}",
        "expected a trace, as column k is recorded",
    ),
    ("k > 1", "kk > 1", "line 10, plans.old.sql: SQL, line 1"),
    ("FROM A", "FROM B", "line 10, plans.old.sql: SQL, line 1"),
    (
        "  old: {sql:",
        "  old: {file: x.sql, sql:",
        "line 10, plans.old: found keys with values, expected exactly one of sql, file and plan",
    ),
    (
        "  old: {sql",
        "  gone: {file: gone.sql}\n  old: {sql",
        "line 10, plans.gone.file: gone.sql: No such file or directory",
    ),
    (
        "  old: {sql",
        "  odd: {file: odd.txt}\n  old: {sql",
        "expected a file whose name ends in .sql or .json",
    ),
    ("  old: {sql", "  odd: {plan: {}}\n  old: {sql", "line 10, plans.odd.plan: this is no plan"),
    ("  old: {sql", "  optimizer: {sql", "line 10, plans.optimizer: found a plan of this name"),
    (
        "duration: 10 s",
        "duration: 10 s\nrelations: {r: {columns: {k: any}, rows: []}}",
        "line 3, relations.r.columns: column k: found any, expected a type of SQL",
    ),
    (
        "to: new",
        "to: nwe",
        "line 13, migrations[0].to: found 'nwe', expected one of old, new, optimizer; did you mean new?",
    ),
    (
        "at: 5 s",
        "at: 5 s, when: state > 5",
        "line 13, migrations[0]: found keys with values, expected either at or when",
    ),
    ("at: 5 s, ", "", "expected either at or when"),
    ("at: 5 s", "at: 10 s", "line 13, migrations[0].at: found 10000, expected less than the duration, 10000"),
    ("at: 5 s", "at: 5 s, abort_at: 4 s", "expected an instant abort_at that lies behind at"),
    (
        "at: 5 s",
        "when: rate(B) > 5",
        "line 13, migrations[0].when: found 'rate(B) > 5', expected one of the streams A, not B",
    ),
    ("at: 5 s", "when: rat(A) > 5", "not rat; did you mean rate?"),
    ("at: 5 s", "when: state(A) > 5", "expected state without a stream"),
    ("at: 5 s", "when: often", "expected a measure, >=, <=, >, <, and a number"),
    ("[genmig, swap]", "[genmig, spaw]", "line 14, strategies[1]: found 'spaw', expected one of"),
    ("[genmig, swap]", "[genmig, genmig]", "line 14, strategies[1]: found genmig a second time"),
    ("[genmig, swap]", "genmig", "line 14, strategies: found 'genmig', expected a list"),
    ("[genmig, swap]", "[]", "line 14, strategies: found nothing, expected one at least"),
    (
        "strategies:",
        "start: odl\nstrategies:",
        "line 14, start: found 'odl', expected one of old, new; did you mean old?",
    ),
]


def read(text: str) -> Any:
    return parse_scenario("small.yaml", text, Path())


def test_what_is_read() -> None:
    found = read(GOOD)
    assert (found.second, found.spec.duration, found.every) == (1000, 10_000, 100)
    assert (found.start, found.steps[0].at, found.steps[0].to) == ("old", 5000, "new")
    assert found.plans["old"].sources[0].columns.names == ("k", "word")
    assert list(found.spec.streams["A"].columns["word"].of) == ["on", "off"], "texts, not booleans"


@pytest.mark.parametrize(
    ("old", "new", "message"), BAD, ids=[f"{i}: {case[1][:30]}" for i, case in enumerate(BAD)]
)
def test_faults_name_place_what_was_found_and_what_was_expected(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputFileError) as caught:
        read(GOOD.replace(old, new, 1))
    assert str(caught.value).startswith("small.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a list\n", "a text\n"])
def test_what_is_no_scenario_at_all(text: str) -> None:
    with pytest.raises(InputFileError, match=r"^small\.yaml.*expected"):
        read(text)


def test_all_faults_are_told_in_order_of_lines() -> None:
    text = GOOD.replace("rate: 20", "rate: fast").replace("low: 0", "low: zero").replace("10 s", "ten")
    with pytest.raises(InputFileError) as caught:
        read(text)
    lines = str(caught.value).splitlines()
    assert [line.partition(", line ")[2].partition(",")[0] for line in lines] == ["2", "6", "8"]
    assert caught.value.line == 2  # type: ignore[attr-defined]


def test_a_circle_of_aliases_is_refused() -> None:
    with pytest.raises(InputFileError, match="expected no circle"):
        read("name: &x [*x]\n")


def test_units_are_those_of_the_scenario() -> None:
    found = scenario(unit="seconds", duration="2 min", measures={}, migrations=[{"at": "1 min", "to": "new"}])
    assert (found.second, found.spec.duration, found.steps[0].at, found.every) == (1, 120, 60, 1)


def test_plans_in_files_and_as_data(tmp_path: Path) -> None:
    plan = scenario().plans["new"]
    (tmp_path / "new.json").write_text(dumps(plan))
    (tmp_path / "new.sql").write_text(joined("C", "B", "A")["sql"])
    for form in ({"file": "new.json"}, {"file": "new.sql"}, {"plan": plan_to_json(plan)}):
        (tmp_path / "s.yaml").write_text(
            yaml.safe_dump(described(plans={"old": joined("A", "B", "C"), "new": form}))
        )
        assert load_scenario(str(tmp_path / "s.yaml")).plans["new"] == plan


@pytest.mark.parametrize(
    ("streams", "message"),
    [
        ({"A": stream(), "B": stream()}, "the plan reads stream C, expected one of A, B"),
        (
            {
                **{name: stream() for name in "AB"},
                "C": stream() | {"columns": {"k": {"values": "constant", "value": "x"}}},
            },
            "the plan reads stream C as (k integer), which is (k string)",
        ),
    ],
)
def test_a_plan_as_data_must_read_what_there_is(streams: Any, message: str) -> None:
    plan = plan_to_json(scenario().plans["new"])
    with pytest.raises(InputFileError) as caught:
        scenario(streams=streams, plans={"old": {"plan": plan}, "new": {"plan": plan}})
    assert message in str(caught.value)


def test_relations_are_known_to_sql() -> None:
    found = scenario(
        relations={"note": {"columns": {"k": "integer", "text": "string?"}, "rows": [[1, "x"], [2, None]]}},
        plans={"old": {"sql": "SELECT note.text FROM A WINDOW(RANGE 2 SECONDS), note WHERE A.k = note.k"}},
        migrations=[],
    )
    assert [row for _, _, row in found.relations["note"]] == [(1, "x"), (2, None)]


def test_traces_are_looked_for_in_the_folder_of_the_data(tmp_path: Path) -> None:
    trace = {"process": "trace", "path": "a.csv", "time": "t", "unit": "s"}
    recorded = {"columns": {"k": {"values": "recorded", "type": "integer"}}, "arrivals": trace}
    text = yaml.safe_dump(described(streams={"A": recorded, "B": stream(), "C": stream()}))
    for data, folder in ((None, tmp_path), (tmp_path / "data", tmp_path / "data")):
        found = parse_scenario("s.yaml", text, tmp_path, data)
        assert found.spec.streams["A"].arrivals.path == folder / "a.csv"  # type: ignore[union-attr]


def test_a_name_that_is_none() -> None:
    with pytest.raises(InputFileError, match="found no such file or name"):
        load_scenario("no-such-scenario")
