"""What `midstream migrate` writes means what `midstream run` writes, whenever and whereto the query moves;
and where it must not move, there is no output."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from midstream.arrivals import Event
from midstream.cli import app
from midstream.commands import migrating
from midstream.engine import Engine
from midstream.migration.strategies import STRATEGIES
from midstream.plans.algebra.operators import CountWindow, Dstream, Split
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.serialise import dumps
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import FOREVER, Element
from midstream.runner import arrivals
from midstream.scenarios.streams.nexmark.scripts import SCRIPTS


def invoke(*arguments: object, stdin: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


DECLARED = """SET time_unit = 'milliseconds'; CREATE STREAM a(ts TIMESTAMP, x INT) ORDERED BY ts;
CREATE STREAM b(ts TIMESTAMP, y INT) ORDERED BY ts;
CREATE STREAM c(ts TIMESTAMP, z INT) ORDERED BY ts;
"""
WINDOWS = {name: f"{name} WINDOW(RANGE 20)" for name in "abc"}
SELECT = "SELECT x, COUNT(*) AS n FROM {}, {}, {} WHERE a.x = b.y AND b.y = c.z GROUP BY x"
OLD = SELECT.format(WINDOWS["a"], WINDOWS["b"], WINDOWS["c"])
NEW = SELECT.format(WINDOWS["c"], WINDOWS["b"], WINDOWS["a"])
SOURCES = ("--source", "a=a.csv", "--source", "b=b.csv", "--source", "c=c.csv")
RUN = ("migrate", "old.sql", *SOURCES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a query of three streams of different rates, in another order too."""
    monkeypatch.chdir(tmp_path)
    for name, column, step in (("a", "x", 1), ("b", "y", 3), ("c", "z", 17)):
        rows = "".join(f"{t},{t // step % 3}\n" for t in range(0, 120, step))
        Path(f"{name}.csv").write_text(f"ts,{column}\n{rows}")
    Path("old.sql").write_text(DECLARED + OLD)
    Path("new.sql").write_text(NEW)
    return tmp_path


def elements(text: str) -> list[Element]:
    """The results in JSON Lines, which are in order of start."""
    rows = list(map(json.loads, text.splitlines()))
    starts = [row["start"] for row in rows]
    assert starts == sorted(starts)
    return [
        (row["start"], FOREVER if row["end"] is None else row["end"], tuple(row["row"].values()))
        for row in rows
    ]


def assert_same(migrated: str, *run: object) -> None:
    """The results mean what those of `run` mean."""
    stayed = invoke("run", *run)
    assert stayed.exit_code == 0 and stayed.stdout, stayed.stderr
    verdict = equivalent(elements(migrated), elements(stayed.stdout))
    assert verdict, str(verdict)


def assert_refused(result: Result, message: str, status: int = 2) -> None:
    """A message on stderr, no traceback, exit status 2."""
    assert result.exit_code == status, result.output
    assert message in " ".join(result.stderr.replace("│", " ").split()), result.stderr
    assert "Traceback" not in result.stderr


def summary(*arguments: object, status: int = 0) -> dict[str, Any]:
    """Migrate to a file, and give what --json tells."""
    result = invoke(*arguments, "--output", "out.jsonl", "--json")
    assert result.exit_code == status, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


Q5 = (SCRIPTS[5], "--source", "nexmark", "--rows", 25_000)


def other_order(script: Path) -> str:
    """The fifth auction query with its streams in another order."""
    text = script.read_text(encoding="utf-8")
    head, rest = text.split("FROM   ((SELECT")
    prices, rest = rest.split(" P,\n", 1)
    streams, tail = rest.split("    WHERE  P.itemID", 1)
    return f"{head}FROM   {streams.strip()}, ((SELECT{prices} P\n    WHERE  P.itemID{tail}"


@pytest.mark.slow
def test_the_fifth_auction_query_moves_to_another_join_order(folder: Path) -> None:
    Path("new.sql").write_text(other_order(SCRIPTS[5]))
    result = invoke("migrate", *Q5, "--at", 8000, "--to", "new.sql", "--output", "out.jsonl", "--verify")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "migrated at 8000 by genmig: done" in result.stderr
    assert "verified      yes" in result.stderr
    assert_same(Path("out.jsonl").read_text(), *Q5)


