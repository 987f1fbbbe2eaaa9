"""Every command and flag that takes a path, with paths that go wrong; every command with a standard output
that does.

The commands and flags come from the command line itself: a new flag fails here until it has its case. What
takes long, and needs no file, is replaced: measuring, simulating, Spark.
"""

from __future__ import annotations

import builtins
import fcntl
import functools
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from unittest.mock import MagicMock

import pytest
import typer
import yaml
from comparing import compared
from simulated import described
from typer.testing import CliRunner, Result

import midstream as ms
from midstream.autopilot.settings import BALANCED
from midstream.benchmarks import (
    arrival_contests,
    auction_searches,
    autopilot,
    budgets,
    charts,
    contests,
    files,
    join_orders,
    lasting,
    memory,
    queries,
    searches,
    statistics_cost,
)
from midstream.benchmarks import costs as costs_benchmark
from midstream.benchmarks import studies as studies_benchmark
from midstream.benchmarks import what_if as what_if_benchmark
from midstream.benchmarks.arrivals import ARRIVALS
from midstream.benchmarks.commands import PROGRAM
from midstream.benchmarks.commands import app as bench
from midstream.benchmarks.item import workload
from midstream.benchmarks.items import ITEMS
from midstream.cli import SUB_APPS, build
from midstream.console.process import as_process
from midstream.io.ingested import IngestRun, Manifest, write_manifest
from midstream.optimizer.charts.fidelity import Followed
from midstream.optimizer.cost.calibration import Profile
from midstream.optimizer.cost.units import UnitCosts
from midstream.scenarios.streams.recorded.script import load_study
from midstream.scenarios.trials.costs import calibrating
from midstream.scenarios.trials.costs.comparing import CostComparison
from midstream.scenarios.trials.costs.forecast_errors import LevelError
from midstream.scenarios.trials.costs.grid import SMALL
from midstream.scenarios.trials.demonstration import demo
from midstream.scenarios.trials.fidelity.following import Fidelity
from midstream.scenarios.trials.simulator import report, simulating
from midstream.scenarios.trials.simulator.scenario import load_scenario
from midstream.testing.cases import case_of, case_to_json

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full and named pipes")

app = build((*SUB_APPS, ("bench", bench)))
"""All commands, those of the benchmarks too."""

