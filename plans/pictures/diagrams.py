"""Drawings of plans in SVG, and as graphs in DOT for Graphviz.

Data flows upwards, as in the thesis' figures: sources at the bottom, outputs on top. A shared subplan is
drawn once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple
from xml.etree import ElementTree

from midstream.plans.algebra.operators import KINDS, Arrangement, Leaf, Logical
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.pictures.layout import Box, Edge, Layout, Size, Wire, layered
from midstream.plans.pictures.notes import Notes

LINE = 34
"""Most characters in a line of parameters."""
SMALL_LINE = 42
"""Most characters in a line of notes, which have smaller type."""
FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
ADVANCE = 0.61
"""The width of a character relative to the font size, a little more than in the widest of the fonts."""
PADDING = 12.0

PAPER, INK, FAINT, WIRE = "#ffffff", "#1b1f24", "#57606a", "#6e7781"
FILL = {"leaf": "#e6f0e6", "time": "#e7effa", "arrangement": "#f6f1e4", "operator": "#f6f8fa"}

Noting = Callable[[Node], Iterable[str]]


class Style(NamedTuple):
    """A style of text in a box."""

    size: float
    weight: str
    ink: str


TITLE, TEXT, NOTE = Style(14.0, "bold", INK), Style(12.0, "normal", INK), Style(10.0, "normal", FAINT)
LEADING = 1.4
"""The distance between lines relative to the font size."""


@dataclass(frozen=True, slots=True)
class Output:
    """The label of an output, drawn above its node if the plan has several outputs."""

    name: str


def properties(node: Node) -> tuple[str, ...]:
    """The default notes of a diagram."""
    return Notes(node).lines()


def heading(node: Node) -> str:
    """The symbol and name of an operator; in a physical plan, the name of its implementation.

    >>> from midstream.plans.algebra.builder import stream
    >>> heading(stream("s", x="integer").distinct().node)
    'δ distinct'
    """
    operator = logical(node)
    word, _ = _word_and_parameters(operator)
    if isinstance(node.operator, Physical):
        word = node.operator.implementation
    symbol = "×" if word == "product" else operator.symbol
    return _printable(f"{symbol} {word}" if symbol else word)


def parameters(node: Node) -> list[str]:
    """An operator's parameters in lines of at most `LINE` characters.

    >>> from midstream.plans.algebra.builder import stream
    >>> s = stream("s", x="integer", y="integer")
    >>> parameters(s.filter((s["x"] > 1) & (s["y"] > s["x"]) & (s["y"] < 1000)).node)
    ['(x > 1) and (y < 1000) and (y > x)']
    """
    return _wrapped(_word_and_parameters(logical(node))[1], LINE)


def dot(plan: Plan, notes: Noting = properties) -> str:
    """A plan in Graphviz' language, with the same text in its boxes as in `svg`.

    >>> from midstream.plans.algebra.builder import stream
    >>> print(dot(stream("s", x="integer").distinct().plan(), notes=lambda node: ()))
    digraph plan {
      rankdir=BT;
      node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname="monospace"];
      n0 [label="▸ source\\ns", fillcolor="#e6f0e6"];
      n1 [label="δ distinct"];
      n0 -> n1;
      { rank=min; n0; }
    }
    """
    numbers = {node: i for i, node in enumerate(plan.nodes)}
    lines = [
        "digraph plan {",
        "  rankdir=BT;",
        f'  node [shape=box, style="rounded,filled", fillcolor="{FILL["operator"]}", fontname="monospace"];',
    ]
    for node, i in numbers.items():
        text = [heading(node), *parameters(node), *_note_lines(node, notes)]
        fill = "" if _family(node) == "operator" else f', fillcolor="{FILL[_family(node)]}"'
        lines.append(f"  n{i} [label={_dot_text(text)}{fill}];")
    for node, i in numbers.items():
        for port, child in enumerate(node.inputs):
            # `svg` draws inputs in the order of ports; Graphviz may change it, so that edges are numbered.
            label = f' [headlabel="{port + 1}"]' if len(node.inputs) > 1 else ""
            lines.append(f"  n{numbers[child]} -> n{i}{label};")
    leaves = "".join(f" n{numbers[node]};" for node in plan.nodes if not node.inputs)
    lines.append(f"  {{ rank=min;{leaves} }}")
    for i, (name, root) in enumerate(plan.outputs.items() if len(plan.outputs) > 1 else ()):
        lines.append(f"  o{i} [label={_dot_text([_printable(name)])}, shape=plaintext, style=solid];")
        lines.append(f"  n{numbers[root]} -> o{i};")
    return "\n".join([*lines, "}"])


def svg(plan: Plan, notes: Noting = properties) -> str:
    """A plan as an SVG drawing.

    Every box has the operator's symbol and name, its parameters, and the notes in small type; a `<title>` has
    the same text for screen readers. The background is drawn, so that the picture is legible on a dark page,
    too.
    """
    layout = arranged(plan, notes)
    width, height = (f"{number:g}" for number in layout.size)
    drawing = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": width,
            "height": height,
            "viewBox": f"0 0 {width} {height}",
            "role": "img",
            "font-family": FONT,
            "text-anchor": "middle",
        },
    )
    _titled(drawing, f"Plan with {len(plan.nodes)} operators")
    ElementTree.SubElement(drawing, "rect", {"width": width, "height": height, "fill": PAPER})
    for wire in layout.wires:
        _draw_wire(drawing, wire)
    for i, node in enumerate(plan.nodes):
        _draw_node(drawing, f"n{i}", node, layout.boxes[node], notes)
    for label, box in layout.boxes.items():
        if isinstance(label, Output):
            group = ElementTree.SubElement(drawing, "g", {"class": "output"})
            _titled(group, f"output {_printable(label.name)}")
            _write(group, box, [(TITLE, line) for line in _label_lines(label)])
    ElementTree.indent(drawing)
    return ElementTree.tostring(drawing, encoding="unicode")


def arranged(plan: Plan, notes: Noting = properties) -> Layout[Node | Output]:
    """The layout of a plan's drawing."""
    sizes: dict[Node | Output, Size] = {node: _size(_lines(node, notes)) for node in plan.nodes}
    edges: list[Edge[Node | Output]] = [
        Edge(child, node, port) for node in plan.nodes for port, child in enumerate(node.inputs)
    ]
    for name, root in plan.outputs.items() if len(plan.outputs) > 1 else ():
        label = Output(name)
        sizes[label] = _size([(TITLE, line) for line in _label_lines(label)])
        edges.append(Edge(root, label))
    return layered(sizes, edges)


