"""Picture of predictions beside measurements."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from midstream.benchmarks.costs import Predictions
from midstream.io.pictures import write_picture
from midstream.scenarios.trials.costs.comparing import CostComparison

FAMILIES = {
    "joins": ("join", "#1f5a99"),
    "differences and unions": ("difference intersection union", "#2e8b57"),
    "distinct, aggregation": ("distinct aggregate", "#c0392b"),
    "windows, changes": ("window granularity stream", "#e0a030"),
    "arrangements": ("split coalesce filter map", "#8c8c8c"),
    "plans of Table 24.1": ("ω", "#6a3d9a"),
}


def draw_predictions(run: Predictions, file: Path) -> None:
    """Draw a panel for output rates, for elements and for bytes, with a dot for each point of the grid."""
    figure = Figure(figsize=(13, 4.9), dpi=120, layout="constrained")
    panels = figure.subplots(1, 3)
    titles = {"rate": "results a chronon", "state": "elements kept", "bytes": "bytes kept"}
    for axes, (what, title) in zip(panels, titles.items(), strict=True):
        _panel(axes, [*run.operators, *run.plans], what, title)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    figure.suptitle("Predicted by the statistics of the sources alone, and measured")
    write_picture(figure, file, file.suffix[1:])


def _panel(axes: Axes, points: list[CostComparison], what: str, title: str) -> None:
    pairs = [(point.name, *getattr(point, what)) for point in points]
    shown = [(name, predicted, measured) for name, predicted, measured in pairs if predicted and measured]
    for family, (_, color) in FAMILIES.items():
        mine = [(x, y) for name, y, x in shown if _family(name) == family]
        if mine:
            across, up = zip(*mine, strict=True)
            axes.scatter(across, up, s=9, color=color, alpha=0.6, label=family, linewidths=0)
    ends = [min(x for *_, x in shown), max(x for *_, x in shown)]
    axes.plot(ends, ends, color="black", linewidth=0.8, label="as measured")
    for factor in (0.9, 1.1):
        axes.plot(ends, [factor * end for end in ends], color="black", linewidth=0.5, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("measured")
    axes.set_ylabel("predicted")
    axes.set_title(title)
    axes.grid(alpha=0.3)


def _family(name: str) -> str:
    if "ω" in name:
        return "plans of Table 24.1"
    return next(family for family, (words, _) in FAMILIES.items() if any(w in name for w in words.split()))