def test_a_trace_tells_of_every_phase(folder: Path) -> None:
    Path("new.sql").write_text(other_order(SCRIPTS[5]))
    arguments = ("--at", 8000, "--to", "new.sql", "--output", "out.jsonl", "--trace", "trace.jsonl")
    assert invoke("migrate", *Q5, *arguments).exit_code == 0
    entries = [json.loads(line) for line in Path("trace.jsonl").read_text().splitlines()]
    phases = [entry["phase"] for entry in entries]
    assert (phases[0], phases[-1]) == ("moving", "done")
    assert entries[0]["time"] == 8000
    assert all(entry["old_state"] > 0 for entry in entries if entry["phase"] == "moving")
    times = [entry["time"] for entry in entries if entry["time"] is not None]
    assert len(times) > 4 and times == sorted(times)
    refused = invoke("migrate", *Q5, *arguments[:-1], "none/trace.jsonl")
    assert_refused(refused, "midstream: none/trace.jsonl: No such file or directory")


def test_moved_states_take_over_at_once(folder: Path) -> None:
    """The log is kept from the beginning; nothing else knows what the aggregate has said."""
    found = summary(*RUN, "--at", 60, "--to", "new.sql", "--strategy", "moving-states", "--verify")
    assert (found["verified"], found["phase"], found["unmatched"]) == (True, "done", 0)
    genmig = summary(*RUN, "--at", 60, "--to", "new.sql")
    assert found["split_time"] - 60 <= 1 < genmig["split_time"] - 60


def test_the_optimizer_chooses_where_no_plan_is_given(folder: Path) -> None:
    found = summary("migrate", *Q5, "--at", "1970-01-01T02:13:20", "--verify")
    assert (found["at"], found["verified"], found["changed"]) == (8000, True, True)
    assert found["plans"]["old"] != found["plans"]["new"]
    assert_same(Path("out.jsonl").read_text(), *Q5)


@pytest.mark.parametrize("at", [-5, 0, 1, 17, 34, 35, 60, 101, 102])
def test_whenever_it_moves_nothing_is_lost_or_doubled(at: int, folder: Path) -> None:
    found = summary(*RUN, "--at", at, "--to", "new.sql", "--verify")
    assert (found["phase"], found["verified"], found["unmatched"]) == ("done", True, 0)
    assert found["elements"] == 120 + 40 + 8
    text = Path("out.jsonl").read_text()
    assert found["results"] == len(text.splitlines())
    assert_same(text, "old.sql", *SOURCES)
    if at > 0:
        # A chronon that starts before the instant is valid for 20 more.
        assert at < found["split_time"] <= at + 20
        assert 0 < found["duration"] <= 20 + 17
    shares = [found[f"results_{part}"] for part in ("old", "new", "fused")]
    assert (at > 0) <= sum(shares) <= found["results"] - found["results_before"]
    assert (found["results_before"] > 0) == (at >= 17)


def test_streams_meet_at_the_instant_though_one_is_sparse(folder: Path) -> None:
    Path("c.csv").write_text("ts,z\n0,0\n119,2\n")
    found = summary(*RUN, "--at", 60, "--to", "new.sql")
    assert (found["split_time"], found["duration"]) == (80, 20)


def test_an_instant_that_only_one_stream_reaches(folder: Path) -> None:
    found = summary(*RUN, "--at", 119, "--to", "new.sql", "--verify")
    assert found["verified"] is True
    assert_same(Path("out.jsonl").read_text(), "old.sql", *SOURCES)


def test_the_plan_may_come_from_a_file(folder: Path) -> None:
    (query,) = Catalog().execute(DECLARED + NEW)
    Path("new.json").write_text(dumps(query.plan))
    found = summary(*RUN, "--at", 40, "--to", "new.json", "--verify")
    assert found["plans"]["new"] == str(query.plan) != found["plans"]["old"]
    assert found["verified"] is True


def test_the_new_query_may_be_a_script_of_its_own(folder: Path) -> None:
    Path("whole.sql").write_text(DECLARED + NEW)
    whole, part = (summary(*RUN, "--at", 40, "--to", to) for to in ("whole.sql", "new.sql"))
    assert whole == part
    Path("whole.sql").write_text(DECLARED.replace("milliseconds", "seconds") + NEW)
    result = invoke(*RUN, "--at", 40, "--to", "whole.sql")
    assert_refused(result, "midstream: whole.sql: found time in seconds, expected milliseconds")


