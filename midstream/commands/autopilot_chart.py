"""A chart of an autopilot's work: the estimated cost of each plan, the running plan, and the migrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from textwrap import fill, shorten
from typing import TYPE_CHECKING

from midstream.autopilot.decision import short
from midstream.autopilot.records import Record
from midstream.io.pictures import drawn
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.errors import MidstreamError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b58900", "#56b4e9")
"""The colours of plans, in order of first use; colour-blind readers can tell them apart."""
FORMS = (".png", ".svg", ".pdf")
LABEL = 56
"""The largest number of letters of a plan in the legend."""


def require_form(path: Path, option: str) -> None:
    """Raise MidstreamError unless a chart can be written to a file of that name."""
    if path.suffix not in FORMS:
        raise MidstreamError(f"{option}: found {path}, expected a file in {', '.join(FORMS)}")


def draw(records: Sequence[Record], form: str) -> bytes:
    """Draw the chart, with one picture per query."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(record.query for record in records)) or ["no query"]
    with rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(9, 0.6 + 3.6 * len(names)), layout="constrained")
        for axes, name in zip(figure.subplots(len(names), squeeze=False)[:, 0], names, strict=True):
            _draw_query(axes, name, [record for record in records if record.query == name])
    return drawn(figure, form.removeprefix("."))


def _draw_query(axes: Axes, name: str, records: Sequence[Record]) -> None:
    looks = [(record.at, record) for record in records if record.costs and record.at is not None]
    first = looks[0][0] if looks else 0
    plans = list(dict.fromkeys(plan for _, record in looks for plan in record.costs))
    for number, plan in enumerate(plans):
        color = COLORS[number % len(COLORS)]
        known = {at - first: record.costs[plan] for at, record in looks if plan in record.costs}
        label = f"{number + 1}: {shorten(short(plan, 200), LABEL, placeholder=' …')}"
        axes.plot(list(known), list(known.values()), color=color, linewidth=1, label=label)
        running = [known.get(at - first, nan) if record.running == plan else nan for at, record in looks]
        axes.plot(
            [at - first for at, _ in looks],
            running,
            color=color,
            linewidth=3.5,
            solid_capstyle="butt",
            alpha=0.8,
        )
    _draw_migrations(axes, records, first, {plan: str(number + 1) for number, plan in enumerate(plans)})
    if not looks and records:
        axes.text(0.5, 0.5, fill(records[-1].reason, LABEL), ha="center", transform=axes.transAxes)
    axes.set_title(name, loc="left", pad=16)  # clear of the marks of moves
    axes.set_xlabel(f"chronons since {first}")
    axes.set_ylabel("expected cost per chronon")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    if plans:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.2), frameon=False, fontsize="small")


def _draw_migrations(axes: Axes, records: Sequence[Record], first: int, numbers: Mapping[Plan, str]) -> None:
    """Draw a band from the beginning of each migration to its end, with its target."""
    begun: Record | None = None
    for record in records:
        if record.event == "move":
            begun = record
        elif record.event in ("done", "aborted") and begun is not None and record.at is not None:
            assert begun.at is not None and begun.decision is not None
            axes.axvspan(begun.at - first, record.at - first, color="#8e8e93", alpha=0.25, linewidth=0)
            to = begun.decision.to
            told = "aborted" if record.event == "aborted" else f"→ {numbers.get(to, '?') if to else '?'}"
            axes.annotate(
                told, (begun.at - first, 1), xycoords=("data", "axes fraction"), fontsize="small", va="bottom"
            )
            begun = None
