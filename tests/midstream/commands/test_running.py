"""What `midstream run` writes means what the catalog's plan means, wherever rows come from and results go."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sql_oracle.data import Table, World, generated
from sql_oracle.queries import Query, read
from typer.testing import CliRunner, Result

from midstream.arrivals import interleave
from midstream.cli import app
from midstream.commands import running
from midstream.commands.running import RunSettings, RunSummary, run_queries
from midstream.console.state_line import State
from midstream.engine import Engine
from midstream.operators.engine.input.relations import constant
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.instants import iso_format
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import FOREVER, Element
from midstream.plans.values.units import MILLISECONDS, TimeUnit

QUERIES = {
    query.name: query
    for file in (Path(__file__).parents[2] / "sql" / "queries").glob("*.sql")
    for query in read(file)
}
FORMATS = ("csv", "jsonl", "parquet")

CHOSEN = (
    "range-in-minutes",
    "slide",
    "rows",
    "partitioned",
    "rows-unbounded",
    "comma-join",
    "three-way-join",
    "self-join",
    "join-with-a-relation",
    "left-join",
    "equal-to-a-maximum",
    "not-in-a-query",
    "not-exists-on-equality",
    "all-of-groups",
    "or-with-exists",
    "union-in-from",
)


def invoke(*arguments: object, stdin: str | None = None) -> Result:
    """`midstream run` in this process."""
    return CliRunner().invoke(app, ["run", *map(str, arguments)], input=stdin)


@pytest.fixture(scope="module")
def world() -> World:
    """The oracle's streams; no text is empty, which CSV cannot tell from NULL."""
    made = generated()
    return replace(made, sources=[replace(table, rows=_known_texts(table)) for table in made.sources])


def _known_texts(table: Table) -> list[Any]:
    return [(t, tuple(None if value == "" else value for value in row)) for t, row in table.rows]


def dated(table: Table, unit: TimeUnit) -> Table:
    """A table whose timestamps are texts in ISO 8601."""
    show = iso_format(unit.nanoseconds)
    moments = [kind.split()[0] == "TIMESTAMP" for kind in table.columns.values()]

    def row(values: Iterable[Any]) -> tuple[Any, ...]:
        pairs = zip(values, moments, strict=True)
        return tuple(show(value) if is_moment and value is not None else value for value, is_moment in pairs)

    return replace(table, rows=[(show(t), row(values)) for t, values in table.rows])


def write(table: Table, file: Path) -> None:
    """A table in the format that the name of a file says."""
    names = [*table.columns, "ts"]
    if file.suffix == ".parquet" and any(isinstance(t, str) for t, _ in table.rows):
        pq.write_table(
            pa.table([pa.array(c) for c in zip(*[(*row, t) for t, row in table.rows], strict=True)], names),
            file,
        )
        return
    if file.suffix == ".parquet":
        values = list(zip(*[(*row, t) for t, row in table.rows], strict=True))
        kinds = {
            "INTEGER": pa.int64(),
            "TIMESTAMP": pa.int64(),
            "DOUBLE": pa.float64(),
            "BOOLEAN": pa.bool_(),
        }
        types = [kinds.get(kind.split()[0], pa.string()) for kind in table.columns.values()]
        arrays = [pa.array(column, kind) for column, kind in zip(values, [*types, pa.int64()], strict=True)]
        pq.write_table(pa.table(arrays, names), file)
        return
    with file.open("w", newline="", encoding="utf-8") as lines:
        if file.suffix == ".csv":
            writer = csv.writer(lines)
            writer.writerow(names)
            writer.writerows((*row, t) for t, row in table.rows)
        else:
            for t, row in table.rows:
                lines.write(json.dumps(dict(zip(names, (*row, t), strict=True))) + "\n")


def chronon(time: Any, unit: TimeUnit) -> int:
    """The chronon of a time in a file of results: an integer, a text, or a timestamp of Parquet."""
    if isinstance(time, datetime):
        time = str(time)
    if isinstance(time, str) and not time.lstrip("-").isdigit():
        found = unit.instant(time)
        assert found is not None
        return found
    return int(time)