def test_nothing_is_compared_unless_it_is_asked_for(folder: Path) -> None:
    result = invoke(*RUN, "--at", 40)
    assert result.exit_code == 0
    assert "verified      not compared" in result.stderr
    assert_same(result.stdout, "old.sql", *SOURCES)


def test_the_summary_is_where_the_results_are_not(folder: Path) -> None:
    result = invoke(*RUN, "--at", 40, "--json")
    found = json.loads(result.stderr)
    assert found["results"] == len(elements(result.stdout))
    assert found["verified"] is None
    assert found == summary(*RUN, "--at", 40)


def test_late_rows_within_the_slack(folder: Path) -> None:
    rows = Path("a.csv").read_text().splitlines(keepends=True)
    rows[40:44] = reversed(rows[40:44])
    Path("a.csv").write_text("".join(rows))
    late = (*SOURCES, "--slack", 3)
    for at in (38, 39, 40, 42, 44):
        found = summary("migrate", "old.sql", *late, "--at", at, "--to", "new.sql", "--verify")
        assert found["verified"] is True
        # What waits and starts at the instant comes with the heartbeat that tells of it.
        assert at < found["split_time"] <= at + 21
        assert_same(Path("out.jsonl").read_text(), "old.sql", *late)


def test_dead_letters_are_written_once(folder: Path) -> None:
    Path("a.csv").write_text("ts,x\n1,0\n50,one\n50,1\n3,0\n99,2\n")
    letters = ("--dead-letters", "dead.jsonl", "--at", 40, "--verify")
    found = summary(*RUN, *letters)
    assert (found["rejected"], found["verified"]) == (2, True)
    assert len(Path("dead.jsonl").read_text().splitlines()) == 2


def test_standard_input_is_read_once_though_it_is_verified(folder: Path) -> None:
    Path("one.sql").write_text(DECLARED + "SELECT x FROM a WINDOW(RANGE 9) WHERE x > 0")
    rows = "".join(f'{{"ts": {t}, "x": {t % 3}}}\n' for t in range(50))
    result = invoke("migrate", "one.sql", "--source", "a=-", "--at", 20, "--verify", stdin=rows)
    assert result.exit_code == 0, result.stderr
    assert "verified      yes" in result.stderr
    assert len(elements(result.stdout)) == 33


def test_streams_that_may_wait_are_not_held(folder: Path) -> None:
    rows = "".join(f'{{"ts": {t}, "x": {t % 3}}}\n' for t in range(120))
    arguments = ("old.sql", "--source", "a=-", *SOURCES[2:])
    for at in (1, 60, 119):
        result = invoke("migrate", *arguments, "--at", at, "--to", "new.sql", "--verify", stdin=rows)
        assert result.exit_code == 0, result.stderr
        assert_same(result.stdout, "old.sql", *SOURCES)


def test_a_relation_stays_joined(folder: Path) -> None:
    Path("r.csv").write_text("id,name\n0,nought\n2,two\n")
    relation = "CREATE RELATION {}(id INT, name VARCHAR) SOURCE csv('r.csv');\n"
    select = "SELECT x, name FROM a WINDOW(RANGE 9), {} WHERE {} AND x = id"
    one = select.format("b WINDOW(RANGE 9), r", "x = y")
    Path("old.sql").write_text(DECLARED + "".join(map(relation.format, "rs")) + one)
    Path("new.sql").write_text(select.format("r, b WINDOW(RANGE 9)", "y = x"))
    found = summary(*RUN, "--at", 40, "--to", "new.sql", "--verify")
    assert (found["verified"], found["changed"]) == (True, True)
    assert_same(Path("out.jsonl").read_text(), "old.sql", *SOURCES)
    # Another relation is another one, though today it has the same rows.
    Path("new.sql").write_text(select.format("b WINDOW(RANGE 9), s", "y = x"))
    assert_refused(invoke(*RUN, "--at", 40, "--to", "new.sql"), "the plans do not mean the same")


WRONG = NEW.replace("WHERE", "WHERE x > 0 AND")


def test_plans_that_do_not_mean_the_same_are_refused_with_an_input_that_shows_it(folder: Path) -> None:
    Path("wrong.sql").write_text(WRONG)
    for flag in ((), ("--accept-unproved",)):
        result = invoke(*RUN, "--at", 40, "--to", "wrong.sql", *flag, "--output", "out.jsonl")
        assert_refused(result, "the plans do not mean the same: a search found an input of 3 elements")
        assert "old  (0, 1)  [─────────)" in result.stderr and "new  nothing" in result.stderr
        assert not list(folder.glob("*out.jsonl"))


