"""Between Boxes, what can be seen to go wrong is refused: state that is lost, wrong ends, other ports."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import midstream as ms
from midstream.migration.migrate import migrate_box
from midstream.migration.strategies import find_strategy
from midstream.operators.base.box import settled
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.plans.algebra.builder import Stream
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time
from midstream.testing import elements, rows

A, B = (ms.stream(name, intervals=True, x="integer", y="integer") for name in "ab")
LARGE = ms.col("x") > 1
QUERIES: dict[str, tuple[Stream, Stream]] = {
    "filter": (A.union(B).filter(LARGE), A.filter(LARGE).union(B.filter(LARGE))),
    "join": (A.join(B.rename({"x": "u", "y": "v"}), on=[("x", "u")]).filter(LARGE),) * 2,
    "distinct": (A.union(B).distinct(), A.distinct().union(B).distinct()),
    "count": (A.union(B).group_by("x").aggregate(n=ms.count()),) * 2,
    "difference": (A.difference(B), A.difference(B)),
}


def drive(
    query: str, how: str, streams: list[list[Element]], at: int, forgets: tuple[bool, bool], stateless: bool
) -> tuple[Batch, Batch]:
    """The results of the old plan alone, and of one that is migrated behind so many elements."""
    old_plan, new_plan = (one.plan() for one in QUERIES[query])
    arrivals = sorted(
        ((start, port, (start, end, row)) for port, s in enumerate(streams) for start, end, row in s),
        key=lambda one: one[:2],
    )
    alone, box = PlanBox(old_plan), PlanBox(old_plan)
    ends: list[Time] = [BEGINNING] * 2
    reached: list[Time] = [BEGINNING] * 2
    expected: Batch = []
    found: Batch = []
    running: ms.boxes.Box = box
    for number, (start, port, element) in enumerate(arrivals):
        if number == at:
            told = [BEGINNING if forgets[p] else ends[p] for p in range(2)]
            running, (ready,) = migrate_box(
                box, PlanBox(new_plan), find_strategy(how), told, reached, stateless=stateless
            )
            found += ready
        expected += alone.push(port, [element])[0]
        found += running.push(port, [element])[0]
        ends[port] = max(ends[port], element[1])
        reached[port] = start
        running = settled(running)
    for port in range(2):
        expected += alone.end(port)[0]
        found += running.end(port)[0]
    return expected, found


STREAMS = st.tuples(*[elements(rows(2), forever=False)] * 2).map(list)


@given(
    st.sampled_from(sorted(QUERIES)),
    st.sampled_from(["swap", "genmig", "genmig-end-timestamp"]),
    STREAMS,
    st.integers(0, 8),
    st.tuples(st.booleans(), st.booleans()),
)
def test_no_result_is_lost_or_the_migration_is_refused(
    query: str, how: str, streams: list[list[Element]], at: int, forgets: tuple[bool, bool]
) -> None:
    try:
        expected, found = drive(query, how, streams, at, forgets, stateless=False)
    except MigrationRefused as refusal:
        event(f"{how} of {query}: refused")
        told = "use genmig, or say stateless=True" if "swap would" in str(refusal) else "max_ends"
        assert told in str(refusal) and ("swap would" not in str(refusal) or how == "swap")
    else:
        event(f"{how} of {query}: carried out")
        assert equivalent(expected, found)


@given(STREAMS, st.integers(0, 8))
def test_results_that_only_wait_are_kept_by_a_swap_that_is_told_so(
    streams: list[list[Element]], at: int
) -> None:
    expected, found = drive("filter", "swap", streams, at, (False, False), stateless=True)
    assert equivalent(expected, found)


def test_the_ports_of_both_boxes_have_the_same_names_in_the_same_order() -> None:
    other = ms.stream("c", intervals=True, x="integer", y="integer")
    with pytest.raises(MigrationRefused, match=r"inputs of the new box are a, c, expected those .*: a, b"):
        new = PlanBox(A.union(other).plan())
        migrate_box(PlanBox(A.union(B).plan()), new, find_strategy("genmig"), [5, 5], [0, 0])
    old, new = PlanBox(A.union(B).plan()), PlanBox(A.union(B).plan(), [B.node, A.node])
    with pytest.raises(MigrationRefused, match=r"inputs of the new box are b, a, expected those .*: a, b"):
        migrate_box(old, new, find_strategy("genmig"), [5, 5], [0, 0])


def test_a_forgotten_end_is_told() -> None:
    box = PlanBox(A.union(B).distinct().plan())
    box.push(0, [(0, 905, (1, 2))])
    new = PlanBox(A.union(B).distinct().plan())
    for ends in ([BEGINNING, 12], [900, 7]):
        with pytest.raises(MigrationRefused, match=r"valid until 905, and max_ends say .* ends after"):
            migrate_box(box, new, find_strategy("genmig"), ends, [0, 0])
    migration, _ = migrate_box(box, new, find_strategy("genmig"), [905, BEGINNING], [0, 0])
    assert migration.split > 905


def test_an_element_without_an_end_is_refused_for_its_own_reason() -> None:
    box = PlanBox(A.union(B).distinct().plan())
    box.push(0, [(0, FOREVER, (1, 2))])
    with pytest.raises(MigrationRefused, match="for ever"):
        migrate_box(box, PlanBox(A.union(B).distinct().plan()), find_strategy("genmig"), [FOREVER, 3], [0, 0])
