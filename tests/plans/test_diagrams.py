"""Pictures of plans hold every operator once, overlap nowhere, and are well-formed whatever they show."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.aggregates import count, max_
from midstream.plans.expressions.operands import col
from midstream.plans.pictures.diagrams import LINE, arranged, dot, heading, parameters, svg
from midstream.plans.pictures.layout import Box
from midstream.plans.values.schema import Column, Schema, Type
from midstream.testing import WHOLE, plans

SVG = "{http://www.w3.org/2000/svg}"
S = stream("s", x="integer", y="integer")
W = S.window(60)
T = stream("t", a="integer", b="integer").window(60)


def groups(drawing: str, kind: str) -> list[ElementTree.Element]:
    """The parts of one kind of a drawing, which is parsed."""
    return [group for group in ElementTree.fromstring(drawing).iter(f"{SVG}g") if group.get("class") == kind]


def box(group: ElementTree.Element) -> Box:
    """The box of a node's part."""
    (rectangle,) = group.findall(f"{SVG}rect")
    left, top, width, height = (float(rectangle.attrib[name]) for name in ("x", "y", "width", "height"))
    return Box(left, top, width, height)


def texts(group: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in group.findall(f"{SVG}text")]


def check(plan: Plan) -> None:
    drawing = svg(plan)
    nodes = groups(drawing, "node")
    assert [texts(group)[0] for group in nodes] == [heading(node) for node in plan.nodes]
    boxes = [box(group) for group in nodes]
    for one, other in combinations(boxes, 2):
        assert (
            one.right < other.left
            or other.right < one.left
            or one.bottom < other.top
            or other.bottom < one.top
        )
    edges = groups(drawing, "edge")
    outputs = len(plan.outputs) if len(plan.outputs) > 1 else 0
    assert len(edges) == sum(len(node.inputs) for node in plan.nodes) + outputs
    for edge in edges:
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", edge.find(f"{SVG}path").attrib["d"])]  # type: ignore[union-attr]
        (x, y), (to_x, to_y) = numbers[:2], numbers[-2:]
        assert any(one.left < x < one.right and y == one.top for one in boxes)
        is_output = (edge.findtext(f"{SVG}title") or "").partition(" to ")[2].startswith("output")
        assert is_output or any(
            one.left < to_x < one.right and abs(to_y - one.bottom) < 0.06 for one in boxes
        )


@given(plans(**WHOLE))
def test_every_operator_is_drawn_once_and_boxes_do_not_overlap(plan: Plan) -> None:
    check(plan)


@given(plans(relations=True))
def test_physical_plans_are_drawn_too(plan: Plan) -> None:
    check(physical_plan(plan))


@given(plans(depth=2), plans(depth=2))
def test_several_outputs_are_drawn_and_labelled(one: Plan, other: Plan) -> None:
    plan = Plan({"first": one.root, "second": other.root, "again": one.root})
    check(plan)
    assert [texts(group) for group in groups(svg(plan), "output")] == [["first"], ["second"], ["again"]]
    boxes = arranged(plan).boxes
    for label, root in ((f"n{plan.nodes.index(root)}", root) for root in plan.outputs.values()):
        assert f"  {label} -> o" in dot(plan)
        assert boxes[root].top > min(place.top for place in boxes.values())


def test_one_output_has_no_label() -> None:
    assert groups(svg(W.plan()), "output") == []
    assert "o0" not in dot(W.plan())


@given(plans(**WHOLE))
def test_sources_are_at_the_bottom_and_data_flows_up(plan: Plan) -> None:
    boxes = arranged(plan).boxes
    lowest = [boxes[node] for node in plan.nodes if not node.inputs]
    assert all(boxes[node].bottom < min(place.top for place in lowest) for node in plan.nodes if node.inputs)
    assert all(boxes[node].bottom < boxes[child].top for node in plan.nodes for child in node.inputs)


def test_notes_are_drawn_and_read_out() -> None:
    (group, _) = groups(svg(S.distinct().plan(), notes=lambda node: ["this & that", "more"]), "node")
    assert texts(group) == ["▸ source", "s", "this & that", "more"]
    assert group.findtext(f"{SVG}title") == "source s; this & that; more"
    sizes = [float(text.attrib["font-size"]) for text in group.findall(f"{SVG}text")]
    assert sizes[0] > sizes[1] > sizes[2] == sizes[3]


