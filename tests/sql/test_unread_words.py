"""What is written and accepted counts: without any of its words, or with another number, a text is refused or
means something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sql_grammar import Grammar, prepared
from sqlglot import exp

from midstream.plans.algebra.plan import Plan
from midstream.plans.sql.catalog import Catalog
from midstream.plans.sql.faults import Script
from midstream.plans.sql.nodes import FALSE_SAYS, READ, refuse_unread
from midstream.plans.sql.syntax import QueryStatement, parse
from midstream.plans.values.errors import MidstreamError, SqlError

HERE = Path(__file__).parent
WRITTEN = (HERE / "every_word_queries.txt").read_text(encoding="utf-8").splitlines()
DECLARED = (HERE / "every_word_declarations.txt").read_text(encoding="utf-8").splitlines()
"""Of every kind of node that is read, and of every clause of declarations."""

TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+(?:\.\d+)?|<>|<=|>=|!=|\|\||::|\S")
NUMBER = re.compile(r'(?<![A-Za-z_0-9"])\d+')

NOISE: Mapping[str, str] = {
    r"«AS»": "a name may follow right away",
    r"«;»": "a script may end without it",
    r"«INNER» JOIN": "JOIN is that",
    r"(LEFT|RIGHT|FULL) «OUTER»": "LEFT, RIGHT and FULL are that",
    r"(SELECT |\()«ALL»": "rows and values are all taken, unless there is DISTINCT",
    r"UNION «DISTINCT»": "a UNION is that, unless there is ALL",
    r"«ASYMMETRIC»": "BETWEEN is that",
    r"TRIM\( ?«BOTH»": "TRIM is that",
    r"DOUBLE «PRECISION»": "DOUBLE is that",
    r"[ (,]«\+»": "a sign that changes nothing",
    r"«IS» NOT NULL": "x NOT NULL is another form of it",
    r"«RANGE» (UNBOUNDED|NOW)": "an unbounded window and a now-window need not say of what",
    r"(RANGE|SLIDE) «INTERVAL»": "a window takes a number with a unit",
    r"(MIN|COARSEST|FINEST) [\w' ]+«,»": "the next word begins what follows",
    r"(FROM|JOIN) «(\w+)» \2\b": "a stream is called by its name",
    r"(FROM|JOIN|,) (\w+)( WINDOW\([^()]*\)| \[[^]]*\])? «\2»": "a stream is called by its name",
    r"(?i)\b(max|min)\(«DISTINCT»": "equal values change no extreme",
    r"\bTIME_UNIT «=»": "a setting may follow right away",
    r"(INT|TEXT) «NULL»": "a column may be unknown, unless it is NOT NULL",
    r"«NOT» NULL.*PRIMARY KEY": "columns of a primary key are never unknown",
}
"""Words that may be left out, where they stand between « and », and why."""


def drops(text: str) -> Iterator[tuple[str, str]]:
    """A text without each of its words, and itself with that word marked."""
    for word in TOKEN.finditer(text):
        before, after = text[: word.start()], text[word.end() :]
        yield f"{before} {after}", f"{before}«{word[0]}»{after}"


def increments(text: str) -> Iterator[tuple[str, str]]:
    """A text with each of its numbers one greater, also in strings, and itself with that number marked."""
    for number in NUMBER.finditer(text):
        before, after = text[: number.start()], text[number.end() :]
        yield f"{before}{int(number[0]) + 1:0{len(number[0])}}{after}", f"{before}«{number[0]}»{after}"


def is_noise(marked: str) -> bool:
    """Whether the marked word may be left out."""
    return any(re.search(pattern, marked) for pattern in NOISE) or is_unread_alias(marked)


def is_unread_alias(marked: str) -> bool:
    """Whether the marked word is the name of something in FROM that no column is read by."""
    found = re.search(r"(\w+|\)|\]) (?:AS )?«(\w+)»", marked)
    if found is None or found[2].upper() in ("WINDOW", "ON", "USING", "WHERE", "JOIN", "GROUP", "UNION"):
        return False
    behind_item = found[1] in ("Bid", "Auction", "Dear", "Category", ")", "]")
    return behind_item and not re.search(rf"\b{found[2]}\.", marked)


@cache
def catalog() -> Catalog:
    # With a unit that the corpus does not name, a number with a unit is none without it.
    return prepared(unit="microseconds")


def plan_of(text: str) -> Plan | None:
    """The plan of a query; None where it is refused."""
    try:
        (query,) = catalog().execute(text)
    except (MidstreamError, ValueError):
        return None
    return query.plan


def declared(text: str) -> Any:
    """What a declaration makes; None where it is refused."""
    made = Catalog("milliseconds")
    try:
        made.execute(text)
    except MidstreamError:
        return None
    return dict(made.streams), dict(made.relations), made.unit


def drawn(many: int = 130) -> list[str]:
    """Short queries of the grammar that are accepted, without comments, and without WITH."""
    texts = (Grammar(Random(seed).choice).query() for seed in count())
    telling = (text for text in texts if len(text) < 160 and not re.search(r"WITH|--|/\*", text))
    return list(islice((text for text in telling if plan_of(text) is not None), many))


@cache
def accepted() -> list[str]:
    """Queries of the corpus and drawn ones."""
    return [text for text in WRITTEN if plan_of(text) is not None] + drawn()


def test_the_corpus_has_many_queries_and_every_kind_of_node() -> None:
    assert set(WRITTEN) <= set(accepted())
    assert len(accepted()) >= 200
    kinds: set[type[exp.Expr]] = set()
    for text in WRITTEN:
        for statement in parse(Script(text)):
            assert isinstance(statement, QueryStatement)
            kinds |= {type(node) for node in statement.query.walk()}
    assert kinds == set(READ)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_every_word_and_number_of_a_query_counts(part: int) -> None:
    faults = []
    for text in accepted()[part::10]:
        plan = plan_of(text)
        for changed, marked in (*drops(text), *increments(text)):
            if plan_of(changed) == plan and not is_noise(marked):
                faults.append(marked)
    assert not faults


def test_every_word_and_number_of_a_declaration_counts() -> None:
    faults = []
    for text in DECLARED:
        whole = declared(text)
        assert whole is not None, text
        for changed, marked in (*drops(text), *increments(text)):
            if declared(changed) == whole and not is_noise(marked):
                faults.append(marked)
    assert not faults


@pytest.mark.parametrize("pattern", NOISE)
def test_a_word_that_is_listed_can_be_left_out(pattern: str) -> None:
    """So that the list does not grow old."""
    makers = [(plan_of, accepted()), (declared, DECLARED)]
    assert any(
        re.search(pattern, marked) and make(changed) == make(text)  # type: ignore[operator]
        for make, texts in makers
        for text in texts
        for changed, marked in drops(text)
    )


UNREAD = [(kind, name) for kind, names in READ.items() for name in kind.arg_types if name not in names]


@pytest.mark.parametrize(("kind", "name"), UNREAD, ids=lambda part: getattr(part, "__name__", part))
def test_an_argument_that_is_not_read_is_refused(kind: type[exp.Expr], name: str) -> None:
    values: list[Any] = [True, "x", exp.var("x"), [exp.var("x")]]
    for value in (*values, False) if (kind, name) in FALSE_SAYS else values:
        node = kind(**{name: value})
        with pytest.raises(SqlError, match="is not supported"):
            refuse_unread(Script(""), node)


def test_an_argument_of_a_newer_sqlglot_is_refused() -> None:
    for kind in READ:
        with pytest.raises(SqlError, match="is not supported"):
            refuse_unread(Script(""), kind(**{"invented": exp.var("x")}))


def test_a_kind_of_node_that_is_not_read_is_refused() -> None:
    class Invented(exp.Expression):
        """Nobody knows it."""

    with pytest.raises(SqlError, match="is not supported"):
        refuse_unread(Script(""), exp.select(Invented()))