FAR = f"{NEW} HAVING COUNT(*) < 15"
"""It means something else, but only where fifteen rows meet."""


def test_plans_of_which_it_is_unknown_are_refused_unless_the_caller_vouches(folder: Path) -> None:
    Path("far.sql").write_text(FAR)
    result = invoke(*RUN, "--at", 40, "--to", "far.sql")
    assert_refused(result, "it is unknown whether the plans mean the same")
    assert "--accept-unproved" in result.stderr
    found = summary(*RUN, "--at", 20, "--to", "far.sql", "--accept-unproved")
    assert found["equivalence"].startswith("unknown, accepted: ")


def test_plans_that_do_not_mean_the_same_are_told(folder: Path) -> None:
    Path("wrong.sql").write_text(FAR)
    vouched = ("--to", "wrong.sql", "--accept-unproved")
    found = summary(*RUN, "--at", 40, *vouched, "--verify", status=1)
    assert found["verified"] is False
    assert found["differences"]
    result = invoke(*RUN, "--at", 40, *vouched, "--verify", "--output", "out.jsonl")
    assert result.exit_code == 1
    assert "verified      NO: not equivalent" in result.output
    assert not Path("out.jsonl").exists() and Path("out.jsonl.unfinished").exists()


def test_fragments_without_another_half_tell_it_too(folder: Path) -> None:
    Path("wrong.sql").write_text(FAR)
    found = summary(*RUN, "--at", 68, "--to", "wrong.sql", "--accept-unproved", status=1)
    assert found["unmatched"] > 0
    assert (found["verified"], found["differences"]) == (False, [])


FOR_EVER = f"SET unbounded_state = 'allow'; {DECLARED}SELECT x FROM a WINDOW(RANGE UNBOUNDED) WHERE x > 0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "windows.sql"), "midstream: the plans differ below or between their windows"),
        (
            ("--to", "columns.sql"),
            "midstream: the new plan's output has the columns (x integer null, m integer)",
        ),
        (("--to", "streams.sql"), "midstream: the plans have different inputs"),
        (("--to", "new.sql", "--strategy", "swap"), "midstream: swap would lose the state of join"),
        (("--strategy", "genmi"), "midstream: there is no strategy genmi; did you mean genmig?"),
        (("--at", "120"), "midstream: time 120 was not reached: the last element starts at 119"),
        (("--at", "120", "--rows", "0"), "midstream: time 120 was not reached: no element came"),
    ],
)
@pytest.mark.parametrize("before", [None, "as it was\n"])
def test_a_refused_migration_writes_nothing(
    before: str | None, arguments: tuple[str, ...], message: str, folder: Path
) -> None:
    Path("windows.sql").write_text(NEW.replace("20", "30"))
    Path("columns.sql").write_text(NEW.replace("AS n", "AS m"))
    Path("streams.sql").write_text("SELECT x, COUNT(*) AS n FROM a WINDOW(RANGE 20) GROUP BY x")
    if before is not None:
        Path("out.jsonl").write_text(before)
    there = sorted(folder.iterdir())
    result = invoke(*RUN, "--at", 40, *arguments, "--output", "out.jsonl")
    assert_refused(result, message)
    assert sorted(folder.iterdir()) == there
    assert before is None or Path("out.jsonl").read_text() == before


def test_what_the_plans_tell_is_refused_before_anything_is_written(folder: Path) -> None:
    Path("windows.sql").write_text(NEW.replace("20", "30"))
    result = invoke("migrate", "old.sql", *SOURCES, "--at", 40, "--to", "windows.sql")
    assert (result.exit_code, result.stdout) == (2, "")