def test_edges_are_read_out_with_their_inputs() -> None:
    drawing = svg(W.anti_join(T, on=[("x", "a")]).plan())
    titles = [edge.findtext(f"{SVG}title") for edge in groups(drawing, "edge")]
    assert "ω window to ▷ anti-join, input 2 of 2" in titles
    assert "▸ source to ω window" in titles


def test_a_background_is_drawn() -> None:
    """The text is dark; on a dark page it would be lost."""
    drawing = ElementTree.fromstring(svg(W.plan()))
    behind = drawing.find(f"{SVG}rect")
    assert behind is not None
    assert (behind.get("width"), behind.get("height")) == (drawing.get("width"), drawing.get("height"))
    assert behind.get("fill") == "#ffffff"


def test_text_fits_its_box() -> None:
    """By the widths of the fonts that are asked for; DejaVu's, the widest, has 0.602 of its size."""
    plan = W.filter((col("x") > 1) & (col("y") < 7)).join(T, on=[("x", "a")]).distinct().plan()
    for group in groups(svg(plan), "node"):
        for text in group.findall(f"{SVG}text"):
            assert len(text.text or "") * float(text.attrib["font-size"]) * 0.602 < box(group).width
            assert box(group).top < float(text.attrib["y"]) < box(group).bottom


def test_text_is_as_wide_as_it_is_shown() -> None:
    narrow, wide = (
        arranged(stream(name, x="integer").plan(), notes=lambda node: ()).boxes
        for name in ("a" * 20, "線" * 20)
    )
    assert next(iter(wide.values())).width > 1.5 * next(iter(narrow.values())).width


HEADINGS: dict[str, Stream] = {
    "▸ source": S,
    "▪ relation": relation("r", x="integer"),
    "σ filter": W.filter(col("x") > 1),
    "π project": W.select("x"),
    "∪ union": W.union(W),
    "⋈ join": W.join(T, on=[("x", "a")]),
    "× product": W.join(T),
    "⋉ semi-join": W.semi_join(T, on=[("x", "a")]),
    "▷ anti-join": W.anti_join(T, on=[("x", "a")]),
    "δ distinct": W.distinct(),
    "γ aggregate": W.aggregate(n=count()),
    "− difference": W.difference(W),
    "∖ strict difference": W.strict_difference(W),
    "∩ intersection": W.intersection(W),
    "⊔ max union": W.max_union(W),
    "ω window": W,
    "ω count window": S.last(5, ties="arrival"),
    "ω partitioned window": S.last(5, by=["x"], ties="arrival"),
    "Γ granularity": W.granularity(5),
    "Δ⁺ istream": W.istream(),
    "Δ⁻ dstream": W.dstream(),
    "÷ split": W.split(1),
    "⊕ coalesce": W.coalesce(5),
}


@pytest.mark.parametrize("expected", HEADINGS)
def test_operators_have_symbols_and_names(expected: str) -> None:
    query = HEADINGS[expected]
    assert heading(query.node) == expected
    assert " ".join(parameters(query.node)) in str(query.node.operator)


def test_every_operator_that_can_run_has_a_symbol() -> None:
    assert all(kind.symbol for kind in IMPLEMENTATIONS)


def test_a_physical_operator_is_named_by_its_implementation() -> None:
    plan = physical_plan(S.last(5, ties="arrival").join(T, on=[("x", "a")]).plan())
    assert heading(plan.root) == "⋈ hash-join"
    assert parameters(plan.root) == ["a = x"]
    assert parameters(plan.root.inputs[0]) == ["5 ties by arrival"]


def test_parameters_are_wrapped_between_commas_where_they_can_be() -> None:
    query = W.select("x", "y", one_long_name=col("x") + 1, another_long_name=col("y") * 2)
    assert parameters(query.node) == ["x, y, x + 1 as one_long_name,", "y * 2 as another_long_name"]
    long = parameters(W.filter(col("x").eq(int("9" * 80))).node)
    assert len(long) > 2
    assert max(map(len, long)) <= LINE


# Names that no format likes

ODD = [
    'a "quoted" one',
    "back\\slash",
    "<tag>&amp;",
    "]]>",
    "n\nl",
    "\\N",
    "nul\x00",
    "\ud800",
    "\ufffe",
    "{|}",
    "é線",
]
odd = st.one_of(st.sampled_from(ODD), st.text(min_size=1, max_size=60))


