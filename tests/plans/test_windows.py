"""Windows and arrangements as data: what they refuse, what can be told of them, JSON, and the builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.operators import (
    Coalesce,
    Convert,
    CountWindow,
    Dstream,
    Granularity,
    Istream,
    Logical,
    PartitionedWindow,
    Split,
    TimeWindow,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import (
    has_arrival_order,
    has_ordered_ends,
    input_nodes,
    is_chronon_stream,
    logical_plan,
)
from midstream.plans.algebra.serialise import dumps, loads, plan_from_json, plan_to_json
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import PlanError, PlanFormatError, SchemaError, TieError
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.streams import FOREVER, chronons

S = stream("s", x="integer", y="integer")
I = stream("i", x="integer", y="integer", intervals=True)  # noqa: E741

ODD = [0, -3, 2.5, True, "5"]
"""What is no number of chronons or rows."""


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (TimeWindow, "found a window of {}, expected a positive number of chronons, or None"),
        (lambda odd: TimeWindow(5, odd), "found a slide of {}, expected a positive number of chronons"),
        (CountWindow, "found a window of {}, expected a positive number of rows, or None"),
        (lambda odd: CountWindow(5, odd), "found a slide of {}, expected a positive number of rows"),
        (lambda odd: PartitionedWindow(("x",), odd), "found a window of {}, expected a positive number of r"),
        (lambda odd: PartitionedWindow(("x",), 5, odd), "found a slide of {}, expected a positive number"),
        (lambda odd: PartitionedWindow(("x",), 5, delay=odd), "found a delay of {}, expected a positive n"),
        (Granularity, "found a granule of {}, expected a positive number of chronons"),
        (Split, "split: found a length of {}, expected a positive number of chronons"),
        (Coalesce, "coalesce: found a length of {}, expected a positive number of chronons"),
    ],
)
def test_what_is_no_positive_number_is_refused(make: Callable[[Any], Logical], what: str, odd: Any) -> None:
    with pytest.raises(PlanError, match=what.format(repr(odd))):
        make(odd)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Granularity(None), "found a granule of None"),
        (lambda: Split(None), "found a length of None"),
        (lambda: TimeWindow(5, None), "found a slide of None"),
        (lambda: CountWindow(5, ties="random"), "found ties='random', expected 'error' or 'arrival'"),
        (lambda: PartitionedWindow(("x",), 5, ties=None), "found ties=None, expected 'error' or 'arrival'"),
        (lambda: PartitionedWindow((), 5), "partitioned window: found no keys, expected at least one"),
        (lambda: Convert("pairs"), "convert: found 'pairs', expected 'intervals' or 'signs'"),
        (lambda: S.last(5, delay=3), "found a delay without groups, expected `by`"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        make()


def test_a_partitioned_window_needs_its_keys() -> None:
    assert S.last(3, by=["y", "x"]).schema == S.schema
    with pytest.raises(SchemaError, match="z"):
        S.last(3, by=["x", "z"])


BUILT: dict[str, tuple[Stream, Logical, str]] = {
    "time": (S.window(5), TimeWindow(5), "window 5"),
    "time, unbounded": (S.window(None), TimeWindow(None), "window unbounded"),
    "time, sliding": (S.window(5, slide=2), TimeWindow(5, 2), "window 5 slide 2"),
    "count": (S.last(5), CountWindow(5), "count window 5"),
    "count, unbounded": (S.last(None), CountWindow(None), "count window unbounded"),
    "count, sliding": (
        S.last(5, slide=2, ties="arrival"),
        CountWindow(5, 2, "arrival"),
        "count window 5 slide 2 ties by arrival",
    ),
    "partitioned": (
        S.last(5, by=["y", "x"]),
        PartitionedWindow(("y", "x"), 5),
        "partitioned window 5 by y, x",
    ),
    "partitioned, with all": (
        S.last(None, by=["x"], slide=3, ties="arrival", delay=7),
        PartitionedWindow(("x",), None, 3, "arrival", 7),
        "partitioned window unbounded slide 3 ties by arrival by x delay 7",
    ),
    "granularity": (S.granularity(60), Granularity(60), "granularity 60"),
    "istream": (I.istream(), Istream(), "istream"),
    "dstream": (I.dstream(), Dstream(), "dstream"),
    "rstream": (I.rstream(), Split(1), "split 1"),
    "split": (I.split(5), Split(5), "split 5"),
    "coalesce": (I.coalesce(9), Coalesce(9), "coalesce 9"),
    "convert": (Stream(Node(Convert("signs"), (I.node,))), Convert("signs"), "convert to signs"),
}
"""Per operator, how it is built, what it is, and how it is shown."""

built = pytest.mark.parametrize(("query", "operator", "shown"), BUILT.values(), ids=BUILT)


@built
def test_the_builder_makes_the_operator(query: Stream, operator: Logical, shown: str) -> None:
    assert query.node.operator == operator
    assert str(query.plan()).splitlines()[0] == shown
    assert query.schema == S.schema
    assert len(query.node.inputs) == 1


@built
def test_json_gives_the_plan_back(query: Stream, operator: Logical, shown: str) -> None:
    plan = query.plan()
    assert loads(dumps(plan)) == plan
    assert plan_from_json(plan_to_json(plan)).root.operator == operator


def test_json_tells_every_parameter() -> None:
    every = BUILT["partitioned, with all"][0].plan()
    assert plan_to_json(every)["nodes"][1] == {
        "operator": "partitioned window",
        "keys": ["x"],
        "rows": None,
        "slide": 3,
        "ties": "arrival",
        "delay": 7,
        "inputs": [0],
    }
    parameters = {name: plan_to_json(q.plan())["nodes"][1] for name, (q, _, _) in BUILT.items()}
    assert parameters["time, sliding"] == {"operator": "window", "size": 5, "slide": 2, "inputs": [0]}
    assert parameters["istream"] == {"operator": "istream", "inputs": [0]}
    assert len({str(found) for found in parameters.values()}) == len(BUILT)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"operator": "window", "size": 0}, "node 1: found a window of 0"),
        ({"operator": "window", "slide": 3}, "node 1: .*'size'"),
        ({"operator": "count window", "rows": 3, "ties": "none"}, "node 1: found ties='none'"),
        (
            {"operator": "partitioned window", "keys": [], "rows": 3},
            "node 1: partitioned window: found no k",
        ),
        ({"operator": "partitioned window", "keys": ["q"], "rows": 3}, "node 1: .*q"),
        ({"operator": "granularity", "granule": "1"}, "node 1: found a granule of '1'"),
        ({"operator": "split"}, "node 1: .*'length'"),
        ({"operator": "convert", "to": 7}, "node 1: convert: found 7"),
    ],
)
def test_json_that_makes_no_operator_is_refused(entry: dict[str, Any], message: str) -> None:
    data = plan_to_json(S.window(5).plan())
    data["nodes"][1] = entry | {"inputs": [0]}
    with pytest.raises(PlanFormatError, match=message):
        plan_from_json(data)


def test_json_without_what_has_a_default() -> None:
    """Files that were written before there were slides."""
    data = plan_to_json(S.window(5).plan())
    for entry, operator in (
        ({"operator": "window", "size": 5}, TimeWindow(5)),
        ({"operator": "count window", "rows": 5}, CountWindow(5)),
        ({"operator": "partitioned window", "keys": ["x"], "rows": 5}, PartitionedWindow(("x",), 5)),
    ):
        data["nodes"][1] = entry | {"inputs": [0]}
        assert plan_from_json(data).root.operator == operator


PROPERTIES = {
    # reducible, start-preserving, stateless
    TimeWindow(5): (False, True, True),
    CountWindow(5): (False, True, False),
    PartitionedWindow(("x",), 5): (False, True, False),
    Granularity(5): (False, True, True),
    Istream(): (False, True, False),
    Dstream(): (False, True, False),
    Split(5): (True, False, False),
    Coalesce(5): (True, False, False),
    Convert("signs"): (True, False, False),
}


@pytest.mark.parametrize(("operator", "expected"), PROPERTIES.items(), ids=str)
def test_the_properties_that_migrations_ask_for(operator: Logical, expected: tuple[bool, ...]) -> None:
    """Arrangements commute with snapshot-reducible operators (Lemma 12.1); what is no arrangement here
    follows its input through time and stands below all that a migration exchanges."""
    found = operator.is_snapshot_reducible, operator.is_start_preserving, operator.is_stateless
    assert found == expected


@pytest.mark.parametrize("name", ["time", "count", "partitioned", "granularity", "istream", "dstream"])
def test_the_exchangeable_part_begins_above(name: str) -> None:
    query = BUILT[name][0]
    assert input_nodes(query.distinct().plan()) == (query.node,)


@pytest.mark.parametrize("name", ["split", "coalesce", "convert"])
def test_arrangements_are_part_of_what_is_exchanged_and_of_no_meaning(name: str) -> None:
    plan = Stream(Node(BUILT[name][1], (S.window(5).node,))).distinct().plan()
    assert input_nodes(plan) == (S.window(5).node,)
    assert logical_plan(plan) == S.window(5).distinct().plan()


CHRONONS = {
    S.window(1): True,
    S.window(2): False,
    S.window(None): False,
    S.window(1, slide=2): False,
    S.last(1): False,
    S.last(1, by=["x"]): False,
    S.granularity(1): True,
    S.granularity(2): False,
    I.granularity(1): False,
    I.istream(): True,
    I.dstream(): True,
    I.rstream(): True,
    I.split(2): False,
    S.split(2): True,
    S.coalesce(1): True,
    S.coalesce(2): False,
    I.coalesce(1): False,
    I.rstream().filter(col("x") > 1): True,
}


@pytest.mark.parametrize(("query", "expected"), CHRONONS.items(), ids=lambda v: str(getattr(v, "node", v)))
def test_which_streams_are_chronon_streams(query: Stream, expected: bool) -> None:
    """Thesis, Table 12.1."""
    assert is_chronon_stream(query.node) is expected


def test_which_streams_have_ends_in_order() -> None:
    """Thesis, Table 12.1."""
    for query in (I.window(5), I.last(5), S.granularity(5), S.last(5).granularity(3), S.split(1)):
        assert has_ordered_ends(query.node), query.node
    for query in (I, I.last(5, by=["x"]), I.granularity(5), S.window(5).coalesce(3), I.distinct()):
        assert not has_ordered_ends(query.node), query.node


def test_which_streams_keep_the_order_of_arrival() -> None:
    for query in (S, S.filter(col("x") > 1).select("x")):
        assert has_arrival_order(query.node)
    for query in (I, S.union(S), S.window(1), S.split(1), S.distinct(), relation("r", x="integer")):
        assert not has_arrival_order(query.node)


def test_ties_are_specified_to_be_errors_or_to_be_broken_by_arrival() -> None:
    rows = list(chronons([(1, (1, 5)), (1, (2, 6)), (3, (1, 7))]))
    with pytest.raises(TieError, match="count window 1: found two rows at 1"):
        specified(S.last(1).plan(), {"s": rows})
    assert specified(S.last(1, ties="arrival").plan(), {"s": rows}) == normal_form(
        [(1, 3, (2, 6)), (3, FOREVER, (1, 7))]
    )
    assert specified(S.last(1, by=["x"]).plan(), {"s": rows}) == normal_form(
        [(1, 3, (1, 5)), (1, FOREVER, (2, 6)), (3, FOREVER, (1, 7))]
    )
    with pytest.raises(TieError, match="found two rows at 1"):
        specified(S.last(1, by=["x"]).plan(), {"s": [*rows[:1], *rows]})


def test_the_specification_of_a_slide_follows_its_words() -> None:
    """17.1: the content changes at a - 1, 2a - 1, and so on, wherever time begins."""
    rows = list(chronons([(-5, (1, 0)), (0, (2, 0)), (4, (3, 0))]))
    found = snapshots(S.window(4, slide=3).plan(), {"s": rows})
    content = {t: sorted(x for x, _ in found[t].elements()) for t in range(-5, 12)}
    changes = {t: now for t, now in content.items() if now != content.get(t - 1, [])}
    assert changes == {-4: [1], -1: [], 2: [2], 5: [3], 8: []}
