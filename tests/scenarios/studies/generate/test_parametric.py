"""Streams that are made in cells: like those of the simulator, whichever cells are made together."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from agreeing import chi_square, kolmogorov_smirnov

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.stages.generate import arrivals
from midstream.scenarios.stages.generate.arrivals import arrivals_of
from midstream.scenarios.stages.generate.parametric import ParametricStream, parametric_streams
from midstream.scenarios.stages.generate.values import values_of
from midstream.scenarios.streams.distributions import drawing
from midstream.scenarios.streams.instants import instants
from midstream.scenarios.streams.stream_spec import (
    Bursts,
    Changing,
    Choice,
    Constant,
    Normal,
    Poisson,
    Regular,
    Sequence,
    StreamSpec,
    Uniform,
    Zipf,
)

SEEDS = range(10)
DURATION = 40_000
COURSE = Changing(linear={0: 20, 15_000: 80, 30_000: 5})
STEPS = Changing(steps={0: 30, 9_000: 0, 20_000: 70})
PROCESSES: dict[str, Any] = {
    "constant": Regular(process="constant", rate=7),
    "linear": Regular(process="constant", rate=COURSE),
    "steps": Regular(process="constant", rate=STEPS),
    "bursts": Bursts(process="bursts", rate=3, burst=90, pause=3000, lasting=700),
    "random bursts": Bursts(process="bursts", rate=COURSE, burst=90, pause=900, lasting=300, random=True),
}
POISSON: dict[str, Any] = {
    "poisson": Poisson(process="poisson", rate=50),
    "linear poisson": Poisson(process="poisson", rate=COURSE),
    "steps of poisson": Poisson(process="poisson", rate=STEPS),
}
UNIFORM = Uniform(values="uniform", low=Changing(linear={0: 0, DURATION: 30}), high=60)
VALUES: dict[str, Any] = {
    "uniform": UNIFORM,
    "float": Uniform(values="uniform", low=-1.5, high=Changing(steps={0: 2, 900: 7}), type="float"),
    "zipf": Zipf(values="zipf", n=40, exponent=1.1, first=3),
    "zipf that drifts": Zipf(
        values="zipf",
        n=12,
        exponent=Changing(linear={0: 0, DURATION: 2}),
        shift=Changing(linear={0: 0, DURATION: 9}),
    ),
    "normal": Normal(values="normal", mean=COURSE, deviation=3),
    "whole normal": Normal(values="normal", mean=3, deviation=4, type="integer"),
    "choice": Choice(values="choice", of={"a": 1, "b": Changing(linear={0: 0, DURATION: 9}), "c": 0.5}),
    "choice by weights that stay": Choice(values="choice", of={"a": 1, "b": 0, "c": 2.5}),
    "constant": Constant(values="constant", value={"linear": {0: 1, DURATION: 4}}),
    "text": Constant(values="constant", value="x"),
    "sequence": Sequence(values="sequence", first=5, step=3, length=7),
}


@pytest.fixture(autouse=True)
def small_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "IN_CELL", 50)


def starts(process: Any, seed: int) -> list[int]:
    stream = arrivals_of("s", StreamSpec(columns=VALUES, arrivals=process), 1000, seed, DURATION)
    assert stream.cells > 4
    cells = list(stream.numbered(0, stream.cells))
    found: list[int] = []
    for cell, number, some in cells:
        since, until = stream.bounds(cell)
        assert not len(some) or (number == len(found) and since <= some[0] and some[-1] < until)
        found += some.tolist()
    return found


@pytest.mark.parametrize("name", PROCESSES)
def test_arrivals_without_chance_are_those_of_the_simulator(name: str) -> None:
    for seed in range(3):
        every = instants(PROCESSES[name], 1000, Random(f"{seed}/s/arrivals"), DURATION)
        expected = [start for start in every if start < DURATION]  # rounded up, the last may be behind
        assert starts(PROCESSES[name], seed) == expected
        assert len(expected) > 250


@pytest.mark.parametrize("name", POISSON)
def test_arrivals_by_chance_have_the_simulators_distribution(name: str) -> None:
    counts: list[int] = []
    expected: list[int] = []
    for seed in SEEDS:
        found, other = (
            starts(POISSON[name], seed),
            list(instants(POISSON[name], 1000, Random(f"{seed}/x"), DURATION)),
        )
        assert found == sorted(found)
        assert kolmogorov_smirnov(found, other) <= 1
        assert chi_square(list(np.diff(found)), list(np.diff(other))) <= 1
        counts += np.histogram(found, 40, (0, DURATION))[0].tolist()
        expected += np.histogram(other, 40, (0, DURATION))[0].tolist()
    assert kolmogorov_smirnov(counts, expected) <= 1


@pytest.mark.parametrize("name", VALUES)
def test_values_have_the_simulators_distribution(name: str) -> None:
    values = VALUES[name]
    times = np.sort(np.random.default_rng(0).integers(0, DURATION, 5_000))
    for seed in SEEDS:
        draw = drawing(values, Random(seed))
        expected = [draw(time) for time in times.tolist()]
        found = list(values_of(values, times, 0, np.random.default_rng(seed)))
        late = [side[2500:] for side in (found, expected)]
        if name in ("constant", "text", "sequence"):
            assert found == pytest.approx(expected) if name == "constant" else found == expected
        else:
            test = kolmogorov_smirnov if values.type == "float" else chi_square
            assert max(test(found, expected), test(*late)) <= 1


def test_weights_that_stay_draw_what_weights_of_every_instant_do() -> None:
    stay = Choice(values="choice", of={"a": 1, "b": 0, "c": 2.5, "d": 0})
    times = np.arange(2_000)
    for seed in SEEDS:
        found = values_of(stay, times, 0, np.random.default_rng(seed))
        told = Choice(values="choice", of=stay.of | {"c": Changing(steps={0: 2.5})})
        assert found == values_of(told, times, 0, np.random.default_rng(seed))
        assert set(found) == {"a", "c"}


def test_another_distribution_is_found() -> None:
    times = np.arange(5_000)
    found = values_of(Zipf(values="zipf", n=40, exponent=1.0), times, 0, np.random.default_rng(1))
    draw = drawing(Zipf(values="zipf", n=40, exponent=1.3), Random(1))
    assert chi_square(list(found), [draw(0) for _ in range(5_000)]) > 1


def stream(seed: int, **more: Any) -> ParametricStream:
    spec = StreamSpec(columns=VALUES, **{"arrivals": POISSON["linear poisson"]} | more)
    return ParametricStream("s", spec, arrivals_of("s", spec, 1000, seed, DURATION))


def rows(of: Any) -> list[dict[str, Any]]:
    return [row for _, table in of for row in table.to_pylist()]


@pytest.mark.parametrize("process", [POISSON["linear poisson"], PROCESSES["random bursts"]])
def test_a_cell_is_the_same_alone(process: Any) -> None:
    one = stream(3, arrivals=process, count=900)
    whole = rows(one.tables(0, one.cells))
    assert len(whole) == 900
    assert whole == rows(part for cell in range(one.cells) for part in one.tables(cell, cell + 1))
    assert whole != rows(stream(4, arrivals=process, count=900).tables(0, one.cells))
    assert [row["start"] for row in whole] == sorted(row["start"] for row in whole)
    assert sorted(row["sequence"] for row in whole) == sorted(5 + 3 * (n % 7) for n in range(900))


def test_disorder_is_of_arrival_alone() -> None:
    one = stream(3, disorder=700, slack=700)
    whole = rows(one.arriving(0, one.cells))
    parts = rows(part for cell in range(one.cells) for part in one.arriving(cell, cell + 1))
    key = repr
    assert sorted(whole, key=key) == sorted(parts, key=key) == sorted(rows(one.tables(0, one.cells)), key=key)
    greatest, late = 0, []
    for row in parts:
        late.append(max(0, greatest - row["start"]))
        greatest = max(greatest, row["start"])
    assert 600 < max(late) <= 700
    assert whole == parts


TEXT = """
unit: seconds
duration: {duration}
plans: {{whatever: is not looked at}}
streams:
  A:
    columns: {{k: {{values: uniform, low: 0, high: 9}}}}
    arrivals: {arrivals}
