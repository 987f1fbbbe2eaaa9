"""The tables of the thesis about windows, split, coalesce, CQL's operators and granularity, against the
logical algebra and against the running engine.

Tables 8.10 and 11.11 (time window) are in the modules of their chapters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pytest

from midstream.driving import run
from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import physical_plan, running_operator
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import opaque
from midstream.plans.values.snapshots import NormalForm, normal_form, snapshot
from midstream.plans.values.streams import FOREVER, Element, Time, chronons

Rows = Sequence[tuple[str, Time, Time]]
"""Tuple, start, end: a row of a physical table."""

INTERVALS_1: Rows = [("c", 1, 8), ("a", 5, 11), ("d", 6, 14), ("a", 9, 10), ("b", 12, 17)]  # Table 11.1 (a)
INTERVALS_2: Rows = [("b", 1, 7), ("d", 3, 9), ("a", 4, 5), ("b", 7, 15), ("e", 10, 18)]  # Table 11.1 (b)
CHRONONS: Rows = [("b", 1, 2), ("a", 3, 4), ("c", 4, 5), ("a", 7, 8), ("b", 10, 11)]  # Table 11.11 (a)

MULTISETS: Mapping[int, str] = {1: "c", 2: "aaa", 3: "aaab", 4: "aaabc", 5: "bb", 6: "bb"}  # Table 8.1 (a)
SINGLES: Mapping[int, str] = {1: "c", 2: "a", 3: "b", 4: "b", 5: "a", 6: "c"}
"""Table 8.11, with erratum 9."""


def elements(rows: Rows) -> list[Element]:
    return [(start, end, (letter,)) for letter, start, end in rows]


def timestamped(table: Mapping[int, str]) -> list[Element]:
    """A logical table as a chronon stream."""
    return list(chronons((instant, (letter,)) for instant, letters in table.items() for letter in letters))


STREAMS = {
    "i1": elements(INTERVALS_1),
    "i2": elements(INTERVALS_2),
    "c3": elements(CHRONONS),
    "s1": timestamped(MULTISETS),
    "s3": timestamped(SINGLES),
}

I1 = stream("i1", x="string", intervals=True)
I2 = stream("i2", x="string", intervals=True)
C3 = stream("c3", x="string")
S1 = stream("s1", x="string")
S3 = stream("s3", x="string")


def needed(plan: Plan) -> dict[str, list[Element]]:
    """The streams that a plan reads."""
    return {source.stream: STREAMS[source.stream] for source in plan.sources}


def lasting(table: Mapping[int, str], until: Time) -> NormalForm:
    """What a logical table means whose last row holds until a time."""
    ends = {instant: instant + 1 for instant in table} | {max(table): until}
    return normal_form((t, ends[t], (letter,)) for t, letters in table.items() for letter in letters)


GROUP = opaque(lambda letter: 1 if letter in "ac" else 2, reads=["x"], type="integer")
"""The grouping function of Example 8.12."""

LOGICAL: dict[str, tuple[Stream, NormalForm]] = {
    "8.12 count-based window": (
        S3.last(3),
        lasting({1: "c", 2: "ac", 3: "abc", 4: "abb", 5: "abb", 6: "abc"}, FOREVER),
    ),
    "8.13 partitioned window": (
        S3.select("x", g=GROUP).last(1, by=["g"]).select("x"),
        lasting({1: "c", 2: "a", 3: "ab", 4: "ab", 5: "ab", 6: "cb"}, FOREVER),
    ),
}
"""Per table, a stream and what it must mean."""


@pytest.mark.parametrize(("query", "expected"), LOGICAL.values(), ids=LOGICAL)
@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_a_logical_table_is_specified_and_given(query: Stream, expected: NormalForm, batch_size: int) -> None:
    assert specified(query.plan(), STREAMS) == expected
    assert normal_form(run(query.plan(), needed(query.plan()), batch_size)) == expected


PHYSICAL: dict[str, tuple[Stream, Rows]] = {
    "11.12 count-based window": (
        C3.last(1),
        [("b", 1, 3), ("a", 3, 4), ("c", 4, 7), ("a", 7, 10), ("b", 10, FOREVER)],
    ),
    "11.13 partitioned window": (
        C3.last(1, by=["x"]),
        [("b", 1, 10), ("a", 3, 7), ("c", 4, FOREVER), ("a", 7, FOREVER), ("b", 10, FOREVER)],
    ),
    "11.15 coalesce": (I2.coalesce(20), [("b", 1, 15), ("d", 3, 9), ("a", 4, 5), ("e", 10, 18)]),
    "17.1 time-based window that slides": (
        C3.window(50, slide=10),
        [("b", 9, 59), ("a", 9, 59), ("c", 9, 59), ("a", 9, 59), ("b", 19, 69)],
    ),
    "17.2 count-based window that slides": (
        C3.last(2, slide=2),
        [("b", 3, 7), ("a", 3, 7), ("c", 7, FOREVER), ("a", 7, FOREVER)],
    ),
    "17.3 Istream": (I2.istream(), [("b", 1, 2), ("d", 3, 4), ("a", 4, 5), ("e", 10, 11)]),
    "20.2 granularity conversion": (
        I1.granularity(2),
        [("c", 2, 8), ("a", 6, 12), ("d", 6, 14), ("b", 12, 18)],
    ),
}
"""Per table, a stream and the only elements that it may give."""

physical = pytest.mark.parametrize(("query", "rows"), PHYSICAL.values(), ids=PHYSICAL)


def results(operator: Operator, batch: list[Element]) -> list[Element]:
    """Feed an operator element by element."""
    out = [result for element in batch for result in operator.push(0, [element])]
    return out + operator.end(0)


@physical
@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_the_engine_gives_a_physical_table(query: Stream, rows: Rows, batch_size: int) -> None:
    assert run(query.plan(), needed(query.plan()), batch_size) == elements(rows)


@physical
def test_the_operator_gives_a_physical_table(query: Stream, rows: Rows) -> None:
    """Alone, without the engine around it."""
    (source,) = query.plan().sources
    root = physical_plan(query.plan()).root
    assert results(running_operator(root), STREAMS[source.stream]) == elements(rows)


@physical
def test_a_physical_table_means_what_is_specified(query: Stream, rows: Rows) -> None:
    assert specified(query.plan(), STREAMS) == normal_form(elements(rows))


DELETED: Rows = [("a", 4, 5), ("d", 8, 9), ("b", 14, 15), ("e", 17, 18)]
"""Table 17.4."""


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_dstream_gives_table_17_4_one_chronon_later(batch_size: int) -> None:
    """Algorithm 23 and the table have the last chronon in which a row is there, [t_E - 1, t_E); by (17.4)
    with erratum 6, the row is in the snapshot before and not in that of the instant: t_E is the first one."""
    later = [(letter, start + 1, end + 1) for letter, start, end in DELETED]
    plan = I2.dstream().plan()
    assert run(plan, needed(plan), batch_size) == elements(later)
    assert specified(plan, STREAMS) == normal_form(elements(later))


def cut(rows: Rows) -> Iterable[tuple[str, Time, Time]]:
    """All chronons of the rows of a table, in order of time."""
    instants = range(min(start for _, start, _ in rows), int(max(end for _, _, end in rows)))
    return [(e, t, t + 1) for t in instants for e, start, end in rows if start <= t < end]


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_split_gives_table_11_14(batch_size: int) -> None:
    """The table is an excerpt: its first rows and its last one are compared as they are printed, up to the
    order of those that start together."""
    found = run(I1.split(1).plan(), needed(I1.plan()), batch_size)
    printed: Rows = [("c", t, t + 1) for t in (1, 2, 3, 4)]
    assert found[:4] == elements(printed)
    assert sorted(found[4:6]) == sorted(elements([("c", 5, 6), ("a", 5, 6)]))
    assert sorted(found[6:9]) == sorted(elements([("c", 6, 7), ("a", 6, 7), ("d", 6, 7)]))
    assert found[-1:] == elements([("b", 16, 17)])
    assert sorted(found) == sorted(elements(list(cut(INTERVALS_1))))


def test_granularity_gives_table_20_1() -> None:
    """(20.1) keeps the instants 2, 4 and 6 and leaves nothing in between, where the physical operator, and so
    the specification, holds what it has until the next."""
    kept = {2: "aaa", 4: "aaabc", 6: "bb"}
    plan = S1.granularity(2).plan()
    held = normal_form((t, t + 2, (letter,)) for t, letters in kept.items() for letter in letters)
    assert specified(plan, STREAMS) == held
    found = run(plan, needed(plan))
    assert normal_form(found) == held
    assert {t: "".join(sorted(x for (x,) in snapshot(found, t).elements())) for t in kept} == kept


@pytest.mark.parametrize("size", [None, 1, 3])
def test_what_never_ends_appears_once(size: int | None) -> None:
    """And does not disappear."""
    for never in (I1, C3.window(None) if size is None else C3.last(size)):
        name = never.plan().sources[0].stream
        rows = [(2, FOREVER if name == "i1" else 3, ("x",))]
        assert run(never.istream().plan(), {name: rows}) == [(2, 3, ("x",))]
        assert run(never.dstream().plan(), {name: rows}) == []