Name = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A flag that takes a path.

    value      what works
    suffix     what the name of a file must end in
    written    whether the path is written; else it is read
    folder     whether it is a folder
    form       what is given for a path
    """

    value: str
    suffix: str = ""
    written: bool = False
    folder: bool = False
    form: str = "{}"


def reads(value: str, suffix: str = "", **more: Any) -> Case:
    return Case(value, suffix or Path(value).suffix, **more)


def writes(value: str, **more: Any) -> Case:
    return Case(value, Path(value).suffix, written=True, **more)


SCRIPT = reads("q.sql")
FUNCTIONS = reads("f.py")
SOURCE = reads("s.csv", form="s={}")
LETTERS = writes("dead.jsonl")

CASES: dict[Name, dict[str, Case]] = {
    ("sql",): {
        "query": reads(
            "s.csv", form="SELECT x FROM read_csv('{}', time = 'ts', unit = 's', types = 'x INT')"
        ),
        "--output": writes("out.jsonl"),
        "--dead-letters": LETTERS,
        "--functions": FUNCTIONS,
    },
    ("init",): {"files": reads("orders.jsonl"), "--output": writes("orders.sql")},
    ("run",): {
        "script": SCRIPT,
        "--source": SOURCE,
        "--output": writes("out.jsonl"),
        "--dead-letters": LETTERS,
        "--save-stats": writes("seen.json"),
        "--autopilot": reads("settings.json"),
        "--decisions": writes("decisions.jsonl"),
        "--autopilot-chart": writes("flight.png"),
        "--budget-decisions": writes("budget.jsonl"),
        "--budget-chart": writes("budget.png"),
        "--functions": FUNCTIONS,
    },
    ("explain",): {
        "script": SCRIPT,
        "--stats": reads("stats.json"),
        "--svg": writes("q.svg"),
        "--dot": writes("q.dot"),
        "--functions": FUNCTIONS,
    },
    ("chart",): {
        "script": SCRIPT,
        "--stats": reads("stats.json"),
        "--seen": reads("seen.jsonl"),
        "--output": writes("q-chart.json"),
        "--picture": writes("q-chart.png"),
        "--functions": FUNCTIONS,
    },
    ("migrate",): {
        "script": SCRIPT,
        "--source": SOURCE,
        "--to": reads("new.sql"),
        "--trace": writes("trace.jsonl"),
        "--output": writes("out.jsonl"),
        "--dead-letters": LETTERS,
        "--functions": FUNCTIONS,
    },
    ("verify",): {
        "old": SCRIPT,
        "new": reads("new.sql"),
        "--rules": reads("rules.py"),
        "--functions": FUNCTIONS,
    },
    ("compare",): {"left": reads("left.jsonl"), "right": reads("right.jsonl")},
    ("calibrate",): {"--output": writes("costs.json")},
    ("simulate",): {
        "scenario": reads("small.yaml"),
        "--report": writes("report.html"),
        "--charts": writes("charts", folder=True),
        "--chart": writes("regret.svg"),
        "--json": writes("all.json"),
        "--data": reads("data", folder=True),
    },
    ("demo",): {"--data": reads("data", folder=True), "--to": reads("plan.json")},
    ("bench",): {
        "--output": writes("bench.json"),
        "--chart": writes("bench.png"),
        "--costs": reads("profile.json"),
    },
    ("bench", "memory"): {"--output": writes("memory.json"), "--chart": writes("memory.png")},
    ("bench", "lasting"): {"--output": writes("lasting.json")},
    ("bench", "files"): {"--output": writes("files.json")},
    ("bench", "arrivals"): {"--output": writes("arrivals.json")},
    ("bench", "costs"): {"--output": writes("costs.json"), "--chart": writes("costs.png")},
    ("bench", "queries"): {"--output": writes("queries.json")},
    ("bench", "budgets"): {"--output": writes("budgets.json")},
    ("bench", "orders"): {"--output": writes("orders.json")},
    ("bench", "auctions"): {"--output": writes("auctions.json")},
    ("bench", "autopilot"): {
        "--output": writes("autopilot.json"),
        "--data": reads("data", folder=True),
    },
    ("bench", "deciding"): {
        "--output": writes("deciding.json"),
        "--data": reads("data", folder=True),
    },
    ("bench", "searches"): {"--output": writes("searches.json")},
    ("bench", "statistics"): {"--output": writes("statistics.json")},
    ("bench", "studies"): {"--output": writes("studies.json")},
    ("bench", "what-if"): {"--data": reads("data", folder=True), "--output": writes("what-if.json")},
    ("bench", "charts"): {
        "--output": writes("charts.json"),
        "--chart": writes("charts.png"),
        "--data": reads("data", folder=True),
    },
    ("study", "generate"): {
        "streams": reads("streams.yaml"),
        "--output": writes("found", folder=True),
    },
    ("study", "ingest"): {
        "study": reads("study.sql"),
        "--data": reads("data", folder=True),
        "--output": writes("found", folder=True),
    },
    ("study", "profile"): {
        "study": reads("study.sql"),
        "--data": reads("data", folder=True),
        "--output": writes("found", folder=True),
    },
    ("study", "run"): {
        "file": reads("study.yaml"),
        "--data": reads("data", folder=True),
        "--out": writes("found", folder=True),
    },
    ("study", "what-if"): {
        "study": reads("study.sql"),
        "--data": reads("data", folder=True),
        "--plan": reads("study.json"),
        "--output": writes("found", folder=True),
    },
    ("study", "policies"): {
        "study": reads("study.sql"),
        "--data": reads("data", folder=True),
        "--plan": reads("study.json"),
        "--grid": reads("grid.json"),
        "--output": writes("found", folder=True),
    },
    ("study", "charts"): {
        "study": reads("study.sql"),
        "--data": reads("data", folder=True),
        "--plan": reads("study.json"),
        "--stats": reads("measured.json"),
        "--output": writes("found", folder=True),
    },
    ("study", "simulate"): {
        "study": reads("study.sql"),
        "--data": reads("data", folder=True),
        "--plan": reads("study.json"),
        "--to": reads("turned.json"),
        "--output": writes("found", folder=True),
    },
    ("study", "verify"): {"--output": writes("found", folder=True)},
    ("study", "verify-case"): {"file": reads("case.json")},
    ("study", "verify-run"): {
        "study": reads("study.sql"),
        "results": reads("results.parquet", folder=True),
        "--data": reads("data", folder=True),
        "--plan": reads("study.json"),
    },
}

BASE: dict[Name, list[str]] = {
    ("sql",): [],
    ("init",): [],
    ("run",): ["--source", "s=s.csv", "--memory", "1MB"],
    ("explain",): [],
    ("compare",): [],
    ("chart",): ["--parts", "2"],
    ("migrate",): ["--source", "s=s.csv", "--at", "2", "--to", "new.sql"],
    ("verify",): [],
    ("calibrate",): ["--quick"],
    ("simulate",): ["--quick"],
    ("demo",): [],
    ("bench",): ["--items", "join", "--no-peers"],
    ("bench", "memory"): [],
    ("bench", "lasting"): [],
    ("bench", "files"): ["--rows", "200", "--repetitions", "1"],
    ("bench", "arrivals"): ["--no-peers"],
    ("bench", "costs"): ["--quick"],
    ("bench", "queries"): [],
    ("bench", "budgets"): [],
    ("bench", "orders"): [],
    ("bench", "auctions"): [],
    ("bench", "autopilot"): [],
    ("bench", "deciding"): ["--cases", "sharing", "--scale", "0.02", "--pairs", "1"],
    ("bench", "searches"): [],
    ("bench", "statistics"): [],
    ("bench", "studies"): [],
    ("bench", "what-if"): ["--data", "data"],
    ("bench", "charts"): ["--quick"],
    ("study", "generate"): ["--output", "found"],
    ("study", "ingest"): ["--output", "found"],
    ("study", "profile"): [],
    ("study", "run"): ["--out", "found"],
    ("study", "what-if"): [],
    ("study", "policies"): [],
    ("study", "charts"): [],
    ("study", "simulate"): ["--to", "turned.json"],
    ("study", "verify"): ["--master", "none", "--cases", "1"],
    ("study", "verify-case"): [],
    ("study", "verify-run"): [],
}
"""What a command needs besides its first argument."""

NO_PATHS = {
    "--format", "--slack", "--delay", "--idle", "--time-unit", "--stage", "--objective", "--along", "--at",
    "--strategy",
    "--items", "--batch-sizes", "--window", "--bucket", "--cases", "--master", "--collector", "--sizes",
    "--strategies", "--kinds", "--mutant", "--query", "--half-life", "--from", "--until", "--repeat",
    "--slice", "--every", "--memory", "--processor", "--reserve",
}  # fmt: skip
"""Flags that take a text which is no path."""


def commands() -> Iterator[tuple[Name, Any]]:
    """All commands of the command line."""
    waiting: list[tuple[Name, Any]] = [((), typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        if name and (not hasattr(command, "commands") or command.invoke_without_command):
            yield name, command
        if hasattr(command, "commands"):
            below = command.list_commands(None)
            waiting += [((*name, one), command.get_command(None, one)) for one in below]


def test_every_command_and_every_flag_that_may_take_a_path_has_its_case() -> None:
    found: dict[Name, set[str]] = {}
    for name, command in commands():
        found[name] = set()
        for one in command.params:
            kind = one.type_descriptor.annotation
            if (isinstance(kind, type) and issubclass(kind, int | float | Enum)) or int in get_args(kind):
                continue
            flag = one.opts[-1] if one.param_type_name == "option" else one.name
            if flag not in NO_PATHS:
                found[name].add(flag)
    assert found == {name: set(flags) for name, flags in CASES.items()}


@pytest.mark.parametrize("name", CASES, ids=" ".join)
def test_the_help_of_every_command_has_examples_that_name_what_there_is(name: Name) -> None:
    command = dict(commands())[name]
    known = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
    result = CliRunner().invoke(app, [*name, "--help"], env={"COLUMNS": "200"})
    _, _, examples = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout).partition("Examples:")
    calls = [line.split() for line in examples.splitlines() if line.strip()]
    assert calls
    for call in calls:
        program = PROGRAM.split() if name[0] == "bench" else ["midstream", name[0]]
        start = [*program, *name[1:]]
        assert call[: len(start)] == start
        assert {word for word in call if word.startswith("--")} <= known


WRITTEN = [(name, flag) for name, flags in CASES.items() for flag, case in flags.items() if case.written]
READ = [(name, flag) for name, flags in CASES.items() for flag, case in flags.items() if not case.written]
each_written = pytest.mark.parametrize(("name", "flag"), WRITTEN, ids=[" ".join((*n, f)) for n, f in WRITTEN])
each_read = pytest.mark.parametrize(("name", "flag"), READ, ids=[" ".join((*n, f)) for n, f in READ])

PROFILE = Profile(UnitCosts(), "2026-11-23", "a machine", 0.1)
JOIN = "SELECT a.x FROM s {} WINDOW(RANGE 5), s {} WINDOW(RANGE 5) WHERE a.x = b.x"
SQL = f"CREATE STREAM s(ts TIMESTAMP, x INT) ORDERED BY ts TIME_UNIT ms;\n{JOIN.format('a', 'b')}"
STUDY = """
CREATE STREAM a(t BIGINT, k INTEGER NOT NULL) SOURCE csv('streams/a.csv') ORDERED BY t TIME_UNIT 's';
CREATE STREAM b(t BIGINT, k INTEGER NOT NULL) SOURCE csv('streams/b.csv') ORDERED BY t TIME_UNIT 's';
SELECT a.k FROM a WINDOW(RANGE 40 SECONDS) JOIN b WINDOW(RANGE 40 SECONDS) ON a.k = b.k;
"""


STREAMS = """
duration: 2 s
streams: {A: {columns: {k: {values: sequence}}, arrivals: {process: constant, rate: 9}}}
"""


@functools.cache
def simulated(folder: Path) -> Any:
    file = folder / "small.yaml"
    return real_simulate(load_scenario(str(file)), is_quick=True)


real_simulate = simulating.simulate


@functools.cache
def demonstrated() -> Any:
    return real_demonstrate(demo.auctions(1, events=5_000))


real_demonstrate = demo.demonstrate


@functools.cache
def measured() -> Any:
    return [compared(workload(ITEMS[0], 100, 1, 20), 1, (64,))]


@functools.cache
def arrived() -> Any:
    return real_compare(ARRIVALS[-1:], 100, 1, 50, ["off"], [], 1)


real_compare = arrival_contests.compare


def fidelity() -> charts.ChartsRun:
    followed = [
        Fidelity("two filters", "within a quarter", "as they are", "given", k, Followed(100, hits, 2, 1), 1)
        for k, hits in ((10, 80), (40, 95))
    ]
    return charts.ChartsRun(1, tuple(followed), ())


class Figure:
    """A picture that is drawn at once."""

    def savefig(self, file: Any, format: str, **_: Any) -> None:
        file.write(b"a picture, all of it")


def spark_frame(*_: Any) -> Any:
    """What writes a folder as a data frame of Spark does."""

    def write(folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "part.parquet"), "wb") as file:
            file.write(b"a part, all of it")

    frame = MagicMock()
    for name in ("repartition", "sortWithinPartitions", "mode", "partitionBy"):
        getattr(frame, name).return_value = frame
    frame.write = frame
    frame.parquet.side_effect = write
    return frame


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what commands read."""
    folder = tmp_path_factory.mktemp("paths")
    texts = {
        "q.sql": SQL,
        "profile.json": PROFILE.dumps(),
        "new.sql": JOIN.format("b", "a"),
        "s.csv": "ts,x\n1,7\n2,bad\n3,8\n",
        "orders.jsonl": '{"ts": 1700000000, "x": 7}\n',
        "f.py": "def register(catalog):\n    pass\n",
        "rules.py": "RULES = []\n",
        "left.jsonl": '{"start": 1, "end": 5, "row": {"x": 7}}\n',
        "right.jsonl": '{"start": 1, "end": 5, "row": {"x": 7}}\n',
        "settings.json": BALANCED.dumps(),
        "measured.json": json.dumps({"midstream_statistics": 1, "streams": {"a": {"d": 1}, "b": {"d": 1}}}),
        "grid.json": json.dumps({"mine": {}}),
        "stats.json": json.dumps({"midstream_statistics": 1, "streams": {"s": {"d": 1}}}),
        "seen.jsonl": json.dumps({"midstream_statistics": 1, "streams": {"s": {"d": 2}}}) + "\n",
        "small.yaml": yaml.safe_dump(
            described(duration="2 s", migrations=[{"at": "1 s", "to": "new"}], policies=["repeat last best"])
        ),
        "study.sql": STUDY,
        "study.yaml": "streams: study.sql\nbucket: 10s\nstages: {verify: {cases: 1}}\n",
        "streams.yaml": STREAMS,
        "streams/a.csv": "t,k\n1,1\n",
        "streams/b.csv": "t,k\n1,1\n",
        "data/streams/a.csv": "t,k\n1,1\n",
        "data/streams/b.csv": "t,k\n1,1\n",
    }
    draw = random.Random(7)
    departures = [f"{60 * i},{draw.choice(('EWR', 'LGA', 'JFK'))},S,UA,{i},3" for i in range(30)]
    texts["data/departures.csv"] = "\n".join(["dep_ts,origin,dest,carrier,flight,dep_delay_min", *departures])
    case = case_of(1)
    assert case is not None
    texts["case.json"] = json.dumps({"case": case_to_json(case), "mutant": None})
    texts["plan.json"] = ms.dumps(demo.auctions(1, events=50).plan)
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    query = load_study(str(folder / "study.sql")).query
    assert query is not None
    (folder / "study.json").write_text(ms.dumps(query))
    a, b = (ms.stream(name, k="integer").alias(name).window(40) for name in "ab")
    (folder / "turned.json").write_text(ms.dumps(b.join(a, on=[("b.k", "a.k")]).select(k=ms.col("a.k"))))
    return folder