@st.composite
def oddly_named(draw: st.DrawFn) -> Plan:
    names = draw(st.lists(odd, min_size=2, max_size=3, unique=True))
    schema = Schema(tuple(Column(name, Type.STRING) for name in names))
    query = stream(draw(odd), schema).filter(col(names[0]).eq(draw(odd)))
    grouped = query.group_by(names[0]).aggregate(**{names[1]: max_(col(names[1]))})
    return Plan({draw(odd): grouped.node, draw(odd): query.node})


@given(oddly_named())
def test_any_name_can_be_drawn(plan: Plan) -> None:
    check(plan)


STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTES = rf"\[\w+=(?:{STRING}|\w+)(?:, \w+=(?:{STRING}|\w+))*\]"
STATEMENT = re.compile(
    rf"  (?:rankdir=BT|node {ATTRIBUTES}|(?P<node>[no]\d+) {ATTRIBUTES}"
    rf"|(?P<source>n\d+) -> (?P<target>[no]\d+)(?: {ATTRIBUTES})?|\{{ rank=min;(?: n\d+;)+ \}});?"
)


def statements(text: str) -> list[re.Match[str]]:
    """The statements of a graph in DOT, as far as we write it."""
    first, *body, last = text.split("\n")
    assert (first, last) == ("digraph plan {", "}")
    found = [STATEMENT.fullmatch(line) for line in body]
    assert all(found), body
    return [match for match in found if match]


@given(st.one_of(oddly_named(), plans(**WHOLE)))
def test_dot_is_well_formed(plan: Plan) -> None:
    found = statements(dot(plan))
    declared = {match["node"] for match in found if match["node"]}
    edges = [(match["source"], match["target"]) for match in found if match["source"]]
    assert len([name for name in declared if name.startswith("n")]) == len(plan.nodes)
    assert {name for edge in edges for name in edge} <= declared
    numbers = {node: f"n{i}" for i, node in enumerate(plan.nodes)}
    expected = [(numbers[child], numbers[node]) for node in plan.nodes for child in node.inputs]
    assert [edge for edge in edges if edge[1].startswith("n")] == expected


def test_text_in_dot_means_itself() -> None:
    plan = stream('a "b" \\N &lt;', x="integer").plan()
    assert r'label="▸ source\na \"b\" \\N &amp;lt;"' in dot(plan, notes=lambda node: ())


def test_inputs_are_told_apart_in_dot() -> None:
    text = dot(W.anti_join(T, on=[("x", "a")]).plan(), notes=lambda node: ())
    assert 'n1 -> n4 [headlabel="1"];' in text
    assert 'n3 -> n4 [headlabel="2"];' in text


def test_a_node_that_is_read_twice_is_drawn_once_with_two_wires() -> None:
    plan = W.union(W).plan()
    drawing = svg(plan)
    assert len(groups(drawing, "node")) == 3
    paths = {edge.find(f"{SVG}path").attrib["d"] for edge in groups(drawing, "edge")}  # type: ignore[union-attr]
    assert len(paths) == 3


def closing_price() -> Node:
    """NEXMark's query 5: the highest price of each auction that closes, and its seller."""
    days = 2 * 24 * 3_600_000
    bids = stream("Bid", itemID="integer", bid_price="float", bidderID="integer").window(days)
    auctions = stream("OpenAuction", itemID="integer", sellerID="integer", start_price="float").window(days)
    closed = stream("ClosedAuction", itemID="integer", buyerID="integer?").alias("c")
    prices = bids.select("itemID", price=col("bid_price")).union(
        auctions.select("itemID", price=col("start_price"))
    )
    current = prices.join(closed, on=[("itemID", "c.itemID")], columns=["itemID", "price"])
    sold = current.join(auctions.alias("o"), on=[("itemID", "o.itemID")])
    return sold.group_by("itemID", "o.sellerID").aggregate(price=max_("price")).node


def test_query_5_fits_a_page() -> None:
    """Its shared window is drawn once, its union below the join, and nothing is too wide to read."""
    plan = Plan(closing_price())
    check(plan)
    layout = arranged(plan)
    assert layout.size.width < 1000
    boxes = {heading(node): layout.boxes[node] for node in plan.nodes}
    assert boxes["γ aggregate"].top == min(place.top for place in layout.boxes.values())
    (union,) = (node for node in plan.nodes if heading(node) == "∪ union")
    joins = [layout.boxes[node] for node in plan.nodes if heading(node) == "⋈ join"]
    assert all(place.bottom < layout.boxes[union].top for place in joins)
    assert [heading(node) for node in plan.nodes].count("ω window") == 2