def test_what_shows_in_the_stream_is_refused_in_mid_stream(folder: Path) -> None:
    Path("ever.sql").write_text(FOR_EVER)
    Path("twice.sql").write_text(f"{FOR_EVER} AND x > -1")
    to = ("--to", "twice.sql", "--accept-unproved")
    result = invoke("migrate", "ever.sql", *SOURCES[:2], "--at", 40, *to, "--output", "out.jsonl")
    assert_refused(result, "midstream: an element that is valid for ever has entered the running plan")
    assert not list(folder.glob("*out.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing option '--at'"),
        (("--at", "noon"), "found 'noon', expected an integer, or a date or a date with a time in ISO 8601"),
        (("--at", "40.5"), "found '40.5', expected an integer"),
        (("--at", "40", "--to", "none.sql"), "midstream: none.sql: No such file or directory"),
        (("--at", "40", "--to", "none.json"), "midstream: none.json: No such file or directory"),
        (("--at", "40", "--to", "bad.json"), "midstream: bad.json: "),
        (("--at", "40", "--to", "bad.sql"), "midstream: bad.sql, line 1, column 8: there is no column y"),
        (("--at", "40", "--to", "two.sql"), "midstream: two.sql: found 2 queries, expected one to migrate"),
        (("--at", "40", "--to", "empty.sql"), "midstream: empty.sql: found 0 queries, expected one"),
        (("--at", "40", "--output", "out.txt"), "midstream: out.txt: found no suffix of a known format"),
        (("--at", "40", "--output", "none/out.csv"), "midstream: none/out.csv: No such file or directory"),
        (
            ("--at", "40", "--format", "xml", "--output", "out.csv"),
            "midstream: out.csv: found the format 'xml'",
        ),
        (("--at", "40", "--source", "d=d.csv"), "--source d=…: the script declares no stream or relation d"),
        (
            ("--at", "40", "--source", "a=d.csv"),
            "midstream: --source a: found a.csv and d.csv, expected one source",
        ),
    ],
)
def test_wrong_inputs(arguments: tuple[str, ...], message: str, folder: Path) -> None:
    Path("bad.json").write_text("{}")
    Path("bad.sql").write_text("SELECT y FROM a")
    Path("two.sql").write_text(f"{NEW}; {NEW}")
    Path("empty.sql").write_text("")
    there = sorted(folder.iterdir())
    result = invoke(*RUN, *arguments)
    assert_refused(result, message)
    assert result.stdout == ""
    assert sorted(folder.iterdir()) == there


def test_a_script_of_several_queries(folder: Path) -> None:
    Path("old.sql").write_text(f"{DECLARED}{OLD};\n{NEW}")
    assert_refused(invoke(*RUN, "--at", 40), "midstream: old.sql: found 2 queries, expected one to migrate")


def test_rows_of_the_same_time_at_a_count_window_have_a_place(folder: Path) -> None:
    Path("old.sql").write_text(f"{DECLARED}SELECT x FROM a WINDOW(ROWS 5)")
    Path("a.csv").write_text("ts,x\n1,7\n1,8\n")
    assert_refused(invoke(*RUN, "--at", 1), "midstream: old.sql, line 4, column 24: CountWindow: found two")


def interrupted(after: int, monkeypatch: pytest.MonkeyPatch) -> Result:
    """A run that someone ends after so many arrivals of a row each."""
    rows = "".join(f"{t},{t % 3}\n" for t in range(60))
    Path("a.csv").write_text(f"ts,x\n{rows}")
    Path("one.sql").write_text(DECLARED + "SELECT x FROM a WINDOW(RANGE 9) WHERE x > 0")

    def some(inputs: Any) -> Iterator[Event]:
        for _, name, batch in arrivals(inputs):
            for row in (batch or [])[:after]:
                yield "push", name, [row]
            raise KeyboardInterrupt

    monkeypatch.setattr(migrating, "arrivals", some)
    arguments = ("--source", "a=a.csv", "--at", 20, "--verify", "--output", "out.jsonl", "--json")
    return invoke("migrate", "one.sql", *arguments)


