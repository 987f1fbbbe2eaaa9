"""What rules do to small plans, and what they leave alone: a file golden/<rule>.txt each.

    expect      the reason
        a query
        ──▶
        the plan that the rule makes of it

    expect-not  the reason
        a query that the rule leaves alone

Queries are written with the builder, over the streams below.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from midstream.optimizer.rules import ALL_RULES, apply
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.expressions import Const
from midstream.plans.expressions.operands import col, opaque

FOLDER = Path(__file__).parent / "golden"
CASE = re.compile(r"^(?P<kind>expect(?:-not)?) +(?P<reason>\S.*)\n(?P<body>(?: {4}.*\n|\n)+)", re.MULTILINE)


def odd(value: int) -> bool:
    return value % 2 == 1


def integers(name: str, *columns: str) -> Stream:
    return stream(name, dict.fromkeys(columns, "integer"), intervals=True)


NAMES = {
    "a": integers("a", "x", "y"),
    "a2": integers("a2", "x", "y"),
    "a3": integers("a3", "x", "y"),
    "b": integers("b", "z", "w"),
    "c": integers("c", "u", "v"),
    "z": integers("z", "z"),
    "n": stream("n", intervals=True, m="integer?"),
    "Const": Const,
    "col": col,
    "count": count,
    "odd": odd,
    "opaque": opaque,
}


@dataclass(frozen=True)
class Case:
    """A query, and the plan that the rule makes of it, if it does."""

    rule: str
    reason: str
    query: str
    expected: str | None

    def __str__(self) -> str:
        return f"{self.rule}: {'' if self.expected else 'not where '}{self.reason}"


def read(file: Path) -> list[Case]:
    """The cases of a file; all of its text must belong to one."""
    text = file.read_text(encoding="utf-8") + "\n"
    assert not CASE.sub("", text).strip(), f"{file.name}: {CASE.sub('', text).strip()!r} is no case"
    cases = []
    for found in CASE.finditer(text):
        query, arrow, expected = textwrap.dedent(found["body"]).strip().partition("\n──▶\n")
        assert bool(arrow) is (found["kind"] == "expect"), f"{file.name}: {found['reason']}"
        cases.append(Case(file.stem, found["reason"], query, expected or None))
    return cases


CASES = [case for file in sorted(FOLDER.glob("*.txt")) for case in read(file)]


def test_every_file_is_about_a_rule_and_has_cases_of_both_kinds() -> None:
    names = {case.rule for case in CASES}
    assert names <= {rule.name for rule in ALL_RULES}
    assert {case.rule for case in CASES if case.expected} == names
    assert {case.rule for case in CASES if not case.expected} == names


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    (rule,) = (rule for rule in ALL_RULES if rule.name == case.rule)
    query = eval(case.query, dict(NAMES))
    results = [str(Plan(result)) for result in apply(rule, query.node)]
    assert results == ([case.expected] if case.expected else [])
