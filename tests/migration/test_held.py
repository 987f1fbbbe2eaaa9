"""Operators that go on hold elements while the plan above them changes, and both plans read around them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.engine import Engine
from midstream.migration.strategies import STRATEGIES
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import Element, chronons
from midstream.testing import is_ordered, verdict

F = stream("f", k="integer").window(5)
Q = stream("q", k="integer").window(3)
U, V = F.union(Q), Q.union(F)
"""They mean the same."""

Move = tuple[int, Stream | Plan, str]
"""After how many events, whereto, and by which strategy."""


def joined(left: Stream, right: Stream) -> Stream:
    """Pairs of a union with itself."""
    return left.join(right.rename({"k": "r"}), on=[("k", "r")])


PAIRS = {
    "a union for another": (U.union(V), U.union(U)),
    "below a join": (joined(U, U), joined(V.select("k"), U)),
    "beside an input": (U.union(F), V.union(F)),
    "beside a split": (U.split(2).union(F), F.union(V.split(2))),
    "beside a coalesce": (F.coalesce(9).union(Q).union(F), F.union(Q).union(F)),
    "above distinct": (U.distinct().union(U), V.distinct().union(U)),
    "windows below a filter": (
        U.filter(F["k"] > 0).union(F.filter(F["k"] > 0)),
        F.filter(F["k"] > 0).union(Q.filter(F["k"] > 0)).union(F.filter(F["k"] > 0)),
    ),
}


def run(old: Stream, events: Sequence[tuple[str, int, int]], moves: Sequence[Move]) -> list[str]:
    """Push rows one by one and move in between; whatever was accepted must be right. Gives what was refused,
    by strategy."""
    engine, results, refused = Engine(old.plan()), list[Element](), []
    engine.subscribe(results.extend)
    streams: dict[str, list[Element]] = {"f": [], "q": []}
    for number in range(len(events) + 1):
        for at, plan, strategy in moves:
            if at == number:
                try:
                    assert engine.migrate(plan, strategy).failure is None  # type: ignore[arg-type]
                except MigrationRefused:
                    refused.append(strategy)
        for name, start, k in events[number : number + 1]:
            (element,) = chronons([(start, (k,))])
            streams[name].append(element)
            engine.push(name, [element])
    engine.close()
    outcome = verdict(specified(old.plan(), streams), results)
    assert outcome, str(outcome)
    assert is_ordered(results)
    assert engine.size() == 0
    return refused


AHEAD = [("q", 3, 0), ("f", 5, 1), ("f", 6, 1)]
"""An element of one input waits in the union for the other one."""


@pytest.mark.parametrize("is_back", [False, True], ids=["there", "back"])
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_input_is_ahead_of_the_other(strategy: str, name: str, is_back: bool) -> None:
    old, new = PAIRS[name][::-1] if is_back else PAIRS[name]
    refused = run(old, AHEAD, [(2, new.plan(), strategy)])
    assert not refused or strategy not in ("genmig", "genmig-end-timestamp", "auto")


def test_what_holds_nothing_is_swapped() -> None:
    """Refusing all unions that both plans have would be safe, too."""
    for old, new in PAIRS.values():
        if "distinct" not in str(old.plan()) and "coalesce" not in str(old.plan()):
            assert run(old, [("q", 3, 0), ("f", 3, 1), ("q", 4, 1)], [(0, new.plan(), "swap")]) == []


def test_plans_that_differ_above_all_that_is_held_are_swapped() -> None:
    """Whatever the union has yet to give, both plans get it from there alone, or mean the same of it."""
    positive, small = F["k"] > 0, F["k"] < 3
    for old, new in (
        (U.filter(positive).filter(small), U.filter(small).filter(positive)),
        (U.union(F).filter(small), U.filter(small).union(F.filter(small))),
    ):
        assert run(old, AHEAD, [(2, new.plan(), "swap")]) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chained(strategy: str) -> None:
    """What a migration under way holds counts as what an operator does."""
    old, new = PAIRS["below a join"]
    refused = run(
        old,
        [*AHEAD, ("q", 6, 1)],
        [(1, new.plan(), "genmig"), (2, old.plan(), strategy), (3, new.plan(), "auto")],
    )
    assert "auto" not in refused


MEMBERS = (U, V, U.filter(F["k"] >= 0), V.select("k"), F.union(Q.select("k")))
"""The union in several forms."""


@given(
    pair=st.tuples(*[st.sampled_from(MEMBERS)] * 4),
    events=st.lists(
        st.tuples(st.sampled_from("fq"), st.sampled_from((0, 1, 2, 7)), st.integers(0, 2)), max_size=9
    ),
    moves=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(tuple(STRATEGIES))), min_size=1, max_size=3),
    is_joined=st.booleans(),
)
def test_in_skewed_streams(
    pair: tuple[Stream, ...],
    events: list[tuple[str, int, int]],
    moves: list[tuple[int, str]],
    is_joined: bool,
) -> None:
    """Streams run ahead of each other by whole windows."""
    now = {"f": 0, "q": 0}
    told = []
    for name, gap, k in events:
        now[name] += gap
        told.append((name, now[name], k))
    combine = joined if is_joined else Stream.union
    old, new = combine(*pair[:2]), combine(*pair[2:])
    plans = [(at, (new, old)[i % 2].plan(), strategy) for i, (at, strategy) in enumerate(sorted(moves))]
    assert "auto" not in run(old, told, plans)


S = stream("s", k="integer", intervals=True)
T = stream("s", k="integer")
BELOW = {
    "istream": (S.istream(), S.split(2).istream()),
    "dstream": (S.dstream(), S.split(2).dstream()),
    "a count window": (T.last(1), T.split(1).last(1)),
    "groups of rows": (T.last(1, by=["k"]), T.split(1).last(1, by=["k"])),
    "a time window": (T.window(3), T.split(1).window(3)),
    "a window over intervals": (S.window(3), S.split(1).window(3)),
    "a granularity": (S.granularity(5), S.split(2).granularity(5)),
    "coalesce": (S.istream(), S.coalesce(4).istream()),
}
"""What is not snapshot-reducible, without and with an arrangement below it."""


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("is_back", [False, True], ids=["there", "back"])
@pytest.mark.parametrize("name", BELOW)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_arrangement_below_what_is_not_snapshot_reducible(
    strategy: str, name: str, is_back: bool, whole: bool
) -> None:
    """It means nothing there, so the running window goes on."""
    old, new = BELOW[name][::-1] if is_back else BELOW[name]
    is_chronon = not any(source.intervals for source in old.plan().sources)
    history: list[Element] = [(0, 4, (0,)), (1, 6, (1,)), (3, 6, (1,)), (4, 6, (2,)), (9, 12, (0,))]
    if is_chronon:
        history = [(start, start + 1, payload) for start, _, payload in history]
    for above in (Stream.distinct, lambda one: one):
        engine, results = Engine(above(old).plan()), list[Element]()
        engine.subscribe(results.extend)
        for number, element in enumerate(history):
            if number == 3:
                try:
                    engine.migrate(above(new).plan(), strategy, replace_all=whole)
                except MigrationRefused:  # not every strategy exchanges what is the same for itself
                    assert whole and strategy not in ("genmig", "genmig-end-timestamp", "auto")
            engine.push("s", [element])
        engine.close()
        outcome = verdict(specified(above(old).plan(), {"s": history}), results)
        assert outcome, str(outcome)
        assert is_ordered(results)
        assert all(
            isinstance(time, int) or time == float("inf")
            for start, end, _ in results
            for time in (start, end)
        )