"""


def test_a_file_says_which_streams(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(TEXT.format(duration="2 minutes", arrivals="{process: constant, rate: 3}"))
    seed, (one,), chronon = parametric_streams(str(file))
    assert (seed, one.name, chronon, one.expected) == (1, "A", 10**9, {"A": 360})
    assert str(one.schemas["A"]) == "(k integer)"


@pytest.mark.parametrize(
    ("duration", "arrivals", "message"),
    [
        ("2 weeks of", "{process: constant, rate: 3}", r"s\.yaml, line 3, duration: found '2 weeks of'"),
        ("2 s", "{process: constant}", r"s\.yaml, line 8, streams\.A\.arrivals\.rate: found nothing"),
        (
            "2 s",
            "{process: trace, path: a.csv, time: t}",
            "line 8: found a trace, expected arrivals that can",
        ),
    ],
)
def test_bad_files(tmp_path: Path, duration: str, arrivals: str, message: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(TEXT.format(duration=duration, arrivals=arrivals))
    with pytest.raises(InputFileError, match=message):
        parametric_streams(str(file))
    file.write_text("duration: 3 s\nstreams: {}\n")
    with pytest.raises(InputFileError, match=r"s\.yaml, line 2, streams"):
        parametric_streams(str(file))
    file.write_text("- 3\n")
    with pytest.raises(InputFileError, match="expected keys, streams among them"):
        parametric_streams(str(file))
