"""Matplotlib's figures as parts of an HTML page.

Lines and texts take the page's colours: each colour of `PAGE_COLORS` becomes a CSS variable of the page, so
that one picture serves on a light ground and on a dark one.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from midstream.io.requirements import require_libraries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, GROUND = "#1b1b1d", "#8e8e93", "#fffffe"
BASE = "#77777a"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b58900", "#56b4e9")
OLD, NEW, HELD = "#a9b4c2", "#5b7f95", "#cc3366"

PAGE_COLORS: Mapping[str, tuple[str, str]] = {
    INK: ("ink", "#ececef"),
    FAINT: ("faint", "#8e8e93"),
    GROUND: ("ground", "#17181b"),
    BASE: ("base", "#a0a0a6"),
    **{
        color: (f"series-{i}", dark)
        for i, (color, dark) in enumerate(
            zip(SERIES, ("#4fa8e0", "#ff8c42", "#3fc99d", "#d78ac6", "#e0b63a", "#8fd3ff"), strict=True)
        )
    },
    OLD: ("old", "#6d7786"),
    NEW: ("new", "#93b7cd"),
    HELD: ("held", "#ff6f9c"),
}
"""By colour in a picture: its name on the page, and its replacement on a dark ground.

Colour-blind readers can tell the colours of series apart (after Okabe and Ito).
"""


def require_matplotlib() -> None:
    """Raise MissingExtra, saying what to install, if matplotlib is missing."""
    require_libraries(("matplotlib",), "plot", "reports need")


def page_colors(*, dark: bool) -> str:
    """The colours as declarations of CSS variables."""
    return " ".join(
        f"--{name}: {on_dark if dark else color};" for color, (name, on_dark) in PAGE_COLORS.items()
    )


def style_axes(axes: Axes) -> None:
    """Remove needless lines, and use the colours of the page."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8, width=0.6, color=FAINT)
    axes.grid(axis="y", color=FAINT, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(8.5)


def inline_svg(
    draw: Callable[[], Figure], name: str, description: str, *, has_own_ground: bool = False
) -> str:
    """The figure that `draw` returns as an SVG element; equal figures give equal bytes.

    `name` keeps its ids apart from those of other figures on the page; `description` is for those who cannot
    see it. Own settings of matplotlib have no effect, and texts are not read as formulas. With
    `has_own_ground` the figure keeps its ground and its colours.
    """
    svg = _drawn(draw, name, texts="none", **({} if has_own_ground else {"transparent": True}))
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    if not has_own_ground:
        svg = re.sub(
            r"#[0-9a-f]{6}\b",
            lambda match: f"var(--{PAGE_COLORS[match[0]][0]})" if match[0] in PAGE_COLORS else match[0],
            svg,
        )
    svg = re.sub(r"font: ([^;\"]*)'DejaVu Sans'[^;\"]*", r"font: \1system-ui, sans-serif", svg)
    opening = f'<svg role="img" aria-label="{escape(description)}"'.replace("\\", r"\\")
    return re.sub(r'<svg\b(.*?) width="[^"]*"', rf"{opening}\1", svg, count=1, flags=re.S).replace(
        ' height="', ' data-height="', 1
    )


def plain_svg(draw: Callable[[], Figure], name: str) -> str:
    """The figure that `draw` returns as an SVG file on a light ground; equal figures give equal bytes."""
    return re.sub(r"[ \t]+$", "", _drawn(draw, name, texts="path", facecolor=GROUND), flags=re.M)


def _drawn(draw: Callable[[], Figure], name: str, *, texts: str, **look: Any) -> str:
    import matplotlib as mpl

    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    file = io.StringIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": name, "svg.fonttype": texts, "text.parse_math": False})
        draw().savefig(file, format="svg", metadata=nothing, **look)
    return file.getvalue()
