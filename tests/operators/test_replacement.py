"""A query that means something else takes the place of another at an instant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.migration.transition import Transition
from midstream.operators.engine.graph.replacement import Replacement
from midstream.plans.algebra.specification import specified
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import Element, Time, chronons
from midstream.testing import drive, interleavings, is_ordered, streams_for

S = ms.stream("s", x="integer", y="integer")
T = ms.stream("t", u="integer", v="integer")
x, y = ms.col("x"), ms.col("y")
JOINED = S.window(5).join(T.window(4), on=[("x", "u")])
QUERIES = [
    S.window(5).filter(x > 1),
    S.window(3).filter(x > 1),
    S.window(5).distinct(),
    S.window(4).group_by("x").aggregate(n=ms.count()),
    JOINED,
    JOINED.select("x", "v").distinct(),
    S.window(2).union(T.window(6).rename({"u": "x", "v": "y"})),
]


def cut(form: NormalForm, first: Time, last: Time) -> list[Element]:
    """What is valid within an interval."""
    found = [(s, e, row) for row, steps in form.items() for s, e, n in steps for _ in range(n)]
    return [(max(s, first), min(e, last), row) for s, e, row in found if s < last and e > first]


@given(st.sampled_from(QUERIES), st.sampled_from(QUERIES), st.data())
def test_before_the_instant_the_old_plan_answers_and_from_it_on_the_new_one(
    old: ms.Stream, new: ms.Stream, data: st.DataObject
) -> None:
    streams = data.draw(streams_for(JOINED.plan(), forever=False))
    events = data.draw(interleavings(streams))
    begins = data.draw(st.integers(0, len(events)))
    results: list[Element] = []
    engine = ms.Engine(old, results.extend)
    engine.add(S.window(1).join(T.window(1), on=[("x", "u")]), name="both streams")
    drive(engine, events[:begins])
    replacement = engine.replace(new, query="query")
    at = replacement.at
    drive(engine, events[begins:])
    engine.close()
    assert replacement.is_done
    expected = cut(specified(old.plan(), streams), ms.BEGINNING, at)
    expected += cut(specified(new.plan(), streams), at, ms.FOREVER)
    assert normal_form(results) == normal_form(expected)
    assert is_ordered(results)
    assert list(engine.queries) == ["query", "both streams"]
    assert engine.query().plan == new.plan()


@given(st.lists(st.sampled_from(QUERIES), min_size=2, max_size=4), st.data())
def test_what_took_a_place_can_be_replaced_again_and_removed(
    plans: list[ms.Stream], data: st.DataObject
) -> None:
    engine = ms.Engine(plans[0])
    engine.add(JOINED, name="other")
    for i, new in enumerate(plans[1:], 1):
        replacement = engine.replace(new, query="query")
        for stream in ("s", "t"):
            engine.advance(stream, 100 * i)
        assert replacement.is_done
    for name in data.draw(st.permutations(list(engine.queries))):
        engine.remove(name)
        assert name not in engine.queries
    assert not engine.queries


def test_the_new_query_has_the_name_and_the_place_of_the_old_one() -> None:
    results: list[Element] = []
    engine = ms.Engine(QUERIES[0], results.extend)
    engine.add(QUERIES[2], name="other")
    engine.push("s", chronons([(0, (2, 0))]))
    replacement = engine.replace(QUERIES[3], at=30)
    assert list(engine.queries) == ["query", "other", "query, to come"]
    engine.advance("s", 29)
    assert not replacement.is_done
    engine.advance("s", 30)
    assert replacement.is_done
    assert list(engine.queries) == ["query", "other"]
    assert engine.plan == QUERIES[3].plan()
    engine.migrate(QUERIES[3].distinct())
    engine.remove("query")
    engine.push("s", chronons([(50, (3, 0))]))
    engine.close()
    assert results == [(0, 5, (2, 0))]


def test_what_cannot_be_done_changes_nothing() -> None:
    engine = ms.Engine(QUERIES[0])
    engine.push("s", chronons([(7, (2, 0))]))
    with pytest.raises(ms.PlanError, match="query cannot be replaced at 11, expected 12 or later"):
        engine.replace(QUERIES[1], at=11)
    with pytest.raises(ms.PlanError, match="valid for ever"):
        engine.replace(S.last(2, ties="arrival"))
    with pytest.raises(ms.PlanError, match="has the outputs a, expected out"):
        engine.replace(ms.Plan({"a": QUERIES[1].node}))
    with pytest.raises(ms.errors.ArgumentError, match=r"replace: at: found 1\.5"):
        engine.replace(QUERIES[1], at=1.5)  # type: ignore[arg-type]
    engine.migrate(QUERIES[0].filter(y > 1).union(QUERIES[0].filter(~(y > 1))), unproved="accept")
    assert list(engine.queries) == ["query"]
    engine.keep_log()
    with pytest.raises(ms.PlanError, match="a log is kept of query"):
        engine.replace(QUERIES[1])


def test_a_query_that_took_a_place_is_not_replaced_before_it_did() -> None:
    """What came before that has been answered by the one before, to the end."""
    results: list[Element] = []
    engine = ms.Engine(S.window(6).select("x"), results.extend)
    engine.push("s", chronons([(0, (1, 1))]))
    engine.end("s")
    assert engine.replace(S.select("x")).at == 6
    assert engine.replace(S.filter(x > 0).select("x")).at == 6
    engine.close()
    assert results == [(0, 6, (1,))]


V = ms.stream("v", x="integer", intervals=True)
AT_ONE = (0, 1), (0, 2), (0, 1), (2, 3)
"""The validity of some rows; with their numbers they are what comes in the tests below."""


def being_replaced_and_migrated(engine: ms.Engine, to: ms.Stream) -> tuple[Replacement, Transition]:
    """The query b is to be replaced at 1, and is moved to a plan that gives its results only at the end."""
    first, second, *rest = [(s, e, (i,)) for i, (s, e) in enumerate(AT_ONE)]
    engine.push("v", [first])
    replacement = engine.replace(to, query="b", at=1)
    engine.push("v", [second])
    transition = engine.migrate(V.select("x").select("x"), "parallel-track", query="b")
    engine.push("v", rest)
    return replacement, transition


EXPECTED = [(0, 1, (0,)), (0, 1, (1,)), (0, 1, (2,)), (1, 2, (1,)), (2, 3, (3,))]


def test_the_new_query_takes_its_place_at_once_when_a_migration_of_the_old_one_is_aborted() -> None:
    results: list[Element] = []
    engine = ms.Engine(V.window(5))
    engine.add(V.select("x"), results.extend, name="b")
    replacement, transition = being_replaced_and_migrated(engine, V.select("x"))
    assert not replacement.is_done
    transition.abort()
    assert replacement.is_done
    assert results == EXPECTED


def test_the_new_query_takes_its_place_at_once_when_the_old_one_is_removed() -> None:
    engine = ms.Engine(V.window(5))
    engine.add(V.select("x"), name="b")
    replacement, _ = being_replaced_and_migrated(engine, V.select("x"))
    engine.remove("b")
    assert replacement.is_done
    assert list(engine.queries) == ["query", "b"]


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_query_does_not_take_a_place_before_all_results_of_an_event_are_given(is_compiled: bool) -> None:
    """A sink aborts, while the old query's own results are still on their way."""
    results: list[Element] = []
    transition: list[Transition] = []

    def abort(batch: list[Element]) -> None:
        if transition:
            transition.pop().abort()
            assert not replacement.is_done

    engine = ms.Engine(V.select("x"), abort, compile=is_compiled)
    engine.add(V.select("x"), results.extend, name="b")
    replacement, begun = being_replaced_and_migrated(engine, V.filter(x >= 0).select("x"))
    transition.append(begun)
    engine.push("v", [(3, 4, (4,))])
    assert replacement.is_done
    assert results == [*EXPECTED, (3, 4, (4,))]
