"""Artefacts of earlier versions, one file a format: they load, and mean what they meant."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import midstream as ms
from midstream.autopilot.costs.series import CostSeries, Counts
from midstream.io.ingested import (
    IngestedFile,
    IngestedInput,
    IngestRun,
    Manifest,
    StreamRun,
    read_manifest,
    write_manifest,
)
from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.optimizer.charts.chart import Chart, Dimension
from midstream.optimizer.charts.tree import ChartTree, Leaf, Split
from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import unit_costs
from midstream.optimizer.statistics_file import dump_statistics, read_statistics
from midstream.plans.values.artefacts import ArtefactError, artefact_text, typed
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.testing import case_from_json, case_to_json
from midstream.testing.cases import Case

FOLDER = Path(__file__).parent

A, B = ms.stream("a", ax="integer", s="string?"), ms.stream("b", bx="integer")
COUNTRIES = ms.relation("r", rx="integer", land="string")
JOINED = A.window(100).join(B.window(100), on=[("ax", "bx")])
PLANS = (JOINED.distinct().plan(), JOINED.filter(ms.col("ax") > 1).plan())
QUERY = A.window(100).join(COUNTRIES, on=[("ax", "rx")]).join(B.window(100), on=[("ax", "bx")]).plan()

STATISTICS = Statistics(
    {
        A.node: StreamStatistics(
            2.5, math.inf, 5, Sample(A.node.schema, [(1, "x"), (2**70, None)]), distributions={"ax": {1: 0.5}}
        ),
        B.node: StreamStatistics(math.inf, 3.0, always=7.0, even=True),
        COUNTRIES.node: StreamStatistics(math.inf, math.inf, always=160.0),
    },
    {},
    {"ax": {7: 0.25, 8: 0.5}},
)
COUNTS = Counts((3, 12), ((1, 4), (2, 4)), ((1, 2), (0, 1)))
CASE = Case(
    plan=PLANS[0],
    to=JOINED.distinct().plan(),
    strategy="genmig",
    replace_all=True,
    after=2,
    events=[
        ("push", "a", [(0, 1, (1, "x")), (2, FOREVER, (2, None))]),
        ("advance", "b", 5),
        ("end", "a", None),
    ],
    relations={"r": [(BEGINNING, FOREVER, (1, "AT"))]},
    is_logged=False,
    preserving=True,
)
MANIFEST = Manifest(
    10**9,
    0,
    {"a": {"columns": {"ax": "integer", "s": "string?"}, "time": "at", "where": {"kind": "bid"}}},
    (
        IngestRun(
            "run-0001",
            (IngestedInput("a", "/data/a.csv", 100, 1_700_000_000_000_000_000, "ab" * 32, 9, 6, 2, 1),),
            (IngestedFile("a", "run-0001/a/part-00000.parquet", 6, 2048, 3, 70),),
            {"a": StreamRun(1, 2, 3, {0: 4, 16: 2}, 11)},
            ("run-0001/quarantine/a/part-00000.jsonl",),
        ),
    ),
)

MEANINGS: Mapping[str, object] = {
    "settings.json": ms.Settings(horizon=4, doubt=1.5, memory=1000, looks=4),
    "courses.json": CostSeries(
        range(0, 20, 10), 20, "ms", PLANS, ("one", "other"), ((1.0, 2.5), (2.0, 0.0)), (5, -1), COUNTS
    ),
    "courses-without-counts.json": CostSeries(range(5, 15, 10), 20, "ms", PLANS[:1], ("one",), ((1.0,),)),
    "chart.json": Chart(
        (Dimension("rate(a)", 1.0, 100.0, 2, is_logarithmic=True), Dimension("sel", 0.0, 1.0, 1)),
        PLANS,
        (0, 1),
    ),
    "tree.json": ChartTree(("x", "y"), PLANS, (Split((0, 1), math.inf, 1, 2), Leaf(1), Leaf(0))),
    "costs.json": Profile(
        unit_costs({"predicate": 0.25}, {"hash-join": 1.5}), "2026-11-24", "a machine, with Python", 0.125
    ),
    "statistics.json": STATISTICS,
    "case.json": CASE,
    "plan.json": QUERY,
    "manifest.json": MANIFEST,
}

READERS: Mapping[str, Callable[[Path], object]] = {
    "settings.json": lambda file: ms.Settings.loads(file.read_text()),
    "courses.json": lambda file: CostSeries.loads(file.read_text()),
    "courses-without-counts.json": lambda file: CostSeries.loads(file.read_text()),
    "chart.json": lambda file: Chart.loads(file.read_text()),
    "tree.json": lambda file: ChartTree.loads(file.read_text()),
    "costs.json": Profile.read,
    "statistics.json": lambda file: read_statistics(file, [QUERY]),
    "case.json": lambda file: case_from_json(json.loads(file.read_text())),
    "plan.json": lambda file: ms.loads(file.read_text()),
    "manifest.json": lambda file: read_manifest(file.parent),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_an_artefact_of_an_earlier_version_means_the_same(name: str) -> None:
    assert READERS[name](FOLDER / name) == MEANINGS[name]


WRITERS: Mapping[str, Callable[[Any], str]] = {
    "settings.json": ms.Settings.dumps,
    "courses.json": CostSeries.dumps,
    "courses-without-counts.json": CostSeries.dumps,
    "chart.json": Chart.dumps,
    "tree.json": ChartTree.dumps,
    "costs.json": Profile.dumps,
    "statistics.json": dump_statistics,
    "case.json": lambda case: json.dumps(case_to_json(case)),
    "plan.json": ms.dumps,
}


@pytest.mark.parametrize("name", WRITERS)
def test_it_is_written_and_read_as_json(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(WRITERS[name](MEANINGS[name]))
    json.loads(file.read_text(), parse_constant=pytest.fail)  # NaN and Infinity are no JSON
    assert READERS[name](file) == MEANINGS[name]


def test_a_manifest_is_written_and_read(tmp_path: Path) -> None:
    write_manifest(MANIFEST, tmp_path)
    assert read_manifest(tmp_path) == MANIFEST


@pytest.mark.parametrize("name", [name for name in MEANINGS if name != "plan.json"])
def test_an_unknown_field_is_refused(name: str, tmp_path: Path) -> None:
    text = (FOLDER / name).read_text()
    (tmp_path / name).write_text(text.replace("{", '{"more": 1, ', 1))
    with pytest.raises(ms.MidstreamError, match="found more, expected some of"):
        READERS[name](tmp_path / name)


@dataclass(frozen=True)
class Part:
    count: int
    share: float = 0.5


@dataclass(frozen=True)
class Example:
    parts: tuple[Part, ...]
    by_name: Mapping[str, Part]
    by_number: Mapping[int, int]
    pairs: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)
    label: str | None = None


RIGHT = {"parts": [{"count": 1}], "by_name": {"a": {"count": 2, "share": 1}}, "by_number": {"3": 4}}


def test_a_form_is_read_from_plain_data() -> None:
    assert typed(RIGHT, Example) == Example((Part(1),), {"a": Part(2, 1.0)}, {3: 4})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parts": [{}]}, "parts[0]: found no count, expected one"),
        ({"parts": [{"count": True}]}, "parts[0].count: found True, expected a whole number"),
        ({"parts": {}}, "parts: found {}, expected a list"),
        ({"parts": [{"count": 1, "cout": 2}]}, "parts[0]: found cout, expected some of count, share"),
        (
            {"by_name": {"a": {"count": 1}, "b": {"count": "1"}}},
            "by_name.b.count: found '1'",
        ),
        ({"by_name": {"a": {"count": 1}, "b": {}}}, "by_name.b: found no count, expected one"),
        ({"by_name": {"a": {"count": 1, "x": 1}}}, "by_name.a: found x, expected some of count, share"),
        ({"parts": [{"count": 1, "share": math.inf}]}, "parts[0].share: found inf, expected a finite number"),
        ({"by_name": {"a": {}, "b": 5}}, "by_name.a: found no count, expected one"),
        ({"pairs": {"a": [["x", 1]], "b": [["x"]], "c": 5}}, "pairs.b[0]: found ['x'], expected a list of 2"),
        (
            {"pairs": {"a": [["x", 1]], "b": [["x", "y"]], "c": 5}},
            "pairs.b[0][1]: found 'y', expected",
        ),
        ({"pairs": {"a": 5, "b": []}}, "pairs.a: found 5, expected a list"),
        ({"label": 5}, "label: found 5, expected a text or null"),
        ({"label": "\ud800", "parts": "\ud800"}, "found '\\ud800'"),
        ({"more": 1}, "found more, expected some of parts, by_name, by_number, pairs, label"),
    ],
)
def test_other_data_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtefactError) as raised:
        typed({**RIGHT, **change}, Example)
    assert message in str(raised.value)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_not_is_not_written(number: float) -> None:
    example = Example((Part(1), Part(2, number)), {}, {})
    with pytest.raises(ArtefactError, match=r"parts\[1\]\.share: found .*, expected a finite number"):
        artefact_text({"example": 1}, example)


def test_a_value_without_a_form_is_not_written() -> None:
    with pytest.raises(ArtefactError, match="expected a value that JSON has"):
        artefact_text({"example": 1}, {"at": {1, 2}})
