"""Picture of the fidelity of charts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from midstream.benchmarks.charts import ChartsRun
from midstream.io.pictures import write_picture
from midstream.scenarios.trials.fidelity.following import Fidelity

COLORS = {"given": "#1f5a99", "learned": "#d55e00", "learned, logarithmic": "#2e8b57"}
LINES: dict[str, Literal["-", "--"]] = {"as they are": "-", "estimated": "--"}
GROUND = "white"


def draw_fidelity(run: ChartsRun, file: Path) -> None:
    """Draw the share of hits over k: a row for each experiment, with a panel for each trace."""
    experiments = list(dict.fromkeys(one.experiment for one in run.followed))
    traces = list(dict.fromkeys(one.trace for one in run.followed))
    size = (1.2 + 2.9 * len(traces), 1.0 + 2.5 * len(experiments))
    figure = Figure(figsize=size, dpi=120, layout="constrained", facecolor=GROUND)
    panels = figure.subplots(len(experiments), len(traces), sharey=True, squeeze=False)
    for experiment, row in zip(experiments, panels, strict=True):
        for trace, axes in zip(traces, row, strict=True):
            _panel(axes, [one for one in run.followed if (one.experiment, one.trace) == (experiment, trace)])
            axes.set_title(f"{experiment}, {trace}", fontsize=9)
        row[0].set_ylabel("hits, %", fontsize=9)
    handles = [Line2D([], [], color=color, label=f"ranges {over}") for over, color in COLORS.items()]
    handles += [
        Line2D([], [], color="black", linestyle=line, label=f"values {seen}") for seen, line in LINES.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
    write_picture(figure, file, file.suffix[1:])


def _panel(axes: Axes, found: list[Fidelity]) -> None:
    for over, color in COLORS.items():
        for seen, line in LINES.items():
            points = [
                (one.parts, 100 * one.followed.fidelity)
                for one in found
                if (one.over, one.seen) == (over, seen) and one.followed.fidelity is not None
            ]
            if points:
                axes.plot(*zip(*points, strict=True), color=color, linestyle=line, marker="o", markersize=3)
    axes.set_ylim(0, 102)
    axes.set_xlabel("k", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
