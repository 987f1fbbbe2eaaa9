"""How often charts choose the best plan: what comes from round to round, and what becomes of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

import pytest

from midstream.optimizer.charts.chart import Dimension
from midstream.optimizer.charts.fidelity import Followed, follow
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.trials.fidelity.experiments import three_orders, two_filters
from midstream.scenarios.trials.fidelity.following import Fidelity, estimates, fidelities
from midstream.scenarios.trials.fidelity.traces import (
    ROUNDS,
    RoundTrace,
    decreasing,
    packet_lengths,
    packet_rates,
    uncorrelated,
    within_a_quarter,
)


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packets of three rounds of 250 ms, the second of which has no TCP."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "splus_net_packet").mkdir()
    rows = ["0,TCP,64", "10,TCP,20", "20,NFS,", "249,TCP,576", "250,XWIN,", "700,TCP,64", "749,NFS,"]
    text = "\n".join(["ts_ms,seq,type,length", *(row.replace(",", ",1,", 1) for row in rows)])
    (folder / "splus_net_packet" / "packets.csv").write_text(text)
    return folder


def test_shares_of_packets(packets: Path) -> None:
    """64 is both 64 or less, and 64 or more."""
    assert packet_lengths(packets).points == [(2 / 3, 2 / 3), (1.0, 1.0)]


def test_rates_of_packets(packets: Path) -> None:
    trace = packet_rates(packets)
    assert trace.points == [(12.0, 4.0, 0.4), (0.4, 0.4, 4.0), (4.0, 4.0, 0.4)]
    assert trace.ranges == [(0.4, 12.0), (0.4, 4.0), (0.4, 4.0)]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"packets\.csv: No such file"):
        packet_lengths(tmp_path)


def test_uncorrelated_values() -> None:
    trace = uncorrelated(2, 2.0)
    x, y = zip(*trace.points, strict=True)
    assert len(x) == ROUNDS and min(x) > 0 and max(x) < 2
    assert abs(mean(x) - 1) < 0.1 and abs(mean(a * b for a, b in zip(x, y, strict=True)) - 1) < 0.15
    inner = [value for point in within_a_quarter(2, 2.0).points for value in point]
    assert min(inner) >= 0.75 and max(inner) <= 1.25


def test_the_variation_decreases() -> None:
    """From a coefficient of 0.26 to one of 0.09."""
    values = [x for seed in range(40) for (x,) in decreasing(1, 2.0, 100, seed).points[:5]]
    later = [x for seed in range(40) for (x,) in decreasing(1, 2.0, 100, seed).points[-5:]]
    assert abs(stdev(values) / mean(values) - 0.26) < 0.06
    assert abs(stdev(later) / mean(later) - 0.09) < 0.03


def test_estimates_know_nothing_of_the_round_itself() -> None:
    points = [(float(i), 1.0) for i in range(30)]
    other = [*points[:20], *((99.0, 9.0) for _ in range(10))]
    assert estimates(points)[:21] == estimates(other)[:21]
    weights = [math.exp(-0.5 * r) for r in range(1, 11)]
    expected = sum(w * (29 - r) for r, w in enumerate(weights, 1)) / sum(weights)
    assert estimates(points)[29] == (pytest.approx(expected), pytest.approx(1.0))


def test_equal_plans_are_both_the_best() -> None:
    assert two_filters().best((0.5, 0.5)) == [0, 1]
    assert two_filters().best((0.2, 0.5)) == [0]
    assert three_orders().best((1.0, 1.0, 1.0)) == [0, 1, 2]
    # The two slowest streams are joined first: a and b, a and c, b and c.
    assert [three_orders().best(rates) for rates in ((1, 1, 9), (1, 9, 1), (9, 1, 1))] == [[0], [1], [2]]
    assert len(three_orders(4).plans) == 6


def test_a_trace_that_stays_has_hits_only() -> None:
    trace = RoundTrace("stays", [(0.3, 0.6)] * 40, [(0.0, 1.0)] * 2)
    found = list(fidelities(replace(two_filters(), parts=(5, 6)), trace))
    assert len(found) == 6 * 2
    for one in found:
        assert one.followed.fidelity == 1.0, one
        assert (one.followed.moves, one.followed.switches, one.charts) == (0, 0, 1)
    rounds = {(one.seen, one.over): one.followed.rounds for one in found}
    # The first round has no estimate, and the first 15 are not enough to learn ranges.
    assert rounds["as they are", "given"] == 40 and rounds["estimated", "given"] == 39
    assert rounds["as they are", "learned"] == 25 and rounds["estimated", "learned, logarithmic"] == 24


@pytest.mark.slow
def test_where_values_stay_within_a_quarter_of_the_ranges_the_headline_is_found() -> None:
    """OM: 80 % for k = 10, 95 % for k = 40. docs/charts.md tells why."""
    experiment, trace = two_filters(), within_a_quarter(2, 1.0)
    rounds = [(point, experiment.best(point)) for point in trace.points]

    def share(k: int, low: float, high: float) -> float:
        dimensions = [Dimension(name, low, high, k) for name in experiment.names]
        return follow(experiment.chart(dimensions), rounds).fidelity or 0.0

    assert share(10, 0.0, 1.0) == pytest.approx(0.80, abs=0.03)
    assert share(40, 0.0, 1.0) == pytest.approx(0.95, abs=0.03)
    # Ranges that fit do with a quarter of the parts.
    assert share(10, 0.375, 0.625) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize(("k", "percent"), [pytest.param(2, 64, marks=pytest.mark.slow), (4, 82)])
def test_orders_of_a_join_over_k(k: int, percent: int) -> None:
    """docs/charts.md tells these figures."""
    experiment, trace = three_orders(), uncorrelated(3, 2.0)
    chart = experiment.chart([Dimension(name, 0.0, 2.0, k) for name in experiment.names])
    found = follow(chart, [(point, experiment.best(point)) for point in trace.points])
    assert round(100 * (found.fidelity or 0)) == percent


def test_facts_of_a_run_that_follows() -> None:
    one = Fidelity("two filters", "x", "as they are", "given", 10, Followed(10, 8, 2, 1), 1)
    assert one.followed.fidelity == 0.8
