"""Files that programs write and people edit: whatever stands in them, they are read, or refused with an error
of the family."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import midstream as ms
from midstream.autopilot.costs.series import CostSeries
from midstream.optimizer import PROCESSING, Sample, Statistics, StreamStatistics
from midstream.optimizer.charts.chart import Chart, Dimension
from midstream.optimizer.charts.making import ask_optimizer
from midstream.optimizer.charts.measures import measures_of
from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import UnitCosts
from midstream.optimizer.statistics_file import dump_statistics, load_statistics
from midstream.testing import case_from_json, case_of, case_to_json

A = ms.stream("a", ax="integer", s="string?").window(100)
B = ms.stream("b", bx="integer").window(100)
QUERY = A.join(B, on=[("ax", "bx")]).filter(ms.col("ax") > 1).distinct().plan()
ROWS = Sample(A.node.inputs[0].schema, [(1, "x"), (2, None)])
KNOWN = Statistics(
    {A.node.inputs[0]: StreamStatistics(2.0, 1.0, 1, ROWS, distributions={"ax": {1: 0.5}})}
    | {B.node.inputs[0]: StreamStatistics(1.0, 1.0)},
    {ms.col("ax") > 1: 0.5},
)


def chart() -> Chart:
    rate = measures_of([QUERY])["rate(a)"]
    return ask_optimizer(QUERY, KNOWN, [(Dimension(rate.name, 0.0, 2.0, 2), rate)], PROCESSING)


def statistics_of(data: Any) -> object:
    read = load_statistics(json.dumps(data), [QUERY])
    return ms.optimize(QUERY, read), dump_statistics(read)


CASE = next(case for seed in range(99) if (case := case_of(seed)))
COURSES = CostSeries(
    range(0, 40, 10), 20, "ms", (QUERY, QUERY), ("one", "other"), ((1.0,) * 4, (2.0,) * 4), (5,) * 4
)

FILES: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "plan": (json.loads(ms.dumps(QUERY)), lambda data: str(ms.loads(json.dumps(data)))),
    "settings": (json.loads(ms.BALANCED.dumps()), lambda data: ms.Settings.loads(json.dumps(data))),
    "statistics": (json.loads(dump_statistics(KNOWN)), statistics_of),
    "chart": (json.loads(chart().dumps()), lambda data: Chart.loads(json.dumps(data)).plan([1.0])),
    "cost profile": (
        json.loads(Profile(UnitCosts(), "2026-11-24", "a machine", 0.1).dumps()),
        lambda data: Profile.loads(json.dumps(data)),
    ),
    "case": (case_to_json(CASE), case_from_json),
    "courses": (json.loads(COURSES.dumps()), lambda data: CostSeries.loads(json.dumps(data)).dumps()),
}
"""By what it is: what a right file holds, and how it is read."""

VALUES = (
    None, True, 0, -1, 1.5, 10**30, 10**400, float("inf"), float("nan"), 1e308, "", "x", "source", "\ud800",
    [], {}, [[]], [None], {"a": 1},
)  # fmt: skip


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Whatever has parts, with the name or number of each."""
    if isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from places(data[key])


@st.composite
def mistaken(draw: st.DrawFn, right: Any) -> Any:
    """The same with some parts exchanged, left out or twice."""
    data = deepcopy(right)
    for _ in range(draw(st.integers(1, 2))):
        found = list(places(data))
        if not found:
            break
        parts, key = draw(st.sampled_from(found))
        match draw(st.integers(0, 4)):
            case 0:
                del parts[key]
            case 1 if isinstance(parts, dict):
                parts["more"] = parts[key]
            case 1:
                parts.append(parts[key])
            case _:
                parts[key] = deepcopy(draw(st.sampled_from(VALUES)))
    return data


@pytest.mark.parametrize("what", FILES)
@given(data=st.data())
def test_what_is_not_right_is_refused(what: str, data: st.DataObject) -> None:
    right, read = FILES[what]
    try:
        read(data.draw(mistaken(right)))
    except ms.MidstreamError as error:
        assert "object at 0x" not in str(error)


@pytest.mark.parametrize("what", FILES)
def test_what_is_right_is_read(what: str) -> None:
    right, read = FILES[what]
    read(deepcopy(right))


DEEP = "[" * 100_000
READERS: Sequence[Callable[[str], object]] = (ms.loads, ms.Settings.loads, Chart.loads, CostSeries.loads)


@pytest.mark.parametrize("read", READERS)
def test_what_is_too_deep_is_refused(read: Callable[[str], object]) -> None:
    with pytest.raises(ms.MidstreamError):
        read(DEEP)


def test_a_profile_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(DEEP)
    with pytest.raises(ms.MidstreamError, match=r"costs\.json"):
        Profile.read(file)