def test_who_ends_an_endless_run_has_seen_the_migration(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = interrupted(40, monkeypatch)
    assert result.exit_code == 130
    found = json.loads(result.stdout)
    assert (found["interrupted"], found["phase"], found["verified"]) == (True, "done", None)
    assert not Path("out.jsonl").exists()
    text = Path("out.jsonl.unfinished").read_text()
    assert found["results"] == len(elements(text)) > 20
    assert found["unfinished"] == [f"out.jsonl.unfinished holds {found['results']} results of query_1"]


def test_who_ends_a_run_before_the_migration_has_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = interrupted(20, monkeypatch)
    assert (result.exit_code, result.stdout) == (130, "")
    assert not list(folder.glob("*out.jsonl"))
    count = len(Path("out.jsonl.unfinished").read_text().splitlines())
    assert result.stderr.splitlines() == [
        "midstream: interrupted",
        f"midstream: so far 20 elements, {count} results of query_1",
        f"midstream: out.jsonl.unfinished holds {count} results of query_1",
    ]


def test_a_link_to_the_output_stays(folder: Path) -> None:
    Path("link.jsonl").symlink_to("out.jsonl")
    for _ in range(2):
        assert invoke(*RUN, "--at", 40, "--output", "link.jsonl").exit_code == 0
    assert Path("link.jsonl").is_symlink()
    assert_same(Path("out.jsonl").read_text(), "old.sql", *SOURCES)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_where_it_is(folder: Path) -> None:
    os.mkfifo("pipe.jsonl")
    reader = os.open("pipe.jsonl", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert invoke(*RUN, "--at", 40, "--output", "pipe.jsonl").exit_code == 0
        text = os.read(reader, 1 << 20).decode()
    finally:
        os.close(reader)
    assert Path("pipe.jsonl").is_fifo()
    assert_same(text, "old.sql", *SOURCES)


@pytest.mark.parametrize("name", ["out.jsonl.gz", "out.csv", "out.parquet"])
def test_the_format_is_that_of_a_run(name: str, folder: Path) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'midstream[arrow]'")
    assert invoke(*RUN, "--at", 40, "--output", name).exit_code == 0
    migrated = Path(name).read_bytes()
    assert invoke("run", "old.sql", *SOURCES, "--output", name).exit_code == 0
    assert migrated[:4] == Path(name).read_bytes()[:4]
    assert sorted(folder.glob("*out*")) == [folder / name]


def test_the_summary_shows_the_new_plan_and_why_in_short(folder: Path) -> None:
    result = invoke(*RUN, "--at", 40, "--to", "new.sql", "--strategy", "auto", "--output", "out.jsonl")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    (first,) = [i for i, line in enumerate(lines) if line.startswith("  reason        smallest predicted")]
    assert lines[first + 1].startswith("                refused: swap, ")
    assert lines[first + 1].endswith(" (--json tells why)")
    assert lines[first + 2].startswith("  new plan      ")
    plan = "\n".join(line.removeprefix("  new plan").strip() for line in lines[first + 2 :])
    assert plan.index("source c") < plan.index("source b") < plan.index("source a")
    told = summary(*RUN, "--at", 40, "--to", "new.sql", "--strategy", "auto")
    assert "swap refused: swap would lose" in told["reason"]


def test_the_optimizer_leaves_out_what_no_strategy_can_move_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert summary(*RUN, "--at", 40, "--to", "auto")["changed"]
    monkeypatch.setattr(
        Engine, "obstacle", lambda self, plan, query=None: None if plan == self.plan else "there is no way"
    )
    told = summary(*RUN, "--at", 40, "--to", "auto")
    assert not told["changed"]
    (note,) = told["notes"]
    assert re.fullmatch(r"a plan of \S+ µs per chronon is out of reach: there is no way", note)


def test_the_names_of_strategies_are_in_the_help(folder: Path) -> None:
    for command in ("migrate", "simulate"):
        text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
        assert all(name in text for name in STRATEGIES)


@pytest.mark.parametrize(
    "query", ["DSTREAM(SELECT x FROM a WINDOW(RANGE 20))", "SELECT x FROM a WINDOW(ROWS 1)"]
)
@pytest.mark.parametrize("strategy", ["genmig", "genmig-end-timestamp", "auto"])
def test_an_arrangement_below_a_window_means_nothing(folder: Path, strategy: str, query: str) -> None:
    """A row was lost, and the exit status was 0."""
    Path("old.sql").write_text(DECLARED + query)
    (old,) = Catalog().execute(DECLARED + query)

    def split(node: Node) -> Node:
        is_window = isinstance(node.operator, CountWindow | Dstream)
        return Node(node.operator, (Node(Split(1), node.inputs),)) if is_window else node

    new = old.plan.map(split)
    Path("new.json").write_text(dumps(new))
    run = ("old.sql", "--source", "a=a.csv")
    found = summary("migrate", *run, "--at", 40, "--to", "new.json", "--strategy", strategy)
    assert found["plans"]["new"] == str(new) != found["plans"]["old"]
    assert_same(Path("out.jsonl").read_text(), *run)
