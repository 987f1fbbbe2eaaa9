"""`midstream chart`: which plan is best where, from the optimizer or from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from midstream.cli import app
from midstream.optimizer.charts.chart import Chart, ChartError
from midstream.optimizer.charts.dimension_requests import dimension_request

SCRIPT = """
CREATE STREAM bids(ts TIMESTAMP, item INT, price FLOAT) ORDERED BY ts TIME_UNIT s;
CREATE STREAM items(ts TIMESTAMP, item INT, seller INT) ORDERED BY ts TIME_UNIT s;
CREATE STREAM people(ts TIMESTAMP, person INT, city STRING) ORDERED BY ts TIME_UNIT s;
SELECT bids.price FROM bids WINDOW(RANGE 60 SECONDS), items WINDOW(RANGE 600 SECONDS),
    people WINDOW(RANGE 600 SECONDS)
WHERE bids.item = items.item AND items.seller = people.person AND people.city = 'Aarhus';
"""
CITY = "selectivity(city = 'Aarhus')"
ALONG = ("--along", "rate(bids)=0.1..4", "--along", f"{CITY}=0..1", "--parts", "4")
FIRST = "((people | city = 'Aarhus') ⋈ items) ⋈ bids"
SECOND = "(bids ⋈ items) ⋈ (people | city = 'Aarhus')"


def known(bids: float, city: float | None = None) -> str:
    """A line with statistics, of so many bids a second."""
    streams = {"bids": {"d": 1 / bids}, "items": {"d": 0.5}, "people": {"d": 0.5}}
    shares = {} if city is None else {"city = 'Aarhus'": city}
    return json.dumps({"midstream_statistics": 1, "streams": streams, "selectivities": shares})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.sql").write_text(SCRIPT)
    rounds = [(1, 0.1), (0.9, 0.2), (0.9, 0.2), (0.1, 0.9), (1, 0.1)]
    (tmp_path / "seen.jsonl").write_text("\n".join(known(*one) for one in rounds) + "\n\n")
    return tmp_path


def invoke(*given: str) -> Result:
    result = CliRunner().invoke(app, ["chart", *given], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def refused(*given: str) -> str:
    result = invoke(*given)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr


def test_a_chart_as_text(folder: Path) -> None:
    """By how often people come from the city, and bids come, it is better to join people first, or last."""
    result = invoke("q.sql", *ALONG)
    assert result.exit_code == 0, result.output
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[:9] == [
        "2 plans, 2 regions, 16 places",
        f"1  {FIRST}   62 % of the places",
        f"2  {SECOND}   38 % of the places",
        "",
        f"  {CITY}, up, from 0 to 1",
        "  2221",
        "  2211",
        "  2111",
        "  1111",
    ]
    assert f"plan 2: {SECOND}" in lines and "   └─ join items.seller = people.person" in lines


def test_a_chart_is_saved_and_read_again(folder: Path) -> None:
    assert invoke("q.sql", *ALONG, "--output", "chart.json").exit_code == 0
    saved = Chart.loads((folder / "chart.json").read_text())
    assert [one.name for one in saved.dimensions] == ["rate(bids)", CITY]
    told = json.loads(invoke("chart.json", "--seen", "seen.jsonl", "--json").stdout)
    assert told["chart"] == json.loads((folder / "chart.json").read_text())
    assert told["names"] == [FIRST, SECOND]
    assert told["way"] == {"rounds": 5, "moves": 2, "switches": 2, "plans": [0, 0, 0, 1, 0]}
    assert told["regions"] == 2
    assert "way" not in json.loads(invoke("chart.json", "--json").stdout)


def test_ranges_are_learned_from_what_was_seen(folder: Path) -> None:
    told = json.loads(
        invoke("q.sql", "--seen", "seen.jsonl", "--along", "rate(bids)", "--along", CITY, "--json").stdout
    )
    rate, city = told["chart"]["dimensions"]
    assert (rate["low"], rate["high"]) == (0.0, pytest.approx(1 + 0.15 * 0.9))
    assert (city["low"], city["high"]) == (0.0, 1.0)
    assert rate["parts"] == city["parts"] == 10
    assert "5 rounds: 2 moves to another place" in invoke("q.sql", "--seen", "seen.jsonl", *ALONG).stdout


def test_what_is_known_gives_ranges_of_rates(folder: Path) -> None:
    (folder / "stats.json").write_text(known(4.0))
    call = ("q.sql", "--stats", "stats.json", "--along", "rate(bids)", "--parts", "2", "--json")
    (rate,) = json.loads(invoke(*call).stdout)["chart"]["dimensions"]
    assert (rate["low"], rate["high"], rate["logarithmic"]) == (0.0, 8.0, False)
    (rate,) = json.loads(invoke(*call, "--logarithmic").stdout)["chart"]["dimensions"]
    assert (rate["low"], rate["high"], rate["logarithmic"]) == (0.4, 40.0, True)


def test_by_default_the_rates_of_all_streams_change(folder: Path) -> None:
    told = json.loads(invoke("q.sql", "--parts", "2", "--json").stdout)
    names = [one["name"] for one in told["chart"]["dimensions"]]
    assert sorted(names) == ["rate(bids)", "rate(items)", "rate(people)"]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_picture(folder: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")
    result = invoke("q.sql", *ALONG, "--seen", "seen.jsonl", "--picture", f"chart{suffix}")
    assert result.exit_code == 0, result.output
    drawn = (folder / f"chart{suffix}").read_bytes()
    assert drawn.startswith(b"\x89PNG") if suffix == ".png" else drawn.rstrip().endswith(b"</svg>")


def test_a_picture_needs_matplotlib(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midstream.io.requirements.find_spec", lambda name: None)
    assert 'pip install "midstream[plot]"' in refused("q.sql", *ALONG, "--picture", "chart.png")


def test_standard_output_has_the_chart_alone(folder: Path) -> None:
    result = invoke("q.sql", *ALONG, "--output", "-")
    assert len(Chart.loads(result.stdout).plans) == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--along", "rate(bid)"), "found 'rate(bid)', expected one of rate(bids), rate(items)"),
        (("--along", "bids=1..2"), "--along: found 'bids=1..2', expected rate(STREAM)"),
        (("--along", "rate(bids)=1..x"), "--along: found 'rate(bids)=1..x', expected rate(STREAM)"),
        (("--along", "rate(bids)=2..1"), "found [2.0, 1.0], expected a range with a length"),
        (("--along", "rate(bids)=0..1", "--logarithmic"), "found a logarithmic range from 0.0"),
        (("--parts", "90"), "found 729,000 places in 3 dimensions, expected 100,000 at most"),
        (("--objective", "speed"), "speed"),
        (("--picture", "chart.gif"), "expected a picture's name to end in .png or .svg"),
        (("--seen", "q.sql"), "q.sql, line 2: "),
        (
            ("--seen", "untold.jsonl", "--along", CITY),
            "found nothing of selectivity(city = 'Aarhus') in round 1",
        ),
    ],
)
def test_bad_input_is_told(folder: Path, given: tuple[str, ...], told: str) -> None:
    (folder / "untold.jsonl").write_text(known(1.0))
    assert told in refused("q.sql", *given)


def test_one_query_is_expected(folder: Path) -> None:
    (folder / "two.sql").write_text(SCRIPT + "SELECT price FROM bids;")
    assert "found 2 queries, expected one to make a chart of" in refused("two.sql")


def test_of_a_saved_chart_nothing_changes(folder: Path) -> None:
    assert invoke("q.sql", *ALONG, "--output", "chart.json").exit_code == 0
    (folder / "stats.json").write_text(known(4.0))
    assert "--along: found one beside a chart" in refused("chart.json", "--along", "rate(bids)")
    assert "--stats: found one beside a chart" in refused("chart.json", "--stats", "stats.json")
    assert "stats.json: chart: found {'format': None" in refused("stats.json")


def test_ranges_stand_behind_conditions_that_have_equal_signs() -> None:
    one = dimension_request(" selectivity((a = 1) and (b = '1..2')) = 0.25 .. 1e-0 ")
    assert (one.name, one.range) == ("selectivity((a = 1) and (b = '1..2'))", (0.25, 1.0))
    assert dimension_request("selectivity(b = ')=1..2')").range is None
    with pytest.raises(ChartError, match="--along: found ''"):
        dimension_request("")
