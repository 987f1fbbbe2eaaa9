"""An engine finds the elements that refer to no row, whatever the order of arrival, and those alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.operators.engine.input.reference_checks import ReferenceCheck
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.declared import breaks_reference
from midstream.plans.values.errors import DeclarationError
from midstream.plans.values.streams import Element
from midstream.testing import elements, interleavings
from midstream.testing.workloads import drive

T = stream("t", a="integer", b="integer")
S = stream("s", x="integer", y="integer")
J = stream("j", a="integer", b="integer", intervals=True)
I = stream("i", x="integer", y="integer", intervals=True)  # noqa: E741
X = [("x", "a")]


@st.composite
def referring(draw: st.DrawFn) -> tuple[Stream, Stream]:
    """A stream, and what it refers to: another one, or itself."""
    one, other = draw(st.sampled_from([S, I])), draw(st.sampled_from([T, J]))
    within = draw(st.sampled_from((0, 1, 4, None)))
    if draw(st.integers(0, 4)) == 0:
        return one.references([("x", "y")], one, within=within), other
    return one.references(X, other, within=within), other


def query(one: Stream, other: Stream) -> Stream:
    return one.join(other)


@given(referring(), st.data(), st.booleans())
def test_what_has_no_partner_goes_to_the_dead_letters(
    pair: tuple[Stream, Stream], data: st.DataObject, compile: bool
) -> None:
    plan = query(*pair).plan()
    streams = {s.stream: data.draw(elements(chronons=not s.intervals)) for s in plan.sources}
    leaves = {source.label: source for source in plan.sources}
    (one,) = (source for source in plan.sources if source.references)
    expected = [
        element
        for element in streams[one.label]
        if breaks_reference(one, one.references[0], element, leaves, streams)
    ]
    refused: list[Any] = []
    results: list[Element] = []
    engine = ms.Engine(plan, results.extend, dead_letters=refused.extend, compile=compile)
    drive(engine, data.draw(interleavings(streams)))
    engine.close()
    assert sorted(letter.element for letter in refused) == sorted(expected)
    assert {(letter.stream, letter.reason) for letter in refused} <= {(one.label, "declaration")}
    assert ms.plans.normal_form(results) == ms.plans.specified(plan, streams)


def test_it_is_told_when_the_other_stream_has_gone_past() -> None:
    engine = ms.Engine(query(S.references(X, T, within=2), T))
    engine.push("s", [(5, 6, (1, 0))])
    engine.push("t", [(3, 4, (2, 0)), (5, 6, (3, 0))])
    with pytest.raises(
        DeclarationError,
        match=r"^stream s: element \(5, 6, \(1, 0\)\) has been taken, and there is no row that it refers to; "
        r"expected \(x\) references t \(a\) within 2$",
    ):
        engine.advance("t", 6)
    engine.advance("t", 7)
    engine.push("s", [(7, 8, (3, 0))])
    engine.close()


def test_what_refers_to_a_relation_is_told_at_once() -> None:
    rates = relation("rates", a="integer")
    engine = ms.Engine(S.references(X, rates).window(3).join(rates), relations={"rates": constant([(1,)])})
    engine.push("s", [(1, 2, (1, 0))])
    with pytest.raises(DeclarationError, match=r"refers to; expected \(x\) references rates \(a\)"):
        engine.push("s", [(2, 3, (2, 0))])


def test_relations_refer_to_relations() -> None:
    colours = relation("colours", a="integer")
    cars = relation("cars", x="integer").references(X, colours)
    plan = T.rename({"a": "t"}).join(cars).join(colours)
    rows = {"colours": constant([(1,)]), "cars": constant([(1,), (2,)])}
    with pytest.raises(DeclarationError, match=r"^relation cars: .*\(2,\).* references colours"):
        ms.Engine(plan, relations=rows)
    ms.Engine(plan, relations={**rows, "cars": rows["cars"][:1]})


def test_unknown_values_and_what_is_trusted_are_not_checked() -> None:
    loose = stream("s", x="integer?", y="integer").references(X, T)
    engine = ms.Engine(query(loose, T))
    engine.push("s", [(1, 2, (None, 0))])
    engine.close()
    trusted = ms.Engine(query(S.references(X, T, enforced=False), T))
    trusted.push("s", [(1, 2, (1, 0))])
    trusted.close()


def test_what_came_before_the_query_is_no_violation() -> None:
    """Nobody has looked at the rows then."""
    engine = ms.Engine(T)
    engine.push("t", [(1, 2, (7, 0)), (5, 6, (8, 0))])
    engine.add(query(S.references(X, T, within=4), T), name="later")
    engine.push("s", [(5, 6, (7, 0)), (9, 10, (8, 0))])
    engine.push("t", [(9, 10, (3, 0))])
    engine.push("s", [(10, 11, (7, 0))])
    with pytest.raises(DeclarationError, match=r"\(10, 11, \(7, 0\)\)"):
        engine.push("t", [(11, 12, (3, 0))])


def test_a_stream_that_nobody_reads_any_more_holds_up_nothing() -> None:
    engine = ms.Engine(S.references(X, T))
    engine.add(query(S.references(X, T), T), name="both")
    engine.push("s", [(1, 2, (7, 0))])
    engine.remove("both")
    engine.push("s", [(2, 3, (7, 0))])
    engine.close()


def test_state_is_bounded_by_what_may_be_needed() -> None:
    one, other = S.references(X, T, within=9).plan().sources[0], T.plan().sources[0]
    check = ReferenceCheck(one.references[0], one, other)
    for t in range(200):
        check.serve([(t, t + 1, (t, 0))], t)
        check.refer([(t, t + 1, (t, 0))], t)
        assert not list(check.unmatched())
        assert check.size() <= 12


def test_an_error_stops_nothing_that_was_taken() -> None:
    """Of a long batch, nor what other references have to know."""
    rates, results = relation("rates", a="integer"), list[Element]()
    one = S.references(X, rates).references([("y", "a")], T).window(1)
    engine = ms.Engine(one.join(T).join(rates.rename({"a": "rate"})), relations={"rates": constant([(1,)])})
    engine.subscribe(results.extend)
    engine.push("t", [(t, t + 1, (1, 0)) for t in range(1000)])
    with pytest.raises(DeclarationError, match=r"\(3, 4, \(2, 1\)\).*references rates"):
        engine.push("s", [(t, t + 1, (2 if t == 3 else 1, 1)) for t in range(1000)])
    assert len(results) == 1000
    with pytest.raises(DeclarationError, match=r"\(1000, 1001, \(1, 5\)\).*references t"):
        engine.push("s", [(1000, 1001, (1, 5))])
        engine.close()
    engine.close()
