"""Whatever is written, SQL gives a result or a MidstreamError that shows where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_grammar import DECLARATIONS, Grammar, mutations, prepared, statements

from midstream.commands.explaining import explain
from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.operators import Relation, Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.values.errors import MidstreamError, PlanFormatError, SqlError
from midstream.plans.values.schema import Schema, Type

ROWS = 5
OUR_OWN = re.compile(r"sqlglot|<class|Traceback|TokenType|object at 0x")
"""What no message shows."""

VALUES = {
    Type.INTEGER: (1, 2, 1, -3, 0, 7),
    Type.FLOAT: (2.5, 1.0, 2.5, -0.5, 1e300),
    Type.STRING: ("a", "ab", "", "12", "é"),
    Type.BOOLEAN: (True, False),
    Type.ANY: (1, "a"),
}


def outcome(text: str, declarations: str = DECLARATIONS, unit: str | None = "milliseconds") -> str:
    """What becomes of a script: "results", or the name of the error that it ends with."""
    try:
        catalog = prepared(declarations, unit)
        for query in catalog.execute(text):
            try:
                assert dumps(loads(dumps(query.plan))) == dumps(query.plan)
            except PlanFormatError as error:
                assert "callable" in str(error) or "levels deep" in str(error)
            run(query.plan)
            assert explain(query.plan, budget=500).text()
    except MidstreamError as error:
        message = str(error)
        assert not OUR_OWN.search(message.splitlines()[0]), message
        if isinstance(error, SqlError):
            assert error.line >= 1  # type: ignore[attr-defined]
            assert "^" in message.splitlines()[-1], message
        return type(error).__name__
    return "results"


def run(plan: Plan) -> None:
    """Run a plan on a few rows, with ties and unknown values."""
    relations = {
        node.operator.relation: constant(rows(node.schema))
        for node in plan.nodes
        if isinstance(node.operator, Relation)
    }
    schemas = {n.operator.stream: n.schema for n in plan.nodes if isinstance(n.operator, Source)}
    engine = Engine(plan, lambda elements: None, relations=relations)
    for name in engine.streams:
        engine.push(name, [(t // 2, t // 2 + 1, row) for t, row in enumerate(rows(schemas[name]))])
    engine.close()


def rows(schema: Schema) -> Iterator[tuple[object, ...]]:
    columns = (
        cycle((*VALUES[column.type], None) if column.nullable else VALUES[column.type]) for column in schema
    )
    return islice(zip(*columns, strict=True), ROWS)


def valid_scripts(root: Path) -> list[str]:
    """The queries of NEXMark, and some that are about everything, with what they need."""
    found = [
        path.read_text(encoding="utf-8") for path in sorted((root / "scenarios" / "nexmark").glob("*.sql"))
    ]
    random = Random(4)
    return found + [DECLARATIONS + Grammar(random.choice).statement() for _ in range(40)]


SCRIPTS = valid_scripts(Path(__file__).resolve().parents[2])

FUZZ = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
)


@given(statements(), st.sampled_from(["milliseconds", None]))
@FUZZ
def test_a_statement_gives_results_or_an_error_with_a_place(text: str, unit: str | None) -> None:
    outcome(text, unit=unit)


@given(mutations(SCRIPTS))
@FUZZ
def test_a_mutated_script_gives_results_or_an_error_with_a_place(text: str) -> None:
    outcome(text, declarations="")


def test_many_statements_of_the_grammar_give_results() -> None:
    random = Random(0)
    found = [outcome(Grammar(random.choice).statement()) for _ in range(100)]
    assert found.count("results") >= 20