def written(file: Path, schema: Schema, unit: TimeUnit = MILLISECONDS) -> list[Element]:
    """The results in a file, which are in order of start."""
    rows: Iterable[tuple[Any, Any, tuple[Any, ...]]]
    if file.suffix == ".parquet":
        table = pq.read_table(file)
        rows = (
            (start, end, tuple(row)) for start, end, *row in zip(*table.to_pydict().values(), strict=True)
        )
        assert table.schema.names == ["start", "end", *schema.names]
    elif file.suffix == ".csv":
        header, *lines = csv.reader(file.read_text(encoding="utf-8").splitlines())
        assert header == ["start", "end", *schema.names]
        parse: list[Callable[[str], Any]] = [PARSERS[column.type] for column in schema]
        rows = (
            (start, end, tuple(p(v) if v else None for p, v in zip(parse, row, strict=True)))
            for start, end, *row in lines
        )
    else:
        rows = (
            (found["start"], found["end"], tuple(found["row"].values()))
            for found in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        )
    found: list[Element] = [
        (chronon(s, unit), FOREVER if e in (None, "") else chronon(e, unit), row) for s, e, row in rows
    ]
    assert [start for start, _, _ in found] == sorted(start for start, _, _ in found)
    return found


PARSERS: dict[Type, Callable[[str], Any]] = {
    Type.INTEGER: int,
    Type.FLOAT: float,
    Type.STRING: str,
    Type.BOOLEAN: lambda text: {"true": True, "false": False}[text.lower()],
    Type.ANY: json.loads,
}


def by_engine(catalog: Catalog, statement: str, world: World) -> tuple[Schema, list[Element]]:
    """What the plan of a statement's query gives, as it was translated."""
    plan = catalog.execute(statement)[-1].plan
    relations = {t.name: constant(row for _, row in t.rows) for t in world.sources if t.is_relation}
    results: list[Element] = []
    engine = Engine(plan, results.extend, relations=relations)
    rows = {name: world.tables[name.lower()].rows for name in engine.streams}
    for name, batch in interleave(
        {name: [(t, t + 1, row) for t, row in found] for name, found in rows.items()}
    ):
        engine.push(name, batch)
    engine.close()
    return plan.root.schema, results


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CHOSEN)), ids=CHOSEN)
@pytest.mark.parametrize("has_dates", [False, True])
def test_files_in_and_out_mean_what_the_plan_means(
    number: int, has_dates: bool, world: World, tmp_path: Path
) -> None:
    query: Query = QUERIES[CHOSEN[number]]
    catalog = Catalog(world.unit)
    catalog.execute(world.script())
    schema, expected = by_engine(catalog, query.statement(), world)
    assert expected
    script = tmp_path / "query.sql"
    script.write_text(f"SET time_unit = '{world.unit}';\n{world.script()}\n{query.statement()}")
    arguments: list[object] = [script]
    for position, table in enumerate(world.sources):
        form = FORMATS[(number + position) % 3]
        file = tmp_path / f"{table.name}.{'csv' if table.is_relation else form}"
        write(dated(table, catalog.unit) if has_dates and not table.is_relation else table, file)
        arguments += ["--source", f"{table.name.upper()}={file}"]
    for form in FORMATS:
        output = tmp_path / f"out.{form}"
        result = invoke(*arguments, "--output", output)
        assert (result.exit_code, result.stdout) == (0, ""), result.stderr
        verdict = equivalent(written(output, schema, catalog.unit), expected)
        assert verdict, str(verdict)
    assert (
        "T" in (tmp_path / "out.csv").read_text(encoding="utf-8").split("\n")[1].split(",")[0]
    ) == has_dates
    printed = invoke(*arguments).stdout
    assert printed == (tmp_path / "out.jsonl").read_text(encoding="utf-8")


TWO = """
SET time_unit = 'milliseconds';
CREATE STREAM a(ts TIMESTAMP, x INT) ORDERED BY ts;
CREATE STREAM b(ts TIMESTAMP, y INT) ORDERED BY ts;
SELECT a.x FROM a WINDOW(RANGE 50), b WINDOW(RANGE 50) WHERE a.x = b.y
"""


def two_files(
    folder: Path, first: Iterable[tuple[int, int]], second: Iterable[tuple[int, int]]
) -> RunSettings:
    """Files for the streams of TWO."""
    sources = {}
    for name, column, rows in (("a", "x", first), ("b", "y", second)):
        file = folder / f"{name}.csv"
        file.write_text(f"ts,{column}\n" + "".join(f"{t},{value}\n" for t, value in rows))
        sources[name] = str(file)
    return RunSettings(sources, str(folder / "out.jsonl"))


