"""An engine finds the elements that break a declared key, whatever the batches, and those alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.operators.engine.input.entrance import Entrance
from midstream.operators.engine.input.key_checks import KeyChecks
from midstream.operators.engine.input.relations import constant
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.declared import obedient
from midstream.plans.algebra.operators.declarations import Key
from midstream.plans.values.errors import DeclarationError, MidstreamError, StreamOrderError
from midstream.plans.values.streams import FOREVER, Element
from midstream.testing import elements

S = stream("s", x="integer", y="integer")
I = stream("i", x="integer", y="integer", intervals=True)  # noqa: E741

KEYS = st.lists(st.sampled_from([("x",), ("y",), ("x", "y"), ()]), min_size=1, max_size=2, unique=True)


@st.composite
def declared(draw: st.DrawFn) -> Stream:
    """A stream with keys."""
    query = draw(st.sampled_from([S, I]))
    for columns in draw(KEYS):
        query = query.unique(*columns, of_all_time=draw(st.booleans()))
    return query


def batches(arrived: list[Element], sizes: list[int]) -> list[list[Element]]:
    """Elements in batches of given sizes, the last one of what is left."""
    found, at = [], 0
    for size in [*sizes, len(arrived)]:
        found.append(arrived[at : at + size])
        at += size
    return found


@given(declared(), st.data(), st.lists(st.integers(1, 4), max_size=6), st.booleans())
def test_what_breaks_a_key_goes_to_the_dead_letters(
    query: Stream, data: st.DataObject, sizes: list[int], compile: bool
) -> None:
    (source,) = query.plan().sources
    arrived = data.draw(elements(chronons=not source.intervals))
    kept = obedient([source], {source.stream: arrived})[source.stream]
    results: list[Element] = []
    refused: list[Any] = []
    engine = ms.Engine(query, results.extend, dead_letters=refused.extend, compile=compile)
    for batch in batches(arrived, sizes):
        engine.push(source.stream, batch)
    engine.close()
    assert ms.plans.normal_form(results) == ms.plans.normal_form(kept)
    assert {letter.reason for letter in refused} <= {"declaration"}
    assert sorted([*kept, *(letter.element for letter in refused)]) == sorted(arrived)


@given(declared(), st.data(), st.lists(st.integers(1, 4), max_size=6), st.booleans())
def test_without_dead_letters_the_first_batch_with_such_an_element_is_refused(
    query: Stream, data: st.DataObject, sizes: list[int], compile: bool
) -> None:
    """And nothing of it is taken: its sound elements can come again."""
    (source,) = query.plan().sources
    arrived = data.draw(elements(chronons=not source.intervals))
    results: list[Element] = []
    engine = ms.Engine(query, results.extend, compile=compile)
    taken: list[Element] = []
    for batch in batches(arrived, sizes):
        kept = obedient([source], {source.stream: taken + batch})[source.stream]
        if kept == taken + batch:
            engine.push(source.stream, batch)
        else:
            first = next(e for i, e in enumerate(batch) if kept[len(taken) + i : len(taken) + i + 1] != [e])
            with pytest.raises(DeclarationError) as caught:
                engine.push(source.stream, batch)
            assert caught.value.element == first  # type: ignore[attr-defined]
            engine.push(source.stream, kept[len(taken) :])
        taken = kept
    engine.close()
    assert ms.plans.normal_form(results) == ms.plans.normal_form(taken)


@given(st.data(), st.lists(st.integers(1, 4), max_size=6), st.integers(0, 6))
def test_disorder_changes_nothing(data: st.DataObject, sizes: list[int], slack: int) -> None:
    """Behind a slack the same elements are refused one by one and in batches, and late ones hold no key."""
    arrived = data.draw(st.permutations(data.draw(elements(chronons=True))))

    def taken(sizes: list[int]) -> tuple[list[Element], list[tuple[Element, str]]]:
        refused: list[Any] = []
        results: list[Element] = []
        engine = ms.Engine(
            S.unique("x", of_all_time=True).unique("y"),
            results.extend,
            slack={"s": slack},
            dead_letters=refused.extend,
        )
        for batch in batches(arrived, sizes):
            engine.push("s", batch)
        engine.close()
        return results, sorted((letter.element, letter.reason) for letter in refused)

    assert taken(sizes) == taken([1] * len(arrived))
    results, refused = taken(sizes)
    late = {element for element, reason in refused if reason == "late"}
    assert len({row[0] for _, _, row in results}) == len(results)
    if not late:
        sources = S.unique("x", of_all_time=True).unique("y").plan().sources
        assert len(results) == len(obedient(sources, {"s": arrived})["s"])


def test_messages_say_what_was_found_and_expected() -> None:
    engine = ms.Engine(S.unique("x"))
    engine.push("s", [(1, 2, (7, 0))])
    with pytest.raises(
        DeclarationError,
        match=r"^stream s: element \(1, 2, \(7, 1\)\) agrees on x with another one, valid from 1 to 2; "
        r"expected unique \(x\)$",
    ):
        engine.push("s", [(1, 2, (7, 1))])
    engine.push("s", [(2, 3, (7, 1))])
    once = ms.Engine(S.unique("x", "y", of_all_time=True))
    with pytest.raises(DeclarationError, match=r"agrees on x, y .* expected unique \(x, y\) for all time"):
        once.push("s", [(1, 2, (7, 0)), (8, 9, (7, 0))])


def test_what_is_trusted_is_not_checked() -> None:
    results: list[Element] = []
    engine = ms.Engine(S.unique("x", enforced=False), results.extend)
    engine.push("s", [(1, 2, (7, 0)), (1, 2, (7, 1))])
    assert len(results) == 2


def test_what_is_not_declared_is_taken_on_the_compiled_way() -> None:
    (plain,), (keyed,), (trusted,) = (
        query.plan().sources for query in (S, S.unique("x"), S.unique("x", enforced=False))
    )
    assert Entrance(plain).is_plain and Entrance(trusted).is_plain and not Entrance(keyed).is_plain


def test_late_elements_hold_no_key() -> None:
    engine = ms.Engine(S.unique("x", of_all_time=True))
    engine.push("s", [(5, 6, (1, 1))])
    with pytest.raises(StreamOrderError):
        engine.push("s", [(6, 7, (3, 3)), (4, 5, (2, 2))])
    engine.push("s", [(7, 8, (2, 2)), (7, 8, (3, 3))])


def test_a_relation_keeps_its_keys() -> None:
    rates = relation("rates", currency="string", rate="float").unique("currency")
    query = S.window(3).join(rates)
    rows = constant([("EUR", 1.0), ("USD", 1.1), ("EUR", 2.0)])
    with pytest.raises(DeclarationError, match=r"^relation rates: .*'EUR', 2\.0.* always valid; expected"):
        ms.Engine(query, relations={"rates": rows})
    ms.Engine(query, relations={"rates": rows[:2]})
    temporal = relation("rates", temporal=True, currency="string", rate="float").unique("currency")
    ms.Engine(S.join(temporal), relations={"rates": [(0, 5, ("EUR", 1.0)), (5, 9, ("EUR", 1.1))]})
    with pytest.raises(MidstreamError, match="valid from 0 to 5"):
        ms.Engine(S.join(temporal), relations={"rates": [(0, 5, ("EUR", 1.0)), (4, 9, ("EUR", 1.1))]})


def test_two_declarations_of_one_stream_are_refused() -> None:
    engine = ms.Engine(S.unique("x"))
    with pytest.raises(ms.PlanError, match=r"expected it as it is known: s .*unique \(x\)"):
        engine.add(S, name="two")


def test_state_is_bounded_by_what_is_valid() -> None:
    checks = KeyChecks("stream s", S.schema, [Key(("x",)), Key(("y",), is_lasting=True)])
    for t in range(100):
        checks.take((t, t + 10, (t % 50, t)))
        checks.keep(t)
    assert checks.size() == 10 + 100
    checks.keep(FOREVER)
    assert checks.size() == 100