@pytest.fixture
def folder(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; what takes long has been done once, or is left out."""
    shutil.copytree(once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simulating, "simulate", lambda *_, **__: simulated(once))
    monkeypatch.setattr(report, "report_html", lambda _: "<!doctype html>\n</html>\n")
    monkeypatch.setattr(report, "plain_svg", lambda *_: "<svg></svg>\n")
    monkeypatch.setattr(demo, "demonstrate", lambda *_: demonstrated())
    monkeypatch.setattr(contests, "measure", lambda *_: measured())
    samples = tuple(memory.MemorySample(i, 2**20 * value, value) for i, value in enumerate((5, 10, 10, 10)))
    monkeypatch.setattr(memory, "watch", lambda *_: memory.MemoryRun(4, 1, 1, samples))
    monkeypatch.setattr(lasting, "measure_lasting", lambda *_: lasting.LastingRun(()))
    run = files.FilesRun(1, 1, (1.0,), (1.0,), None, True)
    monkeypatch.setattr(files, "measure_files", lambda *_: run)
    monkeypatch.setattr(arrival_contests, "compare", lambda *_: arrived())
    costs = (queries.Cost(1, 0.1, 0.1, 0.1), queries.Cost(2, 0.1, 0.1, 0.1))
    many = queries.QueriesRun(costs, costs, ((0.1, 0.1),), 0.1, True)
    monkeypatch.setattr(queries, "measure_queries", lambda *_: many)
    changed = budgets.ManyTimes(1, 1, 0.01, 0.1, 0.1, 0.1)
    errors = tuple(LevelError(level, 1, 1.0, 1.0) for level in (1, 2))
    limited = budgets.BudgetRun((0.1,), 10.0, errors, changed)
    monkeypatch.setattr(budgets, "measure_budgets", lambda *_: limited)
    monkeypatch.setattr(autopilot, "measure_autopilot", lambda *_: autopilot.AutopilotRun(()))
    monkeypatch.setattr(join_orders, "measure_orders", lambda *_: join_orders.OrdersRun(1.0, (), ()))
    monkeypatch.setattr(auction_searches, "measure_auctions", lambda *_: auction_searches.AuctionsRun(()))
    monkeypatch.setattr(charts, "measure_charts", lambda *_, **__: fidelity())
    monkeypatch.setattr(statistics_cost, "measure_statistics", lambda *_: statistics_cost.CostRun(()))
    times = what_if_benchmark.Times((1.0,), (1.0,))
    timed = what_if_benchmark.WhatIfRun(dict.fromkeys(what_if_benchmark.KINDS, times))
    monkeypatch.setattr(what_if_benchmark, "measure_what_if", lambda *_: timed)
    took = studies_benchmark.Taken(1, dict.fromkeys(studies_benchmark.STAGES, 1.0), 1, 1)
    grown = studies_benchmark.StudiesRun(took, took)
    monkeypatch.setattr(studies_benchmark, "measure_studies", lambda *_: grown)
    monkeypatch.setattr(searches, "measure_searches", lambda *_: searches.SearchesRun((0.1,), (0.1,), (1,)))
    point = CostComparison("hash-join", SMALL[0], (1.0, 1.0), (9.0, 9.0), (90.0, 90.0))
    predictions = costs_benchmark.Predictions((point,), (point,))
    monkeypatch.setattr(costs_benchmark, "predict", lambda *_: predictions)
    monkeypatch.setattr(calibrating, "calibrate", lambda *_: (PROFILE, [], []))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", Figure.savefig)
    _without_spark(monkeypatch)
    return tmp_path


def _without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="needs PySpark: pip install 'midstream[spark]'")
    from midstream.optimizer.charts import drawing
    from midstream.scenarios.recordings import recording
    from midstream.scenarios.spark import session
    from midstream.scenarios.stages.generate import generate, generate_command
    from midstream.scenarios.stages.ingest import ingest
    from midstream.scenarios.stages.run import command as run_command
    from midstream.scenarios.stages.run import stage_command
    from midstream.scenarios.stages.run.stages import STAGES
    from midstream.scenarios.stages.verify_run import recorded_run, verify_run_command

    for name in set(STAGES) - {"ingest"}:
        made = replace(STAGES[name], run=run_stage, tell=tell_stage, write=write_stage)
        monkeypatch.setitem(STAGES, name, made)
    monkeypatch.setattr(stage_command, "require_spark", lambda: None)
    for module in (generate_command, run_command, verify_run_command):
        monkeypatch.setattr(module, "require_spark", lambda: None)
    monkeypatch.setattr(ingest, "ingest", ingested)
    monkeypatch.setattr(
        generate, "generate", lambda *given: generate.Generated(ingested(*given[:3]).manifest)
    )
    monkeypatch.setattr(recorded_run, "read_results", lambda *_: None)
    check = recorded_run.RunCheck(1, 1, 0, 0, 0, ())
    monkeypatch.setattr(recorded_run, "check_run", lambda *_, **__: check)
    for module, name, what in (
        (session, "spark_session", object()),
        (recording, "open_recording", SimpleNamespace(spark=None)),
    ):
        monkeypatch.setattr(module, name, lambda *_, what=what, **__: nullcontext(what))
    monkeypatch.setattr(drawing, "draw_chart", lambda *_: Figure())


def run_stage(work: Any, options: Any) -> Any:
    """What a stage of a study does."""
    from midstream.scenarios.stages.base.stage import Outcome

    return None, Outcome({"found": "all of it"})


def write_stage(result: Any, outcome: Any, folder: Path) -> None:
    """What a stage of a study does to its folder: a folder in it, and a summary."""
    from midstream.scenarios.spark.writing import new_folder, write_json

    with new_folder(folder / "plans") as place:
        (place / "part.parquet").write_bytes(b"a part, all of it")
    write_json(outcome.summary, folder / "summary.json")


def tell_stage(study: Any, outcome: Any) -> Any:
    """What a stage says of what it found."""
    from midstream.scenarios.reports.contents import Report

    return Report(facts=[outcome.summary["found"]])


def ingested(spark: Any, feeds: Any, folder: Path, **_: Any) -> Any:
    """What ingesting does to a folder."""
    from midstream.scenarios.stages.ingest.folder import named_run, new_run, only_writer
    from midstream.scenarios.stages.ingest.ingest import Ingested

    with only_writer(folder):
        manifest, run = Manifest(1, 0, {}), IngestRun("run-0001", (), (), {})
        with new_run(folder) as place:
            (place / "part.parquet").write_bytes(b"a part, all of it")
            named_run(place, run.folder)
        write_manifest(manifest, folder)
    return Ingested(manifest, run)


def arguments(name: Name, flag: str | None = None, path: object = None) -> list[str]:
    """What calls a command; a flag, or its first argument, with some path."""
    cases = CASES[name]
    positions = [one for one in cases if not one.startswith("--")]
    given = list(BASE[name])
    first = [cases[one].form.format(cases[one].value) for one in positions]
    if name == ("simulate",) and flag == "--data":
        first = ["small.yaml"]
    if flag in positions:
        first[positions.index(flag)] = cases[flag].form.format(path)
    elif flag is not None:
        if flag in given:
            at = given.index(flag)
            del given[at : at + 2]
        given += [flag, cases[flag].form.format(path)]
        if flag not in ("--dead-letters", "--output") and name == ("migrate",):
            given += ["--output", "results.jsonl"]
    if "--dead-letters" in cases and "--dead-letters" not in given:
        given += ["--dead-letters", "letters.jsonl"]
    return [*name, *first, *given]


def invoke(*given: str) -> Result:
    """Run a command in this process. It ends with an exit status, never with a traceback."""
    result = CliRunner().invoke(app, list(given))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code in (0, 1, 2, 130)
    assert "Traceback" not in result.output
    return result


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }


def is_complete(file: Path) -> bool:
    """Whether a file ends as those of its kind do."""
    text = file.read_bytes().rstrip() + b"\n"
    match file.suffix:
        case ".json":
            return bool(json.loads(text))
        case ".jsonl":
            return text.endswith(b"\n") and all(map(json.loads, text.splitlines()))
        case ".svg":
            return text.endswith(b"</svg>\n")
        case ".html":
            return text.endswith(b"</html>\n")
        case ".sql":
            return text.endswith(b";\n")
        case ".dot":
            return text.endswith(b"}\n")
    return text.endswith(b"all of it\n")


def assert_nothing_is_left(folder: Path) -> None:
    """No unfinished file without its reason."""
    assert not [one for one in folder.rglob(".*") if "unfinished" in one.name]


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        pytest.param(
            *one, marks=[pytest.mark.slow] * (one[0] == ("bench", "arrivals")), id=" ".join((*one[0], one[1]))
        )
        for one in WRITTEN
    ],
)
def test_what_is_written_gets_its_name_when_it_is_complete(name: Name, flag: str, folder: Path) -> None:
    target = folder / CASES[name][flag].value
    before = contents(folder)
    result = invoke(*arguments(name, flag, target.name))
    assert result.exit_code == 0, result.output
    after = contents(folder)
    new = [folder / one for one in after if one not in before]
    assert any(target in (one, *one.parents) for one in new)
    assert all(map(is_complete, new))
    assert {one: after[one] for one in before} == before
    assert_nothing_is_left(folder)


def own_inputs(name: Name, flag: str, folder: Path) -> list[str]:
    """What a command reads, under its own name and by links; for want of that, its other output."""
    case = CASES[name][flag]
    if name[0] == "bench":
        return []
    if name == ("study", "verify"):
        return []  # with an output, it reads nothing
    if name[0] == "study" and case.folder:
        # What is read lies in a folder that is replaced.
        for replaced in ("streams", "plans", "runs", "verify"):
            (folder / replaced).mkdir(exist_ok=True)
            for read in ("study.json", "study.yaml", "study.sql"):
                shutil.copy(read, folder / replaced)
        shutil.copy("study.json", "policies.json")
        (folder / "here").mkdir()
        os.symlink("..", folder / "here" / "up")
        return [".", "here/up", str(folder)]
    if case.folder:
        return []
    own = [one.value for one in CASES[name].values() if not one.written and not one.folder]
    links = []
    for i, one in enumerate(own):
        for kind, link in (("symbolic", os.symlink), ("hard", os.link)):
            links.append(f"{kind}-{i}{case.suffix}")
            link(one if link is os.symlink else folder / one, folder / links[-1])
    (folder / "through").mkdir()
    return [*own, *links, *(f"through/../{one}" for one in own)]


@each_written
def test_an_input_is_not_overwritten(name: Name, flag: str, folder: Path) -> None:
    for path in own_inputs(name, flag, folder):
        before = contents(folder)
        given = arguments(name, flag, path)
        if "--functions" in CASES[name]:
            given += ["--functions", "f.py"]
        if "--stats" in CASES[name]:
            given += ["--stats", "stats.json"]
        if "--seen" in CASES[name]:
            given += ["--seen", "seen.jsonl"]
        if "--autopilot" in CASES[name]:
            given += ["--autopilot", "settings.json"]
        if "--plan" in CASES[name]:
            given += [
                "--plan",
                REPLACED.get(name, "plans/study.json") if CASES[name][flag].folder else "study.json",
            ]
        if name == ("study", "run"):
            given = ["verify/study.yaml" if one == "study.yaml" else one for one in given]
        result = invoke(*given)
        assert (result.exit_code, result.stdout) == (2, ""), (path, result.output)
        assert contents(folder) == before, path


REPLACED: dict[Name, str] = {("study", "simulate"): "runs/study.json", ("study", "policies"): "policies.json"}
"""A plan that lies where a study writes."""


def other_outputs() -> Iterator[tuple[Name, str, str]]:
    """Pairs of outputs of one command that might be the same file."""
    for name, flags in CASES.items():
        outputs = [flag for flag, case in flags.items() if case.written and not case.folder]
        yield from ((name, one, other) for one in outputs for other in outputs if one < other)


@pytest.mark.parametrize(("name", "one", "other"), list(other_outputs()))
def test_two_outputs_have_a_file_each(name: Name, one: str, other: str, folder: Path) -> None:
    suffixes = {CASES[name][flag].suffix for flag in (one, other)} & {".png"} or {".jsonl"}
    path = f"both{suffixes.pop()}"
    os.symlink(path, f"link-{path}")
    for second in (path, f"link-{path}"):
        given = arguments(name, one, path)
        if other in given:
            at = given.index(other)
            del given[at : at + 2]
        result = invoke(*given, other, second)
        assert result.exit_code == 2, result.output
        assert f"{path}, which " in result.stderr and "writes; expected another file" in result.stderr
        assert not (folder / path).exists()


@each_written
def test_a_folder_is_no_file(name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    path = folder / f"place{case.suffix}"
    if case.folder:
        path.write_text("a file")
    else:
        path.mkdir()
    before = contents(folder)
    result = invoke(*arguments(name, flag, path.name))
    assert result.exit_code == 2
    assert path.name in result.stderr
    assert contents(folder) == before
    assert_nothing_is_left(folder)


@each_written
def test_a_full_disk_is_told(name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    path = f"full{case.suffix}"
    os.symlink("/dev/full", path)
    result = invoke(*arguments(name, flag, path))
    assert result.exit_code == 2
    assert path in result.stderr
    assert case.folder or "No space left on device" in result.stderr
    assert_nothing_is_left(folder)


@contextmanager
def gone(path: str, mode: str) -> Iterator[None]:
    """A pipe whose other end has been closed as soon as it was open."""
    os.mkfifo(path)

    def close_at_once() -> None:
        os.close(os.open(path, os.O_WRONLY if mode == "w" else os.O_RDONLY))

    other = threading.Thread(target=close_at_once, daemon=True)
    other.start()
    try:
        yield
    finally:
        let_end(other, path)


def let_end(other: threading.Thread, path: str | Path) -> None:
    """Wait for a thread that opens one end of a pipe, whose other end nobody may have opened. It may not have
    come to that yet: so the pipe is held open."""
    held = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    other.join(5)
    os.close(held)


@each_written
def test_a_closed_pipe_is_no_error(name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    path = f"pipe{case.suffix}"
    with gone(path, "r"):
        result = invoke(*arguments(name, flag, path))
    assert result.exit_code == (2 if case.folder else 0), result.output
    assert Path(path).is_fifo()
    assert_nothing_is_left(folder)


class Moment(Enum):
    """When someone interrupts: before a file is opened, before it gets its name, or afterwards."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


@contextmanager
def interrupted(moment: Moment, folder: Path) -> Iterator[list[str]]:
    """Interrupt the first file that is written in a folder; gives its name."""
    at: list[str] = []

    def interrupting(call: Callable[..., Any]) -> Callable[..., Any]:
        def renamed(source: Any, target: Any, *rest: Any, **more: Any) -> Any:
            if at or moment is Moment.BEFORE:
                return call(source, target, *rest, **more)
            at.append(os.fspath(target))
            if moment is Moment.AFTER:
                call(source, target, *rest, **more)
            raise KeyboardInterrupt

        return renamed

    opening = builtins.open

    def opened(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        is_here = isinstance(file, str | Path) and folder in Path(os.path.abspath(file)).parents
        if moment is Moment.BEFORE and not at and is_here and set(mode) & set("wxa"):
            at.append(os.fspath(file))
            raise KeyboardInterrupt
        return opening(file, mode, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", interrupting(os.replace))
        patch.setattr(os, "rename", interrupting(os.rename))
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        yield at


@pytest.mark.slow
@each_written
@pytest.mark.parametrize("moment", Moment)
@pytest.mark.parametrize("is_there", [False, True])
def test_an_interruption_leaves_what_is_complete(
    is_there: bool, moment: Moment, name: Name, flag: str, folder: Path
) -> None:
    case = CASES[name][flag]
    target = folder / case.value
    if is_there and not case.folder:
        target.write_text("as it was")
    before = contents(folder)
    with interrupted(moment, folder) as at:
        result = invoke(*arguments(name, flag, target.name))
    assert at, "nothing was written in the folder"
    assert result.exit_code == 130, result.output
    assert "midstream: interrupted" in result.stderr.splitlines()
    assert len(result.stderr.splitlines()) > 1  # it says what there is
    after = contents(folder)
    for one in after:
        if ".unfinished" in one:
            assert f"{one} holds " in result.stderr
        elif one not in before or after[one] != before[one]:
            assert is_complete(folder / one), one
    assert moment is Moment.AFTER or after.get(target.name) == before.get(target.name)
    assert_nothing_is_left(folder)


@pytest.mark.slow
@each_read
@pytest.mark.parametrize("kind", ["folder", "full", "pipe", "none"])
def test_what_is_read_may_be_anything(kind: str, name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    path = f"place{case.suffix}"
    before = contents(folder)
    with gone(path, "w") if kind == "pipe" else nullcontext():
        match kind:
            case "folder":
                (folder / path).mkdir()
            case "full":
                os.symlink("/dev/full", path)  # it gives zeros without end
        result = invoke(*arguments(name, flag, path))
    # A command that needs nothing of a folder does not look into it.
    assert result.exit_code == 2 or case.folder or kind == "pipe", result.output
    assert result.exit_code == 0 or path in result.output
    after = contents(folder)
    assert {one: after[one] for one in before} == before
    assert result.exit_code == 0 or after == before
    assert_nothing_is_left(folder)


@pytest.mark.slow
@each_read
def test_what_is_read_may_have_another_name(name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    os.symlink(case.value, f"link{case.suffix}")
    given = arguments(name, flag, f"link{case.suffix}")
    result = invoke(*given)
    assert result.exit_code == 0, result.output
    if not case.folder:
        Path(f"hard{case.suffix}").hardlink_to(case.value)
        assert invoke(*arguments(name, flag, f"hard{case.suffix}")).exit_code == 0


@pytest.mark.slow
@each_read
def test_reading_can_be_interrupted(name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    before = contents(folder)
    opening = builtins.open

    def opened(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if isinstance(file, str | Path) and Path(file).name == Path(case.value).name:
            raise KeyboardInterrupt
        return opening(file, mode, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        patch.setattr(io, "open_code", opened)
        result = invoke(*arguments(name, flag, case.value))
    if not case.folder:
        assert result.exit_code == 130
        assert result.stderr.startswith("midstream: interrupted\n")
        assert contents(folder) == before
    assert_nothing_is_left(folder)


@contextmanager
def half_written(path: Path, content: bytes) -> Iterator[list[str]]:
    """A pipe that gives half of a content, after which someone interrupts who waits for the rest; tells
    when that has happened."""
    os.mkfifo(path)
    is_over, told = threading.Event(), list[str]()

    def give_half() -> None:
        writing = os.open(path, os.O_WRONLY)
        try:
            os.write(writing, content[: len(content) // 2])
            while not is_over.is_set() and unread(writing):
                time.sleep(0.001)
            if not is_over.wait(0.02):  # until the reader asks for more
                told.append("interrupted")
                os.kill(os.getpid(), signal.SIGINT)
                is_over.wait(10)
        finally:
            os.close(writing)

    other = threading.Thread(target=give_half, daemon=True)
    other.start()
    try:
        yield told
    finally:
        is_over.set()
        let_end(other, path)


def unread(pipe: int) -> int:
    """How many bytes of a pipe nobody has read."""
    number = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, number)
    return number[0]


FILES_READ = [
    (name, flag)
    for name, flag in READ
    # A pipe is refused for Python code, as Python would read it twice, and for files that are looked through.
    if not CASES[name][flag].folder and flag not in ("--functions", "--rules", "query", "files")
]


@pytest.mark.parametrize(("name", "flag"), FILES_READ, ids=[" ".join((*n, f)) for n, f in FILES_READ])
def test_an_interruption_in_the_middle_of_reading(name: Name, flag: str, folder: Path) -> None:
    case = CASES[name][flag]
    before = contents(folder)
    path = folder / f"half{case.suffix}"
    with half_written(path, (folder / case.value).read_bytes()) as told:
        result = invoke(*arguments(name, flag, path.name))
    assert told == ["interrupted"]
    assert result.exit_code == 130, result.output
    assert result.stderr.startswith("midstream: interrupted\n")
    after = contents(folder)
    assert {one: after[one] for one in before} == before
    for one in after.keys() - before.keys():
        assert ".unfinished" in one and f"{one} holds " in result.stderr
    assert_nothing_is_left(folder)


each_command = pytest.mark.parametrize("name", CASES, ids=" ".join)


@pytest.fixture
def process_state() -> Iterator[None]:
    """What a command may change of its process comes back."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    streams, hook = (sys.stdout, sys.stderr), sys.unraisablehook
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    (sys.stdout, sys.stderr), sys.unraisablehook = streams, hook


def outcome(stdout: int, given: list[str]) -> tuple[int, str]:
    """The exit status of a command whose standard output is some descriptor, and what it says on stderr."""
    told = os.open("told", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    sys.stdout, sys.stderr = (os.fdopen(one, "w") for one in (stdout, told))
    status = as_process(lambda: app(given, prog_name="midstream"))
    sys.stderr.flush()
    return status, Path("told").read_text()


@pytest.mark.slow
@each_command
def test_standard_output_that_is_full_is_told(name: Name, folder: Path, process_state: None) -> None:
    status, text = outcome(os.open("/dev/full", os.O_WRONLY), arguments(name))
    told = [line for line in text.splitlines() if not line.startswith("note: ")]
    assert (status, told[0]) == (2, "midstream: stdout: No space left on device")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == ("demo",)), id=" ".join(name)) for name in CASES],
)
def test_nobody_who_reads_standard_output_is_no_error(name: Name, folder: Path, process_state: None) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    status, text = outcome(writing, arguments(name))
    assert (status, "midstream:" in text) == (0, False)


def test_an_error_that_cannot_be_told_keeps_its_status(folder: Path, process_state: None) -> None:
    for given in (["run", "--nonsense"], ["explain", "none.sql"]):
        sys.stdout, sys.stderr = (os.fdopen(os.open("/dev/full", os.O_WRONLY), "w") for _ in range(2))
        assert as_process(lambda given=given: app(given, prog_name="midstream")) == 2


def process(*given: str, before: str = "", **more: Any) -> subprocess.Popen[str]:
    """The console script in a process of its own, which does something before it begins."""
    code = f"{before}\nfrom midstream_start import main\nmain()"
    return subprocess.Popen([sys.executable, "-c", code, *given], stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["explain", "run"])
def test_standard_output_that_is_closed_is_told(command: str, once: Path) -> None:
    given = [command, "q.sql", *(["--source", "s=s.csv", "--dead-letters", "d"] if command == "run" else [])]
    with process(*given, before="import os; os.close(1)", cwd=once) as running:
        _, error = running.communicate(timeout=60)
    assert (running.returncode, error.splitlines()[0]) == (2, "midstream: stdout: Bad file descriptor")
    assert not (once / "d").exists()


IMPORTING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{number})
sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "number"),
    [("midstream", "SIGINT"), ("typer", "SIGTERM"), ("midstream.commands.running", "SIGINT")],
)
def test_an_interruption_while_modules_are_imported(module: str, number: str, once: Path) -> None:
    before = IMPORTING.format(module=module, number=number)
    with process("run", "q.sql", before=before, cwd=once, stdout=subprocess.PIPE) as running:
        output, error = running.communicate(timeout=60)
    assert (running.returncode, output, error) == (130, "", "midstream: interrupted\n")
