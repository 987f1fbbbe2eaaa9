"""Cases of migrations: the same from a process alone and from executors, and what the command does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from midstream.migration.strategies import STRATEGIES
from midstream.scenarios.stages.commands import app
from midstream.scenarios.stages.verify.case_runs import Draw, Findings, shrunk, try_seeds, verify
from midstream.testing.families import KINDS

ALL = Draw(tuple(KINDS), tuple(STRATEGIES))
BROKEN = Draw(tuple(KINDS), tuple(STRATEGIES), "split-too-early")


def invoke(*given: str) -> Result:
    return CliRunner().invoke(app, ["verify", *given])


@pytest.mark.spark
def test_executors_find_what_a_process_finds(spark: Any) -> None:
    from midstream.scenarios.stages.verify.case_jobs import try_on_executors

    seeds = range(3, 63)
    found, alone = try_on_executors(spark, BROKEN, seeds), try_seeds(seeds, BROKEN)
    assert found.counts == alone.counts
    assert found.number("broken") > 0
    assert found.broken[0] == alone.broken[0]
    assert {one.seed for one in alone.broken} <= {one.seed for one in found.broken}
    assert not spark.catalog.listTables()


def test_seeds_are_tried_until_so_many_count() -> None:
    tried: list[range] = []

    def portion(seeds: range) -> Findings:
        tried.append(seeds)
        found = Findings()
        found.counts["genmig", "counted"] = len(seeds) // 3
        found.counts["genmig", "empty"] = len(seeds) - len(seeds) // 3
        return found

    found = verify(portion, 1_000, 7)
    assert found.number("counted") >= 1_000
    assert [seeds.start for seeds in tried] == [7, *(seeds.stop for seeds in tried[:-1])]
    assert sum(map(len, tried)) == found.tried < 4_000


def test_a_case_that_breaks_the_law_ends_it() -> None:
    found = verify(lambda seeds: try_seeds(seeds[:20], BROKEN), 10**6, 40)
    assert found.tried == 20
    assert found.number("broken") >= len(found.broken) > 0
    smaller = shrunk(found.broken[0], ALL)
    assert (smaller.seed, smaller.is_shrunk) == (found.broken[0].seed, False)  # without the fault it holds


def test_the_command_tells_what_was_tried() -> None:
    result = invoke("--master", "none", "--cases", "5", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["counted"] >= 5
    assert told["seeds"] == sum(n for one in told["by_strategy"].values() for n in one.values())
    text = invoke("--master", "none", "--cases", "1").stdout
    assert re.search(r"\d+ cases, seeds 1 to \d+", text)
    assert "None breaks the law." in text


@pytest.mark.slow
def test_a_counter_example_is_written_and_tried_again(tmp_path: Path) -> None:
    """No other process is needed to see it: the file has the case itself, and the fault's name."""
    few = ("--cases", "5", "--kinds", "plain", "--strategies", "genmig", "--mutant", "split-too-early")
    result = invoke("--master", "none", *few, "--output", str(tmp_path))
    assert result.exit_code == 1, result.output
    summary = json.loads((tmp_path / "verify.json").read_text())
    one = summary["counter_example"]
    file = tmp_path / f"counter-example-{one['seed']}.json"
    assert json.loads(file.read_text()) == one
    assert one["is_shrunk"]
    assert len(json.dumps(one["case"])) < 2 / 3 * len(json.dumps(one["drawn"]))
    again = CliRunner().invoke(app, ["verify-case", str(file)])
    assert (again.exit_code, one["failure"] in again.stdout) == (1, True)
    file.write_text(json.dumps({**one, "mutant": None}))
    assert CliRunner().invoke(app, ["verify-case", str(file)]).exit_code == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--strategies", "genmig,none"], "found none, expected some of swap"),
        (["--kinds", "none"], "found none, expected some of plain"),
        (["--mutant", "none"], "found 'none', expected one of reference-point-below-aggregation"),
        (["--mutant", "nothing-is-shared"], "this is out of reach: it takes two queries"),
    ],
)
def test_bad_options(given: list[str], message: str) -> None:
    result = invoke("--master", "none", *given)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"case": {}, "mutant": null}'])
def test_a_file_without_a_case_is_told(text: str, tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(text)
    result = CliRunner().invoke(app, ["verify-case", str(file)])
    assert "found no counter-example" in str(result.exception)


def test_the_page_shows_what_the_command_prints(root: Path) -> None:
    """The numbers belong to one version of hypothesis; what is around them does not."""
    page = root / "docs" / "studies.md"
    if not page.exists():
        pytest.skip("the documents are not next to the tests")
    section = page.read_text(encoding="utf-8").partition("## Verifying migrations at random")[2]
    call, _, sample = section.partition("$ midstream study verify ")[2].partition("\n")
    shown, told = sample.partition("\n```")[0], invoke(*call.split(), "--cases", "1").stdout

    def form(text: str) -> list[str]:
        return [re.sub(r"[ \d─]+", " ", line).strip() for line in text.splitlines() if line.strip()]

    assert form(shown) == form(told)
    options = set(re.findall(r"--[a-z]+", section.partition("\n## ")[0]))
    assert options <= set(re.findall(r"--[a-z]+", invoke("--help").stdout))
