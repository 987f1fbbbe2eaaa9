"""No file takes all memory or time: what is parsed has limits, and errors name them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import midstream as ms
from midstream.cli import app
from midstream.io.relations import load_csv
from midstream.io.sources import arrivals
from midstream.io.text_file import MOST_BYTES
from midstream.plans.algebra import serialise
from midstream.plans.values.errors import InputFileError, PlanFormatError, SqlError
from midstream.plans.values.schema import Schema
from midstream.scenarios.streams.recorded.script import load_study
from midstream.scenarios.streams.yaml_file import DEEPEST, MOST_PARTS, read_yaml

SCRIPT = (
    "SET time_unit = 'milliseconds';\nCREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts;\nSELECT x FROM s"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a script, and rows for it."""
    monkeypatch.chdir(tmp_path)
    Path("s.sql").write_text(SCRIPT)
    Path("s.csv").write_text("ts,x\n1,7\n2,8\n")
    return tmp_path


def refused(*arguments: str, stdin: str | None = None) -> str:
    """What a command says that refuses its input."""
    result: Result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert isinstance(result.exception, SystemExit), result.exception
    return " ".join(result.stderr.split())


def bomb(levels: int, width: int = 9) -> str:
    """Aliases of aliases."""
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return "\n".join(lines)


def test_aliases_of_aliases_are_counted() -> None:
    Path("bomb.yaml").write_text(bomb(9))
    found = refused("simulate", "bomb.yaml")
    assert found.startswith("midstream: bomb.yaml, line ")
    assert f": found more than {MOST_PARTS:,} parts, with those of aliases, expected" in found


def test_a_few_aliases_are_fine() -> None:
    assert len(read_yaml("few.yaml", bomb(3)).data["a2"][8][8]) == 9


def test_yaml_may_not_nest_without_end() -> None:
    fine = "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    assert read_yaml("deep.yaml", f"a: {fine}").data
    with pytest.raises(InputFileError, match=rf"deep\.yaml, line 1.*nested {DEEPEST + 1} levels deep"):
        read_yaml("deep.yaml", f"a: [{fine}]")
    Path("deep.yaml").write_text("a: " + "[" * 100_000)
    assert f"expected at most {DEEPEST} levels" in refused("simulate", "deep.yaml")


def test_numbers_may_be_too_long() -> None:
    with pytest.raises(InputFileError, match=r"long\.yaml, line 1, a: found a number of 5000 digits"):
        read_yaml("long.yaml", f"a: {'9' * 5000}")
    Path("long.sql").write_text(f"{SCRIPT} WHERE x > {'9' * 5000}")
    with pytest.raises(SqlError, match=r"long\.sql, line 3, column 27: found a number of 5000 digits"):
        load_study("long.sql")
    with pytest.raises(PlanFormatError, match="this is no JSON: Exceeds the limit"):
        ms.loads("9" * 5000)


@pytest.mark.parametrize("command", [("explain",), ("study", "profile")], ids=" ".join)
def test_sql_may_not_nest_without_end(command: tuple[str, ...]) -> None:
    Path("deep.sql").write_text(f"{SCRIPT} WHERE x > {'(' * 100_000}1{')' * 100_000}")
    found = refused(*command, "deep.sql")
    assert "deep.sql, line 3, column 127: found brackets 101 deep, expected 100 at most" in found


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "long.sql"),
        ("explain", "long.sql"),
        ("explain", "/dev/zero"),
        ("migrate", "s.sql", "--at", "1", "--to", "long.sql"),
        ("simulate", "long.yaml"),
        ("study", "profile", "long.sql"),
    ],
)
def test_files_that_are_read_as_a_whole_may_not_be_too_long(arguments: tuple[str, ...]) -> None:
    for suffix in ("sql", "yaml"):
        Path(f"long.{suffix}").write_text(" " * (MOST_BYTES + 1))
    found = refused(*arguments)
    assert f"{arguments[-1]}: found more than {MOST_BYTES:,} bytes, expected fewer" in found


