"""A query that names columns above its windows is studied as one that names them below them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import midstream as ms
from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.sql.catalog import Catalog
from midstream.scenarios.stages.run.reading import parse_study_file
from midstream.scenarios.stages.simulate.making import targets
from midstream.scenarios.streams.recorded.declaration import load_study
from midstream.scenarios.streams.recorded.inputs import declared_plan, questions, value_groups
from midstream.scenarios.streams.recorded.renaming import renamed_below_windows
from midstream.scenarios.streams.recorded.script import load_script

STREAMS = "".join(
    f"CREATE STREAM {name}(t TIMESTAMP, k INT, m TEXT) ORDERED BY t SOURCE csv('{name}.csv');\n"
    for name in "ABC"
)
SELECT = """SELECT a.k AS what, COUNT(*) AS n
FROM A a WINDOW(RANGE 40 SECONDS), B b WINDOW(RANGE 20 SECONDS), C c WINDOW(RANGE 20 SECONDS)
WHERE a.k = b.k AND b.m = c.m GROUP BY a.k"""
DECLARED = """
[defaults]
time = "t"
unit = "s"
window = 20
columns = { k = "integer?", m = "string?" }
[streams.A]
path = "A.csv"
window = 40
alias = "a"
[streams.B]
path = "B.csv"
alias = "b"
[streams.C]
path = "C.csv"
alias = "c"
"""
JOINS = '[query]\njoins = [["a.k", "b.k"], ["b.m", "c.m"]]\ngroup_by = ["a.k"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Declarations, a script, and the script's plan as it stands there."""
    script = f"SET time_unit = 'seconds';\n{STREAMS}{SELECT};"
    (tmp_path / "study.toml").write_text(DECLARED + JOINS)
    (tmp_path / "sql.toml").write_text(f'query = """{SELECT}"""\n{DECLARED}')
    (tmp_path / "query.sql").write_text(script)
    (written,) = Catalog(None).execute(script)
    (tmp_path / "plan.json").write_text(ms.dumps(written.plan))
    return tmp_path


def declared(folder: Path) -> Plan:
    """The declared joins, whose columns have their names below the windows."""
    plan = load_study(str(folder / "study.toml")).query
    assert plan is not None
    return plan


def of_a_file(folder: Path) -> Plan:
    return declared_plan(load_study(str(folder / "study.toml")), folder / "plan.json")


def of_a_study_file(folder: Path) -> Plan:
    file = parse_study_file("s.yaml", "streams: study.toml\nstages: {what-if: }", folder)
    return file.request("what-if").plan("plan.json")


def of_a_target(folder: Path) -> Plan:
    study = load_study(str(folder / "study.toml"))
    (target,) = targets(study, of_a_file(folder), [folder / "plan.json"])
    return target.plan


READ: dict[str, Callable[[Path], Plan | None]] = {
    "a script": lambda folder: load_script(str(folder / "query.sql")).query,
    "SQL in a declaration": lambda folder: load_study(str(folder / "sql.toml")).query,
    "--plan": of_a_file,
    "--to": of_a_target,
    "a study file's plan": of_a_study_file,
}


@pytest.mark.parametrize("read", READ)
def test_stages_ask_the_same_of_the_streams(read: str, folder: Path) -> None:
    plan, expected = READ[read](folder), declared(folder)
    assert plan is not None
    assert input_nodes(plan) == input_nodes(expected)
    assert questions(plan) == questions(expected)
    assert value_groups(plan) == value_groups(expected)


def test_rules_keep_it_so(folder: Path) -> None:
    plans = list(enumerate_plans(load_script(str(folder / "query.sql")).query))  # type: ignore[arg-type]
    assert len(plans) > 4
    assert [renamed_below_windows(plan) for plan in plans] == plans
