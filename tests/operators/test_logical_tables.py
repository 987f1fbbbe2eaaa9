"""The tables of the thesis' chapter 8, against the logical algebra and against the running engine.

The streams of Table 8.1 are taken instant by instant; a table maps an instant to the letters valid at it.

Elsewhere: Table 8.7 (difference), and Tables 8.11 to 8.13 (count-based and partitioned window). Table 8.8
(grouping) stands for itself through (8.15): each of its substreams is a filter, and the sizes of all of them
are one aggregation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from midstream.driving import run
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.expressions.aggregates import count, sum_
from midstream.plans.expressions.operands import col, opaque
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import Element, Payload, chronons

Table = Mapping[int, str]

S1: Table = {1: "c", 2: "aaa", 3: "aaab", 4: "aaabc", 5: "bb", 6: "bb"}  # Table 8.1 (a)
S2: Table = {2: "bb", 3: "bb", 4: "abc", 5: "aab", 6: "acc"}  # Table 8.1 (b)

ONE = stream("s1", x="string")
OTHER = stream("s2", x="string")


def rows(table: Table) -> list[Element]:
    """A table as a chronon stream."""
    return list(chronons((instant, (letter,)) for instant, letters in table.items() for letter in letters))


STREAMS = {"s1": rows(S1), "s2": rows(S2)}


def form(table: Mapping[int, Iterable[Payload]]) -> NormalForm:
    """What a table means: its multisets, each valid for one instant."""
    return normal_form((t, t + 1, payload) for t, payloads in table.items() for payload in payloads)


def results(plan: Plan, batch_size: int = 1000) -> NormalForm:
    """What the engine makes of a plan."""
    streams = {source.stream: STREAMS[source.stream] for source in plan.sources}
    return normal_form(run(plan, streams, batch_size))


def letters(table: Table) -> NormalForm:
    """A table of single letters."""
    return form({instant: [(letter,) for letter in row] for instant, row in table.items()})


def replaced(letter: str) -> str:
    """The mapping function of Example 8.3."""
    return "x" if letter == "b" else letter


def group(letter: str) -> int:
    """The grouping function of Example 8.8."""
    return {"a": 1, "b": 2}.get(letter, 3)


def number(letter: str) -> int:
    """A number for a letter, so that a sum of up to nine of each can be read like a term."""
    return {"a": 1, "b": 10, "c": 100}[letter]


def computed(function: Callable[[str], object], type_: str) -> Stream:
    return ONE.select(y=opaque(function, reads=["x"], type=type_))


def in_group(j: int) -> Stream:
    return ONE.filter(opaque(lambda letter: group(letter) == j, reads=["x"], type="boolean"))


PAIRS = {
    2: ["ab"] * 3 * 2,
    3: ["ab"] * 3 * 2 + ["bb"] * 2,
    4: ["aa", "ab", "ac"] * 3 + ["ba", "bb", "bc"] + ["ca", "cb", "cc"],
    5: ["ba", "ba", "bb"] * 2,
    6: ["ba", "bc", "bc"] * 2,
}
"""Table 8.5. At instants 2 and 3 the printed table lists fewer tuples than (8.4) and the text demand: a is
valid three times and b twice, so a ∘ b is valid six times. The definition wins."""

TABLES: dict[str, tuple[Plan, NormalForm]] = {
    "8.1": (ONE.plan(), letters(S1)),
    "8.2 filter": (
        ONE.filter(col("x").eq("a") | col("x").eq("c")).plan(),
        letters({1: "c", 2: "aaa", 3: "aaa", 4: "aaac"}),
    ),
    "8.3 map": (
        computed(replaced, "string").plan(),
        letters({1: "c", 2: "aaa", 3: "aaax", 4: "aaaxc", 5: "xx", 6: "xx"}),
    ),
    "8.4 union": (
        ONE.union(OTHER).plan(),
        letters({1: "c", 2: "aaabb", 3: "aaabbb", 4: "aaaabbcc", 5: "aabbb", 6: "abbcc"}),
    ),
    "8.5 product": (
        ONE.join(OTHER.rename({"x": "y"})).plan(),
        form({instant: map(tuple, pairs) for instant, pairs in PAIRS.items()}),
    ),
    "8.6 duplicate elimination": (
        ONE.distinct().plan(),
        letters({1: "c", 2: "a", 3: "ab", 4: "abc", 5: "b", 6: "b"}),
    ),
    "8.8 grouping, group 1": (in_group(1).plan(), letters({2: "aaa", 3: "aaa", 4: "aaa"})),
    "8.8 grouping, group 2": (in_group(2).plan(), letters({3: "b", 4: "b", 5: "bb", 6: "bb"})),
    "8.8 grouping, group 3": (in_group(3).plan(), letters({1: "c", 4: "c"})),
    "8.8 grouping, sizes": (
        computed(group, "integer").group_by("y").aggregate(n=count()).plan(),
        form(
            {
                1: [(3, 1)],
                2: [(1, 3)],
                3: [(1, 3), (2, 1)],
                4: [(1, 3), (2, 1), (3, 1)],
                5: [(2, 2)],
                6: [(2, 2)],
            }
        ),
    ),
    "8.9 scalar aggregation": (
        computed(number, "integer").aggregate(sum=sum_("y")).plan(),
        form({1: [(100,)], 2: [(3,)], 3: [(13,)], 4: [(113,)], 5: [(20,)], 6: [(20,)]}),
    ),
    "8.10 time window": (
        ONE.window(2).plan(),
        letters(
            {1: "c", 2: "aaac", 3: "aaaaaab", 4: "aaaaaabbc", 5: "aaabbbc", 6: "bbbb", 7: "bb"},
        ),
    ),
}
"""Per table, a plan and what it must mean."""

tables = pytest.mark.parametrize(("plan", "expected"), TABLES.values(), ids=TABLES)


@tables
def test_the_specification_gives_the_table(plan: Plan, expected: NormalForm) -> None:
    assert specified(plan, STREAMS) == expected


@tables
@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_the_engine_gives_the_table(plan: Plan, expected: NormalForm, batch_size: int) -> None:
    assert results(plan, batch_size) == expected


@tables
def test_nothing_is_valid_before_the_first_row_and_after_the_last(plan: Plan, expected: NormalForm) -> None:
    """The tables end where the streams do; only the window reaches one instant further."""
    found = snapshots(plan, STREAMS)
    last = 8 if "window" in str(plan) else 7
    assert not found[last]
    assert min(found) == 1


def test_a_join_is_a_filtered_product() -> None:
    """(8.10), with a function that keeps the first half, as in Example 11.4."""
    joined = ONE.join(OTHER.rename({"x": "y"}), on=[("x", "y")], columns=["x"]).plan()
    expected = letters({3: "bb", 4: "aaabc", 5: "bb"})
    assert specified(joined, STREAMS) == expected
    assert results(joined) == expected


def test_a_now_window_changes_nothing() -> None:
    """w = 1 captures the current instant only."""
    assert specified(ONE.window(1).plan(), STREAMS) == letters(S1)
    assert results(ONE.window(1).plan()) == letters(S1)


def test_an_unbounded_window_forgets_nothing() -> None:
    expected = normal_form((start, float("inf"), payload) for start, _, payload in STREAMS["s1"])
    assert specified(ONE.window(None).plan(), STREAMS) == expected
    assert results(ONE.window(None).plan()) == expected
