"""Self-contained HTML pages: one skeleton and one style for all reports."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from midstream.scenarios.reports.contents import Picture, Section
from midstream.scenarios.reports.pictures import inline_svg, page_colors


def page_html(title: str, description: Sequence[str], sections: Sequence[Section]) -> str:
    """A page for light and dark grounds and for small screens; equal contents make equal pages.

    description    paragraphs below the title
    sections       the first one has no title: its contents belong to the head
    """
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (resources.files(__package__) / "page.css").read_text(encoding="utf-8")
    page = environment.get_template("page.html").render(
        title=title,
        description=description,
        sections=sections,
        light=page_colors(dark=False),
        dark=page_colors(dark=True),
        style=Markup(style),
        svg=_svg,
    )
    return page + "\n"


def _svg(picture: Picture, section: int) -> Markup:
    """A picture as a part of the page; sections may have pictures of one name."""
    name, description = f"part{section}-{picture.name}", f"{picture.title}. {' '.join(picture.words)}"
    return Markup(inline_svg(picture.draw, name, description, has_own_ground=picture.has_own_ground))
