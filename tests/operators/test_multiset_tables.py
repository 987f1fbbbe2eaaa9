"""The thesis' tables on difference, and what the definitions (8.11) to (8.14) and (8.16) say of the same
streams; then when results of these operators leave, and where they are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from midstream.driving import run
from midstream.operators.base.compaction import SPARE
from midstream.operators.base.operator import Operator
from midstream.operators.base.port_order import PortOrder
from midstream.operators.engine.running.planner import running_operator
from midstream.operators.joins.covers import KeyCovers
from midstream.operators.joins.matching import AntiJoin, SemiJoin
from midstream.operators.rows.multisets import Multisets, alone, surplus
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, chronons

Table = Mapping[int, str]

S1: Table = {1: "c", 2: "aaa", 3: "aaab", 4: "aaabc", 5: "bb", 6: "bb"}  # Table 8.1 (a)
S2: Table = {2: "bb", 3: "bb", 4: "abc", 5: "aab", 6: "acc"}  # Table 8.1 (b)


def rows(table: Table) -> list[Element]:
    """A table as a chronon stream."""
    return list(chronons((instant, (letter,)) for instant, letters in table.items() for letter in letters))


STREAMS = {"s1": rows(S1), "s2": rows(S2)}
ONE, OTHER = stream("s1", x="string"), stream("s2", x="string")
MATCH = OTHER.rename({"x": "y"})
EQUAL = [("x", "y")]

NO_B: Table = {1: "c", 2: "aaa", 3: "aaa", 6: "bb"}
"""What has no equal in the other stream; at 5, b has one."""

DERIVED: dict[str, tuple[Stream, Table]] = {
    "8.7 difference": (ONE.difference(OTHER), {1: "c", 2: "aaa", 3: "aaa", 4: "aa", 5: "b", 6: "bb"}),
    "(8.12) intersection": (ONE.intersection(OTHER), {3: "b", 4: "abc", 5: "b"}),
    "(8.13) max-union": (
        ONE.max_union(OTHER),
        {1: "c", 2: "aaabb", 3: "aaabb", 4: "aaabc", 5: "aabb", 6: "abbcc"},
    ),
    "(8.14) strict difference": (ONE.strict_difference(OTHER), NO_B),
    "(8.11) semi-join": (ONE.semi_join(MATCH, on=EQUAL), {3: "b", 4: "aaabc", 5: "bb"}),
    "(8.16) anti-join": (ONE.anti_join(MATCH, on=EQUAL), NO_B),
    "(8.11) semi-join on an order": (
        ONE.semi_join(MATCH, on=col("x") < col("y")),
        {2: "aaa", 3: "aaa", 4: "aaab", 6: "bb"},
    ),
    "(8.16) anti-join on an order": (
        ONE.anti_join(MATCH, on=col("x") < col("y")),
        {1: "c", 3: "b", 4: "c", 5: "bb"},
    ),
}
"""Per table or definition, a stream and the letters that are valid at each instant."""

DEFINITIONS: dict[str, tuple[Stream, Stream]] = {
    "(8.12)": (ONE.intersection(OTHER), ONE.difference(ONE.difference(OTHER))),
    "(8.13)": (
        ONE.max_union(OTHER),
        ONE.difference(OTHER).union(OTHER.difference(ONE), ONE.intersection(OTHER)),
    ),
    "(8.14)": (ONE.strict_difference(OTHER), ONE.difference(ONE.semi_join(MATCH, on=EQUAL))),
    "(8.11)": (
        ONE.semi_join(MATCH, on=EQUAL),
        ONE.join(MATCH.distinct(), on=EQUAL, columns=["x"]),
    ),
    "(8.16)": (
        ONE.anti_join(MATCH, on=col("x") < col("y")),
        ONE.difference(ONE.semi_join(MATCH, on=col("x") < col("y"))),
    ),
}
"""Per definition, both of its sides."""


def letters(table: Table) -> NormalForm:
    """What a table means."""
    return normal_form(rows(table))


def results(plan: Plan, batch_size: int = 1000) -> list[Element]:
    """What the engine makes of a plan."""
    return run(plan, {source.stream: STREAMS[source.stream] for source in plan.sources}, batch_size)


derived = pytest.mark.parametrize(("query", "expected"), DERIVED.values(), ids=DERIVED)


@derived
def test_the_specification_gives_the_table(query: Stream, expected: Table) -> None:
    assert specified(query.plan(), STREAMS) == letters(expected)


@derived
@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_every_implementation_gives_the_table(query: Stream, expected: Table, batch_size: int) -> None:
    tried = 0
    for implementation in IMPLEMENTATIONS[type(query.node.operator)]:
        node = Node(Physical(implementation.name, query.node.operator), query.node.inputs)
        if implementation.obstacle(node) is None and implementation.takes == "intervals":
            assert normal_form(results(Plan(node), batch_size)) == letters(expected)
            tried += 1
    assert tried >= 1


@pytest.mark.parametrize(("short", "long"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_the_definition_is_composed_of_others(short: Stream, long: Stream) -> None:
    expected = specified(long.plan(), STREAMS)
    assert normal_form(results(short.plan())) == expected == normal_form(results(long.plan()))


def test_several_matches_do_not_multiply_a_row() -> None:
    """Erratum 5: as it is written, (8.11) gives a row once for each distinct row that it matches."""
    theta = col("x") < col("y")
    literal = ONE.join(MATCH.distinct(), on=theta, columns=["x"])
    expected = letters({2: "aaa", 3: "aaa", 4: "aaaaaab", 6: "bb"})  # at 4, a is less than b and than c
    assert normal_form(results(literal.plan())) == expected
    assert expected != normal_form(results(ONE.semi_join(MATCH, on=theta).plan()))


@derived
def test_of_chronons_come_chronons(query: Stream, expected: Table) -> None:
    """Equal rows at neighbouring instants are not merged: what reads a chronon stream relies on it."""
    assert all(end == start + 1 for start, end, _ in results(query.plan()))


# Intervals.

Rows = Sequence[tuple[str, Time, Time]]

INTERVALS_1: Rows = [("c", 1, 8), ("a", 5, 11), ("d", 6, 14), ("a", 9, 10), ("b", 12, 17)]  # Table 11.1 (a)
INTERVALS_2: Rows = [("b", 1, 7), ("d", 3, 9), ("a", 4, 5), ("b", 7, 15), ("e", 10, 18)]  # Table 11.1 (b)
TABLE_11_8: Rows = [("c", 1, 8), ("a", 5, 11), ("d", 9, 14), ("a", 9, 10), ("b", 15, 17)]

INNER: Rows = [("d", 6, 9), ("b", 12, 15)]
"""The rows while an equal one is valid in the other stream, as in Table 11.6."""

BOTH: Rows = [
    *[("c", 1, 8), ("a", 5, 11), ("d", 3, 14), ("a", 9, 10), ("b", 7, 17)],
    *[("b", 1, 7), ("a", 4, 5), ("e", 10, 18)],
]


def elements(given: Rows) -> list[Element]:
    return [(start, end, (letter,)) for letter, start, end in given]


LEFT, RIGHT = stream("l", x="string", intervals=True), stream("r", x="string", intervals=True)
PHYSICAL: dict[str, tuple[Stream, Rows]] = {
    "11.8 difference": (LEFT.difference(RIGHT), TABLE_11_8),
    "strict difference": (LEFT.strict_difference(RIGHT), TABLE_11_8),
    "anti-join": (LEFT.anti_join(RIGHT.rename({"x": "y"}), on=EQUAL), TABLE_11_8),
    "intersection": (LEFT.intersection(RIGHT), INNER),
    "semi-join": (LEFT.semi_join(RIGHT.rename({"x": "y"}), on=EQUAL), INNER),
    "max-union": (LEFT.max_union(RIGHT), BOTH),
}

physical = pytest.mark.parametrize(("query", "expected"), PHYSICAL.values(), ids=PHYSICAL)


@physical
@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_intervals_give_the_table(query: Stream, expected: Rows, batch_size: int) -> None:
    streams = {"l": elements(INTERVALS_1), "r": elements(INTERVALS_2)}
    assert specified(query.plan(), streams) == normal_form(elements(expected))
    found = run(query.plan(), streams, batch_size)
    assert normal_form(found) == normal_form(elements(expected))
    assert [start for start, _, _ in found] == sorted(start for start, _, _ in found)


def test_the_anti_join_gives_the_very_elements_of_table_11_8() -> None:
    query, expected = PHYSICAL["anti-join"]
    found = run(query.plan(), {"l": elements(INTERVALS_1), "r": elements(INTERVALS_2)}, 1)
    assert Counter(found) == Counter(elements(expected))


def test_of_equal_rows_the_oldest_leaves_first() -> None:
    """Table 11.8 has a in [5, 11) and in [9, 10). The same snapshots come of what closes sooner."""
    found = run(PHYSICAL["11.8 difference"][0].plan(), {"l": elements(INTERVALS_1), "r": []}, 1)
    assert [e[:2] for e in found if e[2] == ("a",)] == [(5, 10), (9, 11)]


# When results leave, and where they are cut.


def operator(query: Stream) -> Operator:
    """The preferred implementation of a plan of one operator, alone."""
    chosen = IMPLEMENTATIONS[type(query.node.operator)][0]
    return running_operator(Node(Physical(chosen.name, query.node.operator), query.node.inputs))


def in_step(query: Stream, left: Batch, right: Batch) -> tuple[Operator, list[Element]]:
    """Both inputs element by element in order of time; not ended."""
    running = operator(query)
    out: list[Element] = []
    both = [*((e[0], 0, e) for e in left), *((e[0], 1, e) for e in right)]
    for start, port, element in sorted(both):
        out += running.advance(0, start) + running.advance(1, start) + running.push(port, [element])
    return running, out


A = ("a",)


@pytest.mark.parametrize("name", PHYSICAL)
def test_rows_that_replace_each_other_hold_back_nothing_for_ever(name: str) -> None:
    """On both sides a row ends where an equal one starts, and some row is always valid. A result must not be
    longer than what it comes from, else none behind it would ever leave."""
    left = [(t, t + 10, A) for t in range(0, 200, 5)]
    right = [(t, t + 8, A) for t in range(3, 200, 4)]
    if name in ("strict difference", "anti-join"):
        right = right[:1]
    running, out = in_step(PHYSICAL[name][0], left, right)
    assert max(end - start for start, end, _ in out) <= 10
    assert running.progress() >= 180
    assert running.size() < 20


@pytest.mark.parametrize("height", [surplus, alone])
def test_what_cancels_at_an_instant_cuts_nothing(height: object) -> None:
    multisets = Multisets(height)  # type: ignore[arg-type]
    out = multisets.push(0, [(0, 9, A), (5, 7, A)]) + multisets.push(1, [(5, 7, A)])
    out += multisets.end(0) + multisets.end(1)
    assert out == ([(0, 7, A), (7, 9, A)] if height is surplus else [(0, 5, A), (7, 9, A)])


@pytest.mark.parametrize("name", ["strict difference", "anti-join"])
def test_a_row_between_two_that_touch_is_not_looked_at(name: str) -> None:
    """Where one match ends and the next starts, all left rows would open and close, without any result."""
    left = [(0, 1000, A)] * 50
    running, out = in_step(PHYSICAL[name][0], left, [(t, t + 1, A) for t in range(100)])
    assert out == []
    assert running.advance(0, 100) + running.advance(1, 100) == []
    assert running.size() <= 52


def test_a_difference_closes_when_the_instant_is_over() -> None:
    """An equal left row might still start at 4, and cancel."""
    difference = Multisets(surplus)
    assert difference.push(0, [(0, 9, A)]) + difference.push(1, [(4, 6, A)]) == []
    assert difference.advance(0, 4) == []
    assert difference.progress() == 0
    assert difference.advance(0, 5) == []
    assert difference.advance(1, 5) == [(0, 4, A)]
    assert difference.progress() == 5


def test_a_difference_gives_what_ends_at_once() -> None:
    difference = Multisets(surplus)
    difference.push(0, [(0, 4, A)])
    assert difference.advance(1, 4) == []
    assert difference.advance(0, 4) == [(0, 4, A)]


CONSTANT = [(BEGINNING, FOREVER, ("a", 1)), (BEGINNING, FOREVER, ("b", 2)), (BEGINNING, FOREVER, ("a", 3))]
STREAM = stream("l", x="string", v="integer", intervals=True)
RELATION = stream("r", y="string", w="integer", intervals=True)
BY_KEY, BY_PAIR, BY_LOOPS = EQUAL, col("x").eq(col("y")) & (col("v") < col("w")), col("v") < col("w")

constant = pytest.mark.parametrize("on", [BY_KEY, BY_PAIR, BY_LOOPS], ids=["key", "pair", "loops"])


def matching(query: Stream) -> Operator:
    """The preferred implementation that can be had."""
    node = query.node
    fitting = (i for i in IMPLEMENTATIONS[type(node.operator)] if i.obstacle(node) is None)
    return running_operator(Node(Physical(next(fitting).name, node.operator), node.inputs))


@constant
def test_a_constant_relation_holds_up_nothing(on: object) -> None:
    """Each row leaves when it arrives, whole; of rows that can no longer find a match, none is kept."""
    semi = matching(STREAM.semi_join(RELATION, on=on))
    anti = matching(STREAM.anti_join(RELATION, on=on))
    kept = []
    for one in (semi, anti):
        assert one.push(1, CONSTANT) + one.end(1) == []
        one.advance(0, -100)
        kept.append(one.size())
    matched, other = (3, 9, ("a", 0)), (3, FOREVER, ("c", 9))
    for element, expected in ((matched, [[matched], []]), (other, [[], [other]])):
        assert [one.push(0, [element]) for one in (semi, anti)] == expected
    assert semi.size() == kept[0]
    assert anti.size() <= kept[1] + 1  # the row that is matched: a match may end before it
    assert semi.progress() == anti.progress() == 3
    assert semi.end(0) == anti.end(0) == []
    assert semi.size() == anti.size() == 0


@pytest.mark.parametrize("condition", [EQUAL, col("x").eq(col("y")) & (col("y") > "A")], ids=["key", "pair"])
def test_a_semi_join_gives_at_once_what_is_known(condition: object) -> None:
    """Cut by the first match, then as far as matches are known: not at each match."""
    semi = matching(LEFT.semi_join(RIGHT.rename({"x": "y"}), on=condition))
    assert semi.push(0, [(0, 100, A)]) == []
    assert semi.push(1, [(2, 5, A), (3, 4, A), (3, 20, A), (4, 9, A)]) == []
    assert semi.advance(0, 4) == [(2, 5, A)]
    assert semi.advance(0, 30) == []
    assert semi.advance(1, 5) == [(5, 20, A)]
    assert semi.push(1, [(20, 30, A)]) == [(20, 30, A)]
    assert semi.push(1, [(40, FOREVER, A)]) + semi.advance(0, 40) == [(40, 100, A)]
    assert semi.end(0) + semi.end(1) == []


def test_an_anti_join_need_not_wait_for_a_match_that_comes_too_late() -> None:
    """The next match starts at 7, and none can start before: what ends until then is whole."""
    anti = AntiJoin(KeyCovers([0], [0]))
    assert anti.push(1, [(7, 9, A)]) == []
    assert anti.push(0, [(1, 5, A), (2, 7, A), (3, 8, A)]) == [(1, 5, A), (2, 7, A)]
    assert anti.progress() == 3
    assert anti.advance(1, 20) == []
    assert anti.advance(0, 7) == [(3, 7, A)]
    assert anti.end(0) + anti.end(1) == []
    later = AntiJoin(KeyCovers([0], [0]))
    later.advance(1, 2)
    assert later.push(0, [(1, 5, A), (2, 9, A)]) == []
    assert later.advance(1, 6) == [(1, 5, A)]
    assert later.progress() == 2


@pytest.mark.parametrize("kind", [SemiJoin, AntiJoin])
def test_an_unknown_key_equals_nothing(kind: type[SemiJoin | AntiJoin]) -> None:
    """Not even an unknown one; so nothing is kept, and nothing waits."""
    running = kind(KeyCovers([0], [0]))
    unknown = (0, 9, (None,))
    assert running.push(1, [unknown]) == []
    assert running.size() == 1  # it waits for the other port
    assert running.push(0, [unknown]) == ([unknown] if kind is AntiJoin else [])
    assert running.size() == 0


@pytest.mark.parametrize("kind", [SemiJoin, AntiJoin])
def test_of_equal_right_rows_only_the_last_end_is_kept(kind: type[SemiJoin | AntiJoin]) -> None:
    running = kind(KeyCovers([0], [0]))
    running.push(1, [(t, t + 100, A) for t in range(50)])
    running.advance(0, 49)
    assert running.size() == 1
    running.advance(0, 200)
    running.advance(1, 148)
    assert running.size() == 1
    running.advance(1, 150)
    assert running.size() == 0


def test_arrivals_come_in_order_each_port_waiting_for_the_other() -> None:
    arrivals = PortOrder(2)
    assert arrivals.take(0, [(1, 9, "a"), (4, 9, "b"), (6, 9, "c")], BEGINNING) == []
    assert (len(arrivals), list(arrivals), arrivals.first(0)) == (
        3,
        [(1, 9, "a"), (4, 9, "b"), (6, 9, "c")],
        1,
    )
    taken = arrivals.take(1, [(2, 9, "d"), (5, 9, "e")], 5)
    assert [(start, port) for start, port, _ in taken] == [(1, 0), (2, 1), (4, 0), (5, 1)]
    assert arrivals.take(1, [(6, 9, "f"), (8, 9, "g")], 6) == [(6, 0, (6, 9, "c")), (6, 1, (6, 9, "f"))]
    assert arrivals.take(0, [], 8) == [(8, 1, (8, 9, "g"))]
    assert (len(arrivals), arrivals.first(1)) == (0, None)


def test_places_of_results_that_left_are_given_back_seldom_but_soon() -> None:
    """To move a window's worth of places for each result would make large windows slow."""
    difference, window, total = Multisets(surplus), 500, 3_000
    given_back = set()
    for t in range(total):
        difference.push(0, [(t, t + window, ("a", t))])
        difference.advance(1, t)
        given_back.add(difference._gone)
        assert len(difference._starts) <= 2 * window + 2 * SPARE
    assert len(given_back) <= 1 + total // window
    assert max(given_back) > total - 3 * window
