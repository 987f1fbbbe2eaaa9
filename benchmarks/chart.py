"""The pictures of the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from midstream.benchmarks.contenders import BY_HAND, MIDSTREAM
from midstream.benchmarks.measuring import ItemResult
from midstream.benchmarks.memory import MemoryRun
from midstream.benchmarks.report import Benchmark
from midstream.io.pictures import write_picture

COLORS = {MIDSTREAM: "#1f5a99", "bytewax": "#e0a030", "streamz": "#8c8c8c"}


def draw(benchmark: Benchmark, file: Path) -> None:
    """Write the picture of a benchmark: a panel for each batch size, a bar for each contender and item."""
    sizes = list(dict.fromkeys(one.batch_size for item in benchmark.items for one in item.measured))
    height = 2 + 0.55 * len(benchmark.items)
    figure = Figure(figsize=(3 + 3.2 * len(sizes), height), dpi=120, layout="constrained")
    panels: Sequence[Axes] = figure.subplots(1, len(sizes), sharex=True, sharey=True, squeeze=False)[0]
    for axes, size in zip(panels, sizes, strict=True):
        _panel(axes, benchmark.items, size)
    panels[0].set_yticks(range(len(benchmark.items)), [_label(item) for item in benchmark.items])
    panels[0].invert_yaxis()
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))
    figure.suptitle("Speed relative to a hand-written Python loop for the same work")
    write_picture(figure, file, file.suffix[1:])


def _panel(axes: Axes, items: Sequence[ItemResult], size: int) -> None:
    names = [name for name in COLORS if any(one.name == name for item in items for one in item.measured)]
    thickness = 0.8 / len(names)
    for i, name in enumerate(names):
        rows, spreads = [], []
        for row, item in enumerate(items):
            for one in item.measured:
                if (one.name, one.batch_size) == (name, size):
                    rows.append(row + (i - (len(names) - 1) / 2) * thickness)
                    spreads.append(item.of_by_hand(one))
        if rows:
            medians = [spread.median for spread in spreads]
            below = [spread.median - spread.least for spread in spreads]
            above = [spread.most - spread.median for spread in spreads]
            axes.barh(
                rows,
                medians,
                thickness,
                xerr=(below, above),
                color=COLORS[name],
                label=name,
                error_kw={"elinewidth": 0.8},
            )
    axes.axvline(1, color="black", linewidth=1, label=BY_HAND)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.set_title("single elements" if size == 1 else f"batches of {size:,}")


def _label(item: ItemResult) -> str:
    return item.item.name if item.window is None else f"{item.item.name}\nwindow {item.window:,}"


def draw_memory(run: MemoryRun, file: Path) -> None:
    """Write the picture of a long run: the memory of the process and the state of the plan."""
    figure = Figure(figsize=(9, 5), dpi=120, layout="constrained")
    memory, state = figure.subplots(2, 1, sharex=True)
    elements = [sample.elements for sample in run.samples]
    if run.has_memory:
        memory.plot(elements, [(sample.resident or 0) / 2**20 for sample in run.samples], color="#1f5a99")
    memory.set_ylabel("memory of the\nprocess, MiB")
    memory.set_title(f"A run of {run.elements:,} elements through {run.operators}", loc="left")
    state.plot(elements, [sample.state for sample in run.samples], color="#1f5a99")
    state.set_ylabel("elements kept\nby the plan")
    state.set_xlabel("elements processed")
    state.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    for axes in (memory, state):
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
        axes.grid(axis="y", alpha=0.3)
        axes.axvline(run.elements / 2, color="black", linewidth=0.8, linestyle=":")
    write_picture(figure, file, file.suffix[1:])
