"""`midstream verify`: proofs, refutations, what stays unknown, bad input, and rules of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import midstream as ms
from midstream.cli import app

DECLARED = """SET time_unit = 'milliseconds';
CREATE STREAM bid(item INT NOT NULL, price INT, at TIMESTAMP) ORDERED BY at;
"""
WINDOW = "bid WINDOW(RANGE 5 SECONDS)"

NOTHING_LEAVES = """
import midstream as ms
from midstream.plans.algebra.operators import Dstream, Filter, TimeWindow
from midstream.plans.expressions.expressions import Const

def is_unbounded(node, window):
    '''From any other window rows do go.'''
    return window.operator.size is None

RULES = [
    ms.optimizer.Rule(
        name="nothing-leaves",
        equation="dstream(window(unbounded, S)) = filter(false, S)",
        shape=ms.optimizer.Shape(Dstream, ms.optimizer.Shape(TimeWindow)),
        match=lambda node: [node.inputs[0]],
        guards=(is_unbounded,),
        rewrite=lambda node, window: ms.plans.Node(Filter(Const(False)), window.inputs),
    )
]
"""


def verify(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)], input=stdin)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scripts = {
        "old.sql": f"{DECLARED}SELECT DISTINCT item FROM {WINDOW} WHERE price > 3",
        "grouped.sql": f"SELECT item FROM {WINDOW} WHERE price > 3 GROUP BY item",
        "own.sql": f"{DECLARED}SELECT item FROM {WINDOW} WHERE NOT (price <= 3) GROUP BY item",
        "wrong.sql": f"SELECT item FROM {WINDOW} WHERE price > 3",
        "named.sql": f"SELECT DISTINCT item AS other FROM {WINDOW} WHERE price > 3",
        "nested.sql": f"SELECT DISTINCT item FROM {WINDOW} WHERE price > 3 AND price * price >= 0",
        "two.sql": f"SELECT item FROM {WINDOW}; SELECT price FROM {WINDOW}",
        "broken.sql": "SELEKT item FROM bid",
    }
    for name, text in scripts.items():
        Path(name).write_text(text)


def test_a_proof() -> None:
    result = verify("old.sql", "grouped.sql")
    assert result.exit_code == 0
    assert result.output.startswith("proved: both have the same normal form\n  1. normal form: ")


def test_a_script_of_its_own() -> None:
    assert verify("old.sql", "own.sql").exit_code == 0
    assert verify("own.sql", "old.sql").exit_code == 0


def test_a_derivation_is_told_step_by_step() -> None:
    rows = ms.stream("s", x="integer", y="integer")
    Path("old.json").write_text(ms.dumps(rows.window(4).window(3).distinct().plan()))
    Path("new.json").write_text(ms.dumps(rows.window(6).distinct().plan()))
    result = verify("old.json", "new.json")
    assert result.exit_code == 0
    assert "proved: derived by windows-merging" in result.output
    assert "  1. windows-merging: distinct(window(a, window(b, S)))" in result.output
    found = json.loads(verify("old.json", "new.json", "--json").output)
    assert found["answer"] == "proved"
    (step,) = found["steps"]
    assert step["rule"] == "windows-merging"
    assert step["place"] == []
    assert step["after"].startswith("distinct\n└─ window 6\n")
    assert found["counterexample"] is None


def test_a_refutation_is_drawn() -> None:
    result = verify("old.sql", "wrong.sql")
    assert result.exit_code == 1
    assert result.output == (
        "refuted: a search found an input of 2 elements on which they differ\n"
        "             0      1      5000\n"
        "bid  (4, 4)  [──────)\n"
        "     (4, 4)  [──────)\n"
        "old  (4,)    [─────────────)\n"
        "new  (4,)    [─────────────)\n"
        "     (4,)    [─────────────)\n"
        "time is counted in milliseconds\n"
    )


def test_a_refutation_as_json() -> None:
    result = verify("old.sql", "wrong.sql", "--json")
    assert result.exit_code == 1
    found = json.loads(result.output)
    assert found["answer"] == "refuted"
    assert found["counterexample"] == {
        "streams": {"bid": [{"start": 0, "end": 1, "row": [4, 4]}] * 2},
        "output": "out",
        "old": [{"start": 0, "end": 5000, "row": [4]}],
        "new": [{"start": 0, "end": 5000, "row": [4]}] * 2,
    }


def test_other_columns_are_a_refutation() -> None:
    result = verify("old.sql", "named.sql")
    assert result.exit_code == 1
    assert (
        "the output out has the columns (item integer) in one, (other integer) in the other" in result.output
    )


def test_an_unknown_answer_has_a_status_of_its_own() -> None:
    result = verify("old.sql", "nested.sql", "--steps", 20)
    assert result.exit_code == 3
    assert result.output.startswith("unknown: they have different normal forms, no derivation was found, and")
    assert "none of 20 small inputs tells them apart" in result.output
    assert json.loads(verify("old.sql", "nested.sql", "--steps", 20, "--json").output)["answer"] == "unknown"


def test_a_search_may_be_ended() -> None:
    result = verify("old.sql", "nested.sql", "--seconds", 0)
    assert result.exit_code == 3
    assert "the search was ended after 0" in result.output


def test_a_query_on_standard_input() -> None:
    assert verify("old.sql", "-", stdin=Path("grouped.sql").read_text()).exit_code == 0


def test_a_plan_against_a_query() -> None:
    Path("old.json").write_text(ms.dumps(ms.sql(Path("old.sql").read_text())))
    assert verify("old.sql", "old.json").exit_code == 0
    assert verify("old.json", "own.sql").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("old.sql", "none.sql"), "none.sql"),
        (("old.sql", "none.json"), "none.json"),
        (("old.sql", "broken.sql"), "broken.sql"),
        (("old.sql", "two.sql"), "two.sql: found 2 queries, expected one to verify"),
        (("-", "-"), "both queries are standard input"),
        (("old.sql", "grouped.sql", "--rules", "none.py"), "none.py"),
        (("old.sql", "grouped.sql", "--rules", "empty.py"), "empty.py: found no RULES, expected a list"),
        (("old.sql", "grouped.sql", "--rules", "raising.py"), "raising.py, line 2: ZeroDivisionError"),
        (("old.sql", "grouped.sql", "--rules", "wrong.py"), "wrong.py: nothing-leaves: refuted: the sides"),
        (("old.sql", "grouped.sql", "--rules", "idle.py"), "nothing-leaves: unknown: no subplan was found"),
        (("old.sql", "grouped.sql", "--rules", "known.py"), "there is already a rule filter-merging"),
        (("old.sql", "grouped.sql", "--rules", "odd.py"), "EXAMPLES: found 5, expected streams, plans or"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], message: str) -> None:
    files = {
        "empty.py": "",
        "raising.py": "x = 1\n1 / 0\n",
        "wrong.py": NOTHING_LEAVES.replace("guards=(is_unbounded,),", ""),
        "idle.py": NOTHING_LEAVES.replace("size is None", "size == 77"),
        "known.py": NOTHING_LEAVES.replace("nothing-leaves", "filter-merging"),
        "odd.py": f"{NOTHING_LEAVES}\nEXAMPLES = {{'nothing-leaves': [5]}}",
    }
    for name, text in files.items():
        Path(name).write_text(text)
    result = verify(*arguments)
    shown = " ".join((result.output + str(result.exception or "")).split())
    assert result.exit_code == 2, shown
    assert message in shown


def test_a_rule_of_ones_own_is_tried_and_then_used() -> None:
    rows = ms.stream("s", x="integer")
    Path("old.json").write_text(ms.dumps(rows.window(None).dstream().window(5).plan()))
    Path("new.json").write_text(ms.dumps(rows.filter(ms.lit(False)).window(5).plan()))
    Path("rules.py").write_text(NOTHING_LEAVES)
    assert verify("old.json", "new.json").exit_code == 3
    result = verify("old.json", "new.json", "--rules", "rules.py")
    assert result.exit_code == 0, result.output
    assert "nothing-leaves: dstream(window(unbounded, S)) = filter(false, S)" in result.output
    assert "tested, not proved: nothing-leaves: unknown: it held for 10 plans on " in result.output
    found = json.loads(verify("old.json", "new.json", "--rules", "rules.py", "--json").output)
    assert [(rule["name"], rule["plans"], rule["used"]) for rule in found["rules"]] == [
        ("nothing-leaves", 10, True)
    ]


@pytest.mark.slow
def test_a_rule_that_is_not_needed_is_not_told() -> None:
    Path("rules.py").write_text(NOTHING_LEAVES)
    result = verify("old.sql", "grouped.sql", "--rules", "rules.py")
    assert result.exit_code == 0
    assert "nothing-leaves" not in result.output