def watched(wishes: RunSettings, monkeypatch: pytest.MonkeyPatch) -> tuple[RunSummary, int, int]:
    """Run TWO; gives, besides its summary, the most elements that were kept, and the largest batch."""
    engines: list[Engine] = []
    sizes = [0]
    batches = [0]

    class Watched(Engine):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            engines.append(self)

        def push(self, stream: str, elements: Any) -> None:
            batches.append(len(elements))
            super().push(stream, elements)

    monkeypatch.setattr(running, "Engine", Watched)
    catalog = Catalog()
    queries = catalog.execute(TWO)
    summary = run_queries(catalog, queries, wishes, lambda *_: sizes.append(engines[0].size()))
    return summary, max(sizes), max(batches)


@pytest.mark.parametrize("skew", [0, 10**9], ids=["in-step", "far-apart"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_state_is_bounded_whichever_source_is_behind(
    skew: int, is_reversed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = [(t, t % 7) for t in range(30_000)]
    sparse = [(skew + t, t % 7) for t in range(0, 30_000, 5)]
    wishes = two_files(tmp_path, *((sparse, dense) if is_reversed else (dense, sparse)))
    summary, kept, largest = watched(wishes, monkeypatch)
    assert summary.elements == 36_000
    assert (summary.results["query_1"] > 0) == (skew == 0)
    assert kept <= 3 * largest < 30_000


def test_streams_that_are_far_out_of_step_meet(tmp_path: Path) -> None:
    first = [(t, t % 5) for t in range(0, 40_000, 40)]
    second = [(t, t % 5) for t in range(39_000, 40_000)]
    wishes = two_files(tmp_path, first, second)
    catalog = Catalog()
    queries = catalog.execute(TWO)
    run_queries(catalog, queries, wishes)
    results: list[Element] = []
    engine = Engine(queries[0].plan, results.extend)
    engine.push("b", [(t, t + 1, (y,)) for t, y in second])
    engine.push("a", [(t, t + 1, (x,)) for t, x in first])
    engine.close()
    verdict = equivalent(written(Path(wishes.output), queries[0].plan.root.schema), results)
    assert results and verdict, str(verdict)


DECLARED = "CREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts;\nSELECT x FROM s"
ONE = f"SET time_unit = 'ms'; {DECLARED}"


def one(folder: Path, rows: str, *arguments: object, script: str = ONE, header: str = "ts,x\n") -> Result:
    """Run ONE, or another script, over rows of CSV."""
    (folder / "s.csv").write_text(header + rows)
    (folder / "s.sql").write_text(script)
    return invoke(folder / "s.sql", "--source", f"s={folder / 's.csv'}", *arguments)


def values(result: Result) -> list[tuple[int, int]]:
    """Start and value of the results on standard output."""
    assert result.exit_code == 0, result.stderr
    return [(found["start"], found["row"]["x"]) for found in map(json.loads, result.stdout.splitlines())]


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 99])
def test_so_many_rows_are_taken_of_each_stream(rows: int, tmp_path: Path) -> None:
    lines = "".join(f"{t},{t}\n" for t in range(5))
    assert values(one(tmp_path, lines, "--rows", rows)) == [(t, t) for t in range(min(rows, 5))]


def test_late_rows_within_the_slack_are_put_in_order(tmp_path: Path) -> None:
    lines = "10,1\n13,2\n8,3\n20,4\n"
    assert values(one(tmp_path, lines, "--slack", 5)) == [(8, 3), (10, 1), (13, 2), (20, 4)]
    for arguments in ((), ("--slack", 4)):
        late = one(tmp_path, lines, *arguments)
        assert late.exit_code == 2
        wanted = "rows at most 4ms late" if arguments else "rows in order of time"
        assert late.stderr == (
            f"midstream: {tmp_path / 's.csv'}, line 4: found a row of 8 behind one of 13, expected {wanted}; "
            "--slack 5ms would take it, --dead-letters FILE sets such rows aside\n"
        )


def letters(file: Path) -> list[dict[str, Any]]:
    """What a dead-letter file tells."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_dead_letters_hold_what_does_not_fit_and_what_comes_late(tmp_path: Path) -> None:
    dead, output = tmp_path / "dead.jsonl", tmp_path / "out.jsonl"
    lines = "10,1\n11,no\n13,2\n5,3\n20,4,5\n21,6\n"
    result = one(tmp_path, lines, "--dead-letters", dead, "--output", output, "--slack", 2)
    assert result.exit_code == 0
    assert result.stderr == "4 elements, 3 results of query_1, 3 rows rejected\n"
    found = [json.loads(line)["row"]["x"] for line in output.read_text().splitlines()]
    assert found == [1, 2, 6]
    source = str(tmp_path / "s.csv")
    misfit, late, fields = sorted(letters(dead), key=lambda letter: letter["line"])
    assert misfit == {
        "source": source,
        "line": 3,
        "reason": "column x: found 'no', expected integer, or nothing",
        "row": "11,no",
    }
    assert (fields["line"], fields["row"], fields["reason"]) == (
        6,
        "20,4,5",
        "found 3 fields, expected 2, as there are columns",
    )
    assert (late["source"], late["line"], late["row"]) == (source, 5, "(5, 6, (3,))")
    assert "5" in late["reason"]


def test_dead_letters_are_not_asked_for(tmp_path: Path) -> None:
    result = one(tmp_path, "10,1\n11,no\n")
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"midstream: {tmp_path / 's.csv'}, line 3, column x: found 'no', expected integer, or nothing\n"
    )


def test_a_file_of_rejected_rows_alone(tmp_path: Path) -> None:
    dead = tmp_path / "dead.jsonl"
    assert values(one(tmp_path, "a,b\n" * 5000, "--dead-letters", dead)) == []
    assert len(letters(dead)) == 5000


def test_csv_without_a_header(tmp_path: Path) -> None:
    assert values(one(tmp_path, "1,7\n2,8\n", "--no-header", header="")) == [(1, 7), (2, 8)]
    assert one(tmp_path, "1,7\n2,8\n", header="").exit_code == 2


def test_the_format_is_what_is_asked_for(tmp_path: Path) -> None:
    assert one(tmp_path, "1,7\n", "--format", "csv").stdout == "start,end,x\n1,2,7\n"
    file = tmp_path / "results.txt"
    assert one(tmp_path, "1,7\n", "--format", "jsonl", "--output", file).exit_code == 0
    assert file.read_text() == '{"start": 1, "end": 2, "row": {"x": 7}}\n'


def test_the_time_unit_is_what_is_asked_for_unless_the_script_sets_it(tmp_path: Path) -> None:
    script = DECLARED + " WINDOW(RANGE 1 MINUTE)"

    def end(*arguments: object, of: str = script) -> int:
        result = one(tmp_path, "1,7\n", *arguments, script=of)
        return int(json.loads(result.stdout)["end"])

    assert end("--time-unit", "ms") == 60_001
    assert end("--time-unit", "seconds") == 61
    assert end("--time-unit", "seconds", of=f"SET time_unit = 'minutes'; {script}") == 2


SEVERAL = ONE + ";\nSELECT x + 1 AS x FROM s WHERE x > 7;"


def test_several_queries_have_a_file_each(tmp_path: Path) -> None:
    result = one(tmp_path, "1,7\n2,8\n", "--output", tmp_path / "out.csv", script=SEVERAL)
    assert result.exit_code == 0
    assert result.stderr == "2 elements, 2 results of query_1, 1 results of query_2\n"
    assert (tmp_path / "out.query_1.csv").read_text() == "start,end,x\n1,2,7\n2,3,8\n"
    assert (tmp_path / "out.query_2.csv").read_text() == "start,end,x\n2,3,9\n"
    assert not (tmp_path / "out.csv").exists()


def test_several_queries_on_standard_output_name_themselves_in_each_line(tmp_path: Path) -> None:
    result = one(tmp_path, "1,7\n2,8\n", script=SEVERAL)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        '{"query": "query_1", "start": 1, "end": 2, "row": {"x": 7}}',
        '{"query": "query_1", "start": 2, "end": 3, "row": {"x": 8}}',
        '{"query": "query_2", "start": 2, "end": 3, "row": {"x": 9}}',
    ]
    assert one(tmp_path, "1,7\n2,8\n", "--output", "/dev/null", script=SEVERAL).exit_code == 0


def test_several_queries_have_no_csv_in_common(tmp_path: Path) -> None:
    result = one(tmp_path, "1,7\n", "--format", "csv", script=SEVERAL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "-: found several queries in the format csv, expected jsonl, where each line" in result.stderr


def test_standard_input_is_a_source_or_the_script(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text(ONE)
    rows = '{"ts": 1, "x": 7}\n{"ts": 2, "x": 8}\n'
    assert values(invoke(tmp_path / "s.sql", "--source", "s=-", stdin=rows)) == [(1, 7), (2, 8)]
    (tmp_path / "s.csv").write_text("ts,x\n3,4\n")
    assert values(invoke("-", "--source", f"s={tmp_path / 's.csv'}", stdin=ONE)) == [(3, 4)]


def test_the_plan_that_runs_is_the_one_that_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from midstream.commands.explaining import explain

    added = []

    class Watched(Engine):
        def add(self, plan: Any, *arguments: Any, **settings: Any) -> Any:
            added.append(plan)
            return super().add(plan, *arguments, **settings)

    monkeypatch.setattr(running, "Engine", Watched)
    wishes = two_files(tmp_path, [(1, 1)], [(2, 1)])
    catalog = Catalog()
    # A filter that the optimizer moves below the join: the plan as written is another one.
    queries = catalog.execute(f"{TWO} AND a.x > 0")
    run_queries(catalog, queries, wishes)
    explanation = explain(queries[0].plan)
    assert added == [explanation.physical.plan]
    assert added != [explanation.logical.plan]


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz"])
def test_progress_knows_how_much_of_the_files_is_left(name: str, tmp_path: Path) -> None:
    rows = "ts,x\n" + "".join(f"{t},{t % 10}\n" for t in range(100_000))
    file = tmp_path / name
    with gzip.open(file, "wt") if name.endswith(".gz") else file.open("w") as opened:
        opened.write(rows)
    catalog = Catalog()
    queries = catalog.execute(ONE)
    told: list[State] = []
    wishes = RunSettings({"s": str(file)}, str(tmp_path / "out.jsonl"))
    run_queries(catalog, queries, wishes, lambda state: told.append(state()))
    assert len(told) > 5
    totals = [state.total for state in told if state.total is not None]
    assert len(totals) == len(told)
    assert totals[-1] == 100_000
    assert told[-1] == State(100_000, total=100_000, results=100_000, at="99999")
    assert [state.done for state in told] == sorted(state.done for state in told)
    assert all(90_000 < total < 112_000 for total in totals[len(totals) // 2 :])
    told.clear()
    run_queries(catalog, queries, replace(wishes, rows=10), lambda state: told.append(state()))
    assert {state.total for state in told} == {None}


def test_rows_that_break_a_declaration_are_told_with_their_line(tmp_path: Path) -> None:
    script = "CREATE STREAM s(ts TIMESTAMP, x INT PRIMARY KEY) ORDERED BY ts; SELECT x FROM s"
    script = f"SET time_unit = 'ms'; {script}"
    lines, dead = "10,1\n11,1\n11,1\n13,2\n", tmp_path / "dead.jsonl"
    result = one(tmp_path, lines, script=script)
    assert result.exit_code == 2
    assert result.stderr == (
        f"midstream: {tmp_path / 's.csv'}, line 4: stream s: element (11, 12, (1,)) agrees on x with "
        "another one, valid from 11 to 12; expected unique (x)\n"
    )
    assert values(one(tmp_path, lines, "--dead-letters", dead, script=script)) == [(10, 1), (11, 1), (13, 2)]
    (letter,) = letters(dead)
    assert (letter["line"], letter["row"]) == (4, "(11, 12, (1,))")


def test_rows_that_refer_to_none_are_told(tmp_path: Path) -> None:
    script = """
        SET time_unit = 'ms';
        CREATE STREAM s(ts TIMESTAMP, x INT NOT NULL, y INT REFERENCES s (x) WITHIN 5) ORDERED BY ts;
        SELECT x FROM s
    """
    lines, dead = "10,1,1\n14,2,1\n16,3,1\n17,4,4\n", tmp_path / "dead.jsonl"
    told = "stream s: element (16, 17, (3, 1)) has been taken, and there is no row that it refers to"
    result = one(tmp_path, lines, script=script, header="ts,x,y\n")
    assert (result.exit_code, told in result.stderr) == (2, True)
    result = one(tmp_path, lines, "--dead-letters", dead, script=script, header="ts,x,y\n")
    assert values(result) == [(10, 1), (14, 2), (16, 3), (17, 4)]
    assert [letter["row"] for letter in letters(dead)] == ["(16, 17, (3, 1))"]
