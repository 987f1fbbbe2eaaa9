"""What is noted of an operator is what its properties say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from midstream.plans.algebra import properties
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.pictures.notes import Notes
from midstream.plans.values.streams import FOREVER
from midstream.testing import WHOLE, plans

S = stream("s", x="integer", y="float?")
W = S.window(9)
NINE = "valid for 9 chronons at most"

LINES: dict[str, tuple[Stream, list[str]]] = {
    "a source": (
        S,
        [
            "not snapshot-reducible, chronons, ends ordered, in order of arrival",
            "(x integer, y float null)",
        ],
    ),
    "a window": (
        W,
        [f"not snapshot-reducible, ends ordered, {NINE}", "(x integer, y float null)"],
    ),
    "no key": (W.union(W), [f"snapshot-reducible, {NINE}", "(x integer, y float null)"]),
    "a key": (
        W.group_by("x").aggregate(n=count()),
        [f"snapshot-reducible, {NINE}", "key (x)", "(x integer, n integer)"],
    ),
    "a key of two": (
        W.distinct(),
        [f"snapshot-reducible, {NINE}", "key (x, y)", "(x integer, y float null)"],
    ),
    "one row": (
        W.aggregate(n=count()),
        [f"snapshot-reducible, ends ordered, {NINE}", "at most one row", "(n integer)"],
    ),
    "two keys": (
        W.group_by("x")
        .aggregate(n=count())
        .join(W.group_by("x").aggregate(m=count()).rename({"x": "z"}), on=[("x", "z")]),
        [
            f"snapshot-reducible, {NINE}",
            "keys (x), (z)",
            "(x integer, n integer, z integer, m integer)",
        ],
    ),
    "a dependency": (
        W.filter(col("x").eq(3)),
        [
            f"snapshot-reducible, ends ordered, {NINE}",
            "{} → {x}",
            "(x integer, y float null)",
        ],
    ),
    "what is declared": (
        S.unique("x", of_all_time=True).references([("x", "id")], "items"),
        [
            "not snapshot-reducible, chronons, ends ordered, in order of arrival",
            "key (x)",
            "key (x) for all time",
            "(x) in items (id)",
            "(x integer, y float null)",
        ],
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_notes_say_what_holds(name: str) -> None:
    query, expected = LINES[name]
    assert list(Notes(query.node).lines()) == expected


@given(plans(**WHOLE))
def test_notes_are_the_properties(plan: Plan) -> None:
    for node in plan.nodes:
        noted = json.loads(json.dumps(Notes(node).as_dict()))
        assert noted["snapshot_reducible"] == properties.logical(node).is_snapshot_reducible
        assert noted["chronons"] == properties.is_chronon_stream(node)
        assert noted["ends_ordered"] == properties.has_ordered_ends(node)
        assert noted["arrival_order"] == properties.has_arrival_order(node)
        assert tuple(map(frozenset, noted["keys"])) == properties.keys(node)
        assert tuple(map(frozenset, noted["lasting_keys"])) == properties.lasting_keys(node)
        assert noted["duplicate_free"] == properties.is_duplicate_free(node)
        assert noted["start_preserving"] == properties.is_start_preserving(node)
        assert noted["granule"] == node.granule
        assert (noted["longest_validity"] or FOREVER) == properties.longest_validity(node)
        assert [(set(one["columns"]), set(one["determines"])) for one in noted["dependencies"]] == list(
            properties.dependencies(node)
        )
        assert [(one["of"], tuple(one["columns"])) for one in noted["inclusions"]] == [
            (one.of, one.columns) for one in properties.inclusions(node)
        ]
        assert [column["name"] for column in noted["columns"]] == list(node.schema.names)
        assert [column["type"] for column in noted["columns"]] == [c.type.value for c in node.schema]
        assert [column["nullable"] for column in noted["columns"]] == [c.nullable for c in node.schema]