def test_nor_may_standard_input() -> None:
    message = f"standard input: found more than {MOST_BYTES:,} bytes"
    assert message in refused("explain", "-", stdin=" " * (MOST_BYTES + 1))


def test_a_script_of_the_longest_kind_is_read() -> None:
    Path("s.sql").write_text(SCRIPT + " " * (MOST_BYTES - len(SCRIPT)))
    assert CliRunner().invoke(app, ["explain", "s.sql"]).exit_code == 0


def plan(condition: Any = None) -> dict[str, Any]:
    """A filter over a stream, as JSON."""
    found: dict[str, Any] = json.loads(ms.dumps(ms.stream("s", x="integer?").filter(ms.col("x") > 0).plan()))
    if condition is not None:
        found["nodes"][1]["condition"] = condition
    return found


def stacked(operator: dict[str, Any], inputs: int, count: int) -> str:
    """So many times an operator, above each other, each with the one below as its inputs."""
    found = plan()
    found["nodes"][1:] = [{**operator, "inputs": [i] * inputs} for i in range(count)]
    found["outputs"] = dict.fromkeys(found["outputs"], count)
    return json.dumps(found)


S = ms.stream("s", x="integer?")
UNION = json.loads(ms.dumps(S.union(S).plan()))["nodes"][1]


def test_shared_operators_are_counted_each_time() -> None:
    with pytest.raises(PlanFormatError, match=r"node 13: found more than 10,000 operators, with shared ones"):
        ms.loads(stacked(UNION, 2, 60))
    Path("bomb.json").write_text(stacked(UNION, 2, 60))
    found = refused("migrate", "s.sql", "--source", "s=s.csv", "--at", "1", "--to", "bomb.json")
    assert found.startswith("midstream: bomb.json: node 13: found more than 10,000 operators")


def test_operators_may_not_stand_in_endless_rows() -> None:
    few = serialise.LONGEST_ROW - 1
    ms.Engine(ms.loads(stacked(plan()["nodes"][1], 1, few)))
    with pytest.raises(
        PlanFormatError, match=f"found {few + 2} operators in a row, expected at most {few + 1}"
    ):
        ms.loads(stacked(plan()["nodes"][1], 1, few + 1))


def test_json_may_not_nest_without_end() -> None:
    text = json.dumps(plan())
    condition = json.dumps(plan()["nodes"][1]["condition"])
    negation = json.dumps(
        json.loads(ms.dumps(ms.stream("s", x="integer?").filter(~(ms.col("x") > 0)).plan()))["nodes"][1][
            "condition"
        ]
    )
    before, after = negation.split(condition)

    def negated(times: int) -> str:
        return text.replace(condition, before * times + condition + after * times)

    assert ms.loads(negated(50))
    with pytest.raises(PlanFormatError, match="expected at most 250"):
        ms.loads(negated(300))
    for depth in (2_000, 200_000):
        with pytest.raises(PlanFormatError, match="expected at most 250"):
            ms.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize("name", ["s.csv", "s.jsonl", "s.csv.gz"])
def test_lines_may_not_be_without_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "LONGEST_LINE", 100_000)
    text = (b"" if name.endswith(".jsonl") else b"ts,x\n1,") + b"7" * 200_000
    with gzip.open(name, "wb") if name.endswith(".gz") else open(name, "wb") as file:
        file.write(text)
    found = refused("run", "s.sql", "--source", f"s={name}")
    assert found == f"midstream: {name}: found a line of more than 100,000 bytes, expected fewer"


def test_nor_those_of_relations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "LONGEST_LINE", 100_000)
    Path("r.csv").write_text("x\n" + "7" * 200_000)
    with pytest.raises(InputFileError, match=r"r\.csv: found a line of more than 100,000 bytes"):
        load_csv("r.csv", Schema.of(x="string"))