def _word_and_parameters(operator: Logical) -> tuple[str, str]:
    text = str(operator)
    if text.startswith(operator.name):
        return operator.name, text.removeprefix(operator.name).strip()
    word, _, rest = text.partition(" ")
    return word, rest


def _family(node: Node) -> str:
    operator = logical(node)
    if isinstance(operator, Leaf):
        return "leaf"
    if isinstance(operator, Arrangement):
        return "arrangement"
    return "operator" if operator.is_snapshot_reducible else "time"


def _lines(node: Node, notes: Noting) -> list[tuple[Style, str]]:
    return [
        (TITLE, heading(node)),
        *((TEXT, line) for line in parameters(node)),
        *((NOTE, line) for line in _note_lines(node, notes)),
    ]


def _note_lines(node: Node, notes: Noting) -> Iterator[str]:
    for note in notes(node):
        yield from _wrapped(note, SMALL_LINE)


def _label_lines(label: Output) -> list[str]:
    return _wrapped(label.name, LINE) or [""]


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines; parts between commas, `and` and `or` are kept together if they fit."""
    parts = re.split(r"(?<=,) | (?=and |or )", _printable(text))
    glued = (part.replace(" ", "\xa0") if len(part) <= width else part for part in parts)
    return [line.replace("\xa0", " ") for line in wrap(" ".join(glued), width, break_on_hyphens=False)]


def _printable(text: str) -> str:
    """The text without characters that XML does not allow, or that are invisible."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def _width(style: Style, line: str) -> float:
    cells = sum(
        2 if c in _WIDE or unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c)
        for c in line
    )
    return cells * style.size * ADVANCE


_WIDE = frozenset("".join(str(kind.symbol) for kind in KINDS.values()))
"""Symbols that few monospaced fonts have, so that wider characters of other fonts replace them."""


def _size(lines: list[tuple[Style, str]]) -> Size:
    width = max(_width(style, line) for style, line in lines)
    height = sum(style.size * LEADING for style, _ in lines)
    return Size(round(width + 2 * PADDING, 1), round(height + 1.2 * PADDING, 1))


def _draw_wire(drawing: ElementTree.Element, wire: Wire[Node | Output]) -> None:
    source, target, port = wire.edge
    end = f"output {target.name}" if isinstance(target, Output) else heading(target)
    inputs = 1 if isinstance(target, Output) else len(target.inputs)
    behind = f", input {port + 1} of {inputs}" if inputs > 1 else ""
    (x, y), *others = wire.points
    path = f"M{x:g} {y:g}"
    for i, (to_x, to_y) in enumerate(others):
        if i % 2 == 0 or to_x == x:
            path += f" L{to_x:g} {to_y:g}"
        else:
            half = (y + to_y) / 2
            path += f" C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    group = ElementTree.SubElement(drawing, "g", {"class": "edge"})
    start = heading(source) if isinstance(source, Node) else source.name
    _titled(group, _printable(f"{start} to {end}{behind}"))
    # No arrow heads: everything flows up, and heads would hide the places where wires meet.
    ElementTree.SubElement(group, "path", {"d": path, "fill": "none", "stroke": WIRE, "stroke-width": "1.5"})


def _draw_node(drawing: ElementTree.Element, name: str, node: Node, box: Box, notes: Noting) -> None:
    group = ElementTree.SubElement(drawing, "g", {"class": "node", "id": name})
    _titled(group, _printable("; ".join([str(node.operator), *notes(node)])))
    attributes = {
        "x": f"{box.left:g}",
        "y": f"{box.top:g}",
        "width": f"{box.width:g}",
        "height": f"{box.height:g}",
        "rx": "8",
        "fill": FILL[_family(node)],
        "stroke": INK,
    }
    if _family(node) == "arrangement":
        attributes["stroke-dasharray"] = "5 3"
    ElementTree.SubElement(group, "rect", attributes)
    _write(group, box, _lines(node, notes))


def _write(group: ElementTree.Element, box: Box, lines: Iterable[tuple[Style, str]]) -> None:
    y = box.top + 0.6 * PADDING
    for style, line in lines:
        y += style.size * LEADING
        # A third of the leading lies below the base line.
        attributes = {
            "x": f"{box.middle:g}",
            "y": f"{y - style.size * 0.35:g}",
            "font-size": f"{style.size:g}",
            "fill": style.ink,
        }
        if style.weight != "normal":
            attributes["font-weight"] = style.weight
        ElementTree.SubElement(group, "text", attributes).text = line


def _titled(element: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(element, "title").text = text


def _dot_text(lines: Iterable[str]) -> str:
    """A quoted label; Graphviz reads escapes and HTML entities in it."""
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
