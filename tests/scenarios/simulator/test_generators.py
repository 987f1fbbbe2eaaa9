"""Generated streams: the same for the same seed, as they are described, and true in what they promise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from midstream.plans.values.errors import InputFileError
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.delivery import Arrival
from midstream.scenarios.streams.generators import arrivals
from midstream.scenarios.streams.stream_spec import StreamSpec

SECOND, DURATION = 1000, 10_000


def spec(**changes: Any) -> StreamSpec:
    """A stream as a file describes it, by default one integer column and 50 elements a second."""
    described = {
        "columns": {"k": {"values": "uniform", "low": 0, "high": 9}},
        "arrivals": {"process": "constant", "rate": 50},
        **changes,
    }
    return StreamSpec.model_validate(described, context={"unit": TimeUnit.of("milliseconds")})


def events(stream: StreamSpec, seed: int = 1, name: str = "s", duration: int = DURATION) -> list[Arrival]:
    """All that arrives."""
    return list(arrivals(name, stream, SECOND, seed, duration))


def elements(stream: StreamSpec, seed: int = 1, name: str = "s", duration: int = DURATION) -> list[Any]:
    """The elements, as they arrive."""
    return [one.what for one in events(stream, seed, name, duration) if one.kind == "element"]


def starts(stream: StreamSpec, seed: int = 1) -> list[int]:
    return [start for start, _, _ in elements(stream, seed)]


def values(column: dict[str, Any], rate: int = 500) -> list[tuple[int, Any]]:
    """Starts and values of a column."""
    stream = spec(columns={"k": column}, arrivals={"process": "constant", "rate": rate})
    return [(start, value) for start, _, (value,) in elements(stream)]


def linear(start: float, end: float) -> dict[str, Any]:
    """A number that moves from the beginning to the end."""
    return {"linear": {0: start, DURATION: end}}


rates = st.integers(0, 80)
changing = st.one_of(
    rates,
    st.builds(lambda a, b: {"steps": {0: a, 4000: b}}, rates, rates),
    st.builds(lambda a, b: {"linear": {1000: a, 7000: b}}, rates, rates),
)
processes = st.one_of(
    st.builds(lambda rate: {"process": "constant", "rate": rate}, changing),
    st.builds(lambda rate: {"process": "poisson", "rate": rate}, changing),
    st.builds(
        lambda rate, burst, pause, lasting, random: {
            "process": "bursts", "rate": rate, "burst": burst, "pause": pause, "lasting": lasting,
            "random": random,
        },
        changing, changing, st.integers(100, 5000), st.integers(100, 5000), st.booleans(),
    ),
)  # fmt: skip


def idle_phases(parts: list[tuple[int, int, bool]]) -> list[dict[str, Any]]:
    """Phases one after the other, from pauses, lengths, and whether there are heartbeats."""
    found: list[dict[str, Any]] = []
    for pause, length, heartbeats in parts:
        since = pause + (found[-1]["until"] if found else 0)
        found.append({"since": since, "until": since + length, "heartbeats": heartbeats})
    return found


phases = st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 4000), st.booleans()), max_size=3)
streams = st.builds(
    lambda process, lag, disorder, beat, idle: spec(
        arrivals=process, lag=lag, disorder=disorder, slack=disorder, heartbeats=beat, idle=idle_phases(idle)
    ),
    processes,
    st.one_of(
        st.integers(0, 3000),
        st.builds(linear, st.integers(0, 3000), st.integers(0, 3000)),
        st.builds(lambda a, b: {"steps": {0: a, 3000: b}}, st.integers(0, 3000), st.integers(0, 3000)),
    ),
    st.one_of(st.just(0), st.integers(1, 2000)),
    st.one_of(st.none(), st.integers(50, 3000)),
    phases,
)


@given(streams, st.integers(0, 5))
def test_what_arrives_is_what_was_promised(stream: StreamSpec, seed: int) -> None:
    found = events(stream, seed)
    assert found == events(stream, seed)
    assert all(one.at <= other.at for one, other in pairwise(found))
    assert [one.kind for one in found].index("end") == len(found) - 1
    progress = -math.inf
    latest = -math.inf
    for one in found:
        assert one.stream == "s"
        if one.kind == "heartbeat":
            assert isinstance(one.what, int)
            assert one.at >= one.what
            progress = max(progress, one.what)
        elif isinstance(one.what, tuple):
            start, end, payload = one.what
            assert 0 <= start < DURATION and end == start + 1 and len(payload) == 1
            assert one.at >= start, "nothing arrives before it starts"
            assert start >= progress, "a heartbeat was not true"
            assert start >= latest - (stream.slack or 0), "more out of order than was declared"
            latest = max(latest, start)


@given(streams)
def test_nothing_arrives_in_an_idle_phase(stream: StreamSpec) -> None:
    for one in events(stream):
        for phase in stream.idle:
            if phase.since <= one.at < phase.until:
                assert one.kind == "heartbeat" and phase.heartbeats


@given(streams)
def test_delays_lose_nothing(stream: StreamSpec) -> None:
    prompt = stream.model_copy(update={"lag": 0, "disorder": 0, "idle": []})
    assert Counter(elements(stream)) == Counter(elements(prompt))
    assert starts(prompt) == sorted(starts(prompt))


def test_randomness_depends_on_seed_and_name_only() -> None:
    stream = spec(arrivals={"process": "poisson", "rate": 50})
    assert elements(stream, seed=1) != elements(stream, seed=2)
    assert elements(stream, name="s") != elements(stream, name="t")


def test_a_further_column_moves_nothing() -> None:
    one = {"k": {"values": "uniform", "low": 0, "high": 9}}
    two = {"first": {"values": "zipf", "n": 50}, **one}
    poisson = {"process": "poisson", "rate": 50}
    found = elements(spec(columns=two, arrivals=poisson))
    assert [(start, (k,)) for start, _, (_, k) in found] == [
        (start, payload) for start, _, payload in elements(spec(columns=one, arrivals=poisson))
    ]


def test_equal_distances() -> None:
    assert starts(spec()) == list(range(0, DURATION, 20))
    assert starts(spec(count=3)) == [0, 20, 40]


def test_an_element_at_the_seam_of_two_rates() -> None:
    # 0.07 elements a chronon are a little more than 7 after 100 chronons, as floats.
    found = starts(spec(arrivals={"process": "constant", "rate": {"steps": {0: 70, 100: 10}}}))
    assert found[7:9] == [100, 200]


def test_rate_by_steps() -> None:
    found = starts(spec(arrivals={"process": "constant", "rate": {"steps": {0: 10, 5000: 100}}}))
    assert len(found) == 550
    assert sum(start < 5000 for start in found) == 50


def test_rate_that_grows() -> None:
    found = starts(spec(arrivals={"process": "constant", "rate": linear(0, 100)}))
    assert len(found) == 500
    # The integral of the rate is 5 t²: after half of the time a quarter is there.
    assert sum(start < 5000 for start in found) == 125


@pytest.mark.parametrize("seed", range(3))
def test_poisson(seed: int) -> None:
    found = starts(spec(arrivals={"process": "poisson", "rate": 200}), seed)
    assert len(found) == pytest.approx(2000, rel=0.1)
    distances = [after - before for before, after in pairwise(found)]
    # Of an exponential distribution the deviation is the mean.
    assert pstdev(distances) == pytest.approx(fmean(distances), rel=0.15)


def test_bursts() -> None:
    process = {"process": "bursts", "rate": 10, "burst": 200, "pause": 2000, "lasting": 500}
    found = starts(spec(arrivals=process))
    by_phase = Counter(start % 2500 >= 2000 for start in found)
    assert by_phase == {True: 400, False: 80}


def test_random_bursts_differ_in_length() -> None:
    process = {"process": "bursts", "rate": 0, "burst": 1000, "pause": 500, "lasting": 500, "random": True}
    found = starts(spec(arrivals=process))
    gaps = [after - before for before, after in pairwise(found) if after - before > 1]
    assert len(set(gaps)) > 3
    assert 0.2 < len(found) / DURATION < 0.8


def test_uniform() -> None:
    found = values({"values": "uniform", "low": 3, "high": 7})
    counts = Counter(value for _, value in found)
    assert set(counts) == {3, 4, 5, 6, 7}
    assert all(count == pytest.approx(1000, rel=0.15) for count in counts.values())


def test_uniform_that_moves() -> None:
    found = values({"values": "uniform", "low": 0, "high": {"steps": {0: 9, 5000: 99}}})
    assert max(value for start, value in found if start < 5000) == 9
    assert max(value for start, value in found if start >= 5000) > 90


def test_uniform_floats() -> None:
    found = values({"values": "uniform", "low": 0, "high": 1, "type": "float"})
    assert all(type(value) is float and 0 <= value <= 1 for _, value in found)
    assert fmean(value for _, value in found) == pytest.approx(0.5, abs=0.05)


def test_zipf() -> None:
    counts = Counter(value for _, value in values({"values": "zipf", "n": 100, "first": 10}))
    assert min(counts) == 10 and max(counts) <= 109
    harmonic = sum(1 / rank for rank in range(1, 101))
    for rank in (1, 2, 4):
        assert counts[9 + rank] == pytest.approx(5000 / harmonic / rank, rel=0.2)


def test_zipf_that_shifts() -> None:
    found = values({"values": "zipf", "n": 100, "exponent": 2, "shift": {"steps": {0: 0, 5000: 99}}})
    for half, frequent in ((range(5000), [0, 1]), (range(5000, DURATION), [99, 0])):
        counts = Counter(value for start, value in found if start in half)
        assert [value for value, _ in counts.most_common(2)] == frequent


def test_normal() -> None:
    found = [value for _, value in values({"values": "normal", "mean": 20, "deviation": 3})]
    assert fmean(found) == pytest.approx(20, abs=0.2)
    assert pstdev(found) == pytest.approx(3, abs=0.2)
    rounded = values({"values": "normal", "mean": 20, "deviation": 3, "type": "integer"})
    assert {type(value) for _, value in rounded} == {int}


def test_choice() -> None:
    found = values({"values": "choice", "of": {"red": linear(1, 0), "blue": linear(0, 1)}})
    early = Counter(value for start, value in found if start < 2000)
    late = Counter(value for start, value in found if start >= 8000)
    assert early["red"] > 5 * early["blue"] and late["blue"] > 5 * late["red"]


def test_constant_and_sequence() -> None:
    assert {value for _, value in values({"values": "constant", "value": "x"})} == {"x"}
    moving = values({"values": "constant", "value": {"steps": {0: 1, 5000: 2}}})
    assert [value for start, value in moving if start in (4998, 5000)] == [1, 2]
    found = values({"values": "sequence", "first": 5, "step": -2, "length": 3})
    assert [value for _, value in found[:5]] == [5, 3, 1, 5, 3]


def test_lag_that_grows() -> None:
    found = events(spec(lag=linear(0, 5000)))
    lags = {one.what[0]: one.at - one.what[0] for one in found if isinstance(one.what, tuple)}
    assert (lags[0], lags[5000]) == (0, 2500)


def test_lag_that_shrinks_fast_lets_nothing_overtake() -> None:
    found = events(spec(lag={"steps": {0: 3000, 2000: 0}}))
    by_start = {one.what[0]: one.at for one in found if isinstance(one.what, tuple)}
    assert (by_start[1980], by_start[2000], by_start[4980], by_start[5000]) == (4980, 4980, 4980, 5000)


def test_heartbeats_come_on_time_before_what_starts_then() -> None:
    found = [(one.at, one.kind) for one in events(spec(heartbeats=5000, disorder=100, slack=200))]
    assert found.index((5000, "heartbeat")) == sum(at < 5000 for at, _ in found)
    (promise,) = [
        one.what for one in events(spec(heartbeats=5000, disorder=100, slack=200)) if one.kind == "heartbeat"
    ]
    assert promise == 4900


def test_held_up_elements_come_at_once() -> None:
    found = events(spec(idle=[{"since": 2000, "until": 4000}]))
    at_once = [one.what[0] for one in found if one.at == 4000 and isinstance(one.what, tuple)]
    assert at_once == list(range(2000, 4001, 20))


def test_phases_that_meet_are_one() -> None:
    found = events(spec(idle=[{"since": 2000, "until": 3000}, {"since": 3000, "until": 4000}]))
    assert sum(one.at == 4000 for one in found) == 101


def test_heartbeats_go_on_but_promise_no_more() -> None:
    found = events(spec(heartbeats=500, idle=[{"since": 2100, "until": 4000}]))
    promised = {one.at: one.what for one in found if one.kind == "heartbeat"}
    assert promised[2000] == 2000
    assert promised[2500] == promised[3500] == 2100, "the first that is held up starts there"
    assert promised[4500] == 4500
    silent = events(spec(heartbeats=500, idle=[{"since": 2100, "until": 4000, "heartbeats": False}]))
    assert not [one for one in silent if 2100 <= one.at < 4000]


@pytest.mark.parametrize(
    "changes",
    [
        {"arrivals": {"process": "poisson", "rate": {"steps": {0: 1, 10: -1}}}},
        {"columns": {"k": {"values": "uniform", "low": 5, "high": {"linear": {0: 9, 10: 4}}}}},
        {
            "columns": {
                "k": {
                    "values": "uniform",
                    "low": {"steps": {0: 95, 10: 0}},
                    "high": {"linear": {0: 100, 10: 90}},
                }
            }
        },
        {"columns": {"k": {"values": "normal", "mean": 5, "deviation": -1}}},
        {"columns": {"k": {"values": "choice", "of": {"a": 0, "b": {"steps": {0: 1, 10: 0}}}}}},
        {"idle": [{"since": 0, "until": 10}, {"since": 9, "until": 20}]},
        {"lag": {"steps": {0: -1}}},
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        spec(**changes)


# Recorded streams.


@pytest.fixture
def recording(tmp_path: Path) -> Callable[..., StreamSpec]:
    file = tmp_path / "bids.csv"
    file.write_text("when,item,house,price\n100,7,A,1.5\n104,8,B,2.5\n105,9,A,3.5\n109,7,A,4.5\n")

    def recorded(**trace: Any) -> StreamSpec:
        return spec(
            columns={
                "item": {"values": "recorded", "type": "integer"},
                "cost": {"values": "recorded", "type": "float", "column": "price"},
            },
            arrivals={"process": "trace", "path": file, "time": "when", "unit": "s", **trace},
        )

    return recorded


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ({}, [(0, 7, 1.5), (4000, 8, 2.5), (5000, 9, 3.5), (9000, 7, 4.5)]),
        ({"speed": 2.0}, [(0, 7, 1.5), (2000, 8, 2.5), (2500, 9, 3.5), (4500, 7, 4.5)]),
        ({"speed": 0.5}, [(0, 7, 1.5), (8000, 8, 2.5)]),
        ({"limit": 2}, [(0, 7, 1.5), (4000, 8, 2.5)]),
        ({"offset": "3 s"}, [(3000, 7, 1.5), (7000, 8, 2.5), (8000, 9, 3.5)]),
        ({"origin": 104}, [(0, 8, 2.5), (1000, 9, 3.5), (5000, 7, 4.5)]),
        ({"where": {"house": "A"}}, [(0, 7, 1.5), (5000, 9, 3.5), (9000, 7, 4.5)]),
        ({"where": {"house": "A", "item": 9}}, [(0, 9, 3.5)]),
        ({"unit": "ms"}, [(0, 7, 1.5), (4, 8, 2.5), (5, 9, 3.5), (9, 7, 4.5)]),
    ],
    ids=str,
)
def test_trace(
    recording: Callable[..., StreamSpec], trace: dict[str, Any], expected: list[tuple[int, int, float]]
) -> None:
    found = elements(recording(**trace))
    assert found == [(start, start + 1, (item, cost)) for start, item, cost in expected]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_trace_in_another_format(recording: Callable[..., StreamSpec], tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"bids{suffix}"
    if suffix == ".jsonl":
        file.write_text('{"when": 100, "item": 7, "price": 1.5}\n{"when": 104, "item": 8, "price": 2.5}\n')
    else:
        pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'midstream[arrow]'")
        from pyarrow import parquet

        parquet.write_table(pa.table({"when": [100, 104], "item": [7, 8], "price": [1.5, 2.5]}), file)
    assert elements(recording(path=file)) == [(0, 1, (7, 1.5)), (4000, 4001, (8, 2.5))]


def test_trace_with_drawn_columns(recording: Callable[..., StreamSpec]) -> None:
    stream = recording()
    drawn = spec(columns={"n": {"values": "sequence"}}).columns
    mixed = stream.model_copy(update={"columns": {**drawn, **stream.columns}})
    assert [payload for _, _, payload in elements(mixed)][:2] == [(0, 7, 1.5), (1, 8, 2.5)]


def test_trace_that_is_not_there(recording: Callable[..., StreamSpec], tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"stream s: .*no\.csv: found no such file, .*--data.*MIDSTREAM"):
        elements(recording(path=tmp_path / "no.csv"))


def test_trace_out_of_order(recording: Callable[..., StreamSpec], tmp_path: Path) -> None:
    file = tmp_path / "turned.csv"
    file.write_text("when,item,price\n5,1,1\n4,1,1\n")
    with pytest.raises(
        InputFileError,
        match=r"turned\.csv, line 3: found a row of 4 behind one of 5, expected rows in order of when",
    ):
        elements(recording(path=file))


def test_a_trace_of_integers_needs_a_unit(recording: Callable[..., StreamSpec], tmp_path: Path) -> None:
    file = tmp_path / "epoch.csv"
    file.write_text("when,item,price\n1359712560000,1,1\n1359712560500,1,1\n")
    with pytest.raises(InputFileError, match="look like milliseconds since 1970, from 2013-02-01T09:56:00"):
        elements(recording(path=file, unit=None))
    with pytest.raises(InputFileError, match="expected unit: milliseconds in the arrivals of stream s"):
        elements(recording(path=file, unit=None))
    with pytest.raises(ValueError, match="a unit, as the origin is an integer"):
        recording(path=file, unit=None, origin=1359712560000)


def test_a_trace_of_dates_keeps_their_resolution(
    recording: Callable[..., StreamSpec], tmp_path: Path
) -> None:
    file = tmp_path / "dates.csv"
    file.write_text("when,item,price\n2013-02-01 09:56:00.250,1,1\n2013-02-01 09:56:01,1,1\n")
    assert [start for start, _, _ in elements(recording(path=file, unit=None))] == [0, 750]
    file.write_text("when,item,price\n2013-02-01 09:56:01,1,1\n2013-02-01 09:56:00.5,1,1\n")
    with pytest.raises(InputFileError, match=r"line 3: found a row of 2013-02-01T09:56:00\.5"):
        elements(recording(path=file, unit=None))


def test_seeds_are_not_hashes() -> None:
    # A hash of a text differs from process to process; this is what it must be in each of them.
    assert elements(spec(count=4)) == [(0, 1, (3,)), (20, 21, (9,)), (40, 41, (3,)), (60, 61, (8,))]
