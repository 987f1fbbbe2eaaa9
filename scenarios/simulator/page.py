"""Self-contained HTML pages: one skeleton and one style for all reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from midstream.scenarios.simulator.pictures import inline_svg, page_colors

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html_page(name: str, body: str) -> str:
    """A whole page for light and dark grounds and for small screens; `body` is HTML."""
    style = (resources.files(__package__) / "report.css").read_text(encoding="utf-8")
    dark = page_colors(dark=True)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(name)} – Midstream</title>\n"
        f"<style>\n:root {{ {page_colors(dark=False)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{style}</style>\n"
        f"</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def section(title: str, content: str) -> str:
    """A part of a page; `content` is HTML."""
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


def facts_list(facts: Sequence[tuple[str, str]]) -> str:
    """A list of names and their values."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{rows}</dl>'


def figure_html(
    draw: Callable[[], Figure],
    name: str,
    title: str,
    caption: str,
    told: Sequence[str],
    *,
    has_own_ground: bool = False,
) -> str:
    """A picture with its caption; `told` describes it in words."""
    svg = inline_svg(draw, name, f"{title}. {' '.join(told)}", has_own_ground=has_own_ground)
    words = "".join(f"<li>{escape(line)}</li>" for line in told)
    return (
        f"<figure>\n{svg}\n<figcaption>{escape(caption)}"
        f"<details><summary>In words</summary><ul>{words}</ul></details></figcaption>\n</figure>"
    )
