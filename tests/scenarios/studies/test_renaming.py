"""A query that names columns above its windows is studied as one that names them below them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

import midstream as ms
from midstream.optimizer import enumerate_plans
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import input_nodes
from midstream.plans.sql.catalog import Catalog
from midstream.scenarios.stages.run.reading import parse_study_file
from midstream.scenarios.stages.simulate.making import targets
from midstream.scenarios.streams.recorded.inputs import declared_plan, questions, value_groups
from midstream.scenarios.streams.recorded.renaming import renamed_below_windows
from midstream.scenarios.streams.recorded.script import load_study

STREAMS = "".join(
    f"CREATE STREAM {name}(t BIGINT, k INT, m TEXT) SOURCE csv('{name}.csv') ORDERED BY t TIME_UNIT 's';\n"
    for name in "ABC"
)
SELECT = """SELECT a.k AS what, COUNT(*) AS n
FROM A a WINDOW(RANGE 40 SECONDS), B b WINDOW(RANGE 20 SECONDS), C c WINDOW(RANGE 20 SECONDS)
WHERE a.k = b.k AND b.m = c.m GROUP BY a.k"""
SCRIPT = f"{STREAMS}{SELECT};"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script, its streams alone, and its plan as it stands there, with names above the windows."""
    (tmp_path / "query.sql").write_text(SCRIPT)
    (tmp_path / "streams.sql").write_text(STREAMS)
    (written,) = Catalog(None).execute(SCRIPT)
    (tmp_path / "plan.json").write_text(ms.dumps(written.plan))
    return tmp_path


def named_below() -> Plan:
    """The query with columns that have their names below the windows."""
    a, b, c = (
        ms.stream(name.upper(), k="integer?", m="string?").alias(name).window(size)
        for name, size in (("a", 40), ("b", 20), ("c", 20))
    )
    joined = a.join(b, on=[("a.k", "b.k")]).join(c, on=[("b.m", "c.m")])
    return joined.group_by("a.k").aggregate(n=ms.count()).plan()


def of_a_file(folder: Path) -> Plan:
    return declared_plan(load_study(str(folder / "streams.sql")), folder / "plan.json")


def of_a_study_file(folder: Path) -> Plan:
    file = parse_study_file("s.yaml", "streams: query.sql\nstages: {what-if: }", folder)
    return file.request("what-if").plan("plan.json")


def of_sql_in_a_study_file(folder: Path) -> Plan | None:
    text = f"sql: |\n{indent(SCRIPT, '  ')}\nstages: {{what-if: }}"
    return parse_study_file("s.yaml", text, folder).study.query


def of_a_target(folder: Path) -> Plan:
    (target,) = targets(load_study(str(folder / "streams.sql")), of_a_file(folder), [folder / "plan.json"])
    return target.plan


READ: dict[str, Callable[[Path], Plan | None]] = {
    "a script": lambda folder: load_study(str(folder / "query.sql")).query,
    "SQL in a study file": of_sql_in_a_study_file,
    "--plan": of_a_file,
    "--to": of_a_target,
    "a study file's plan": of_a_study_file,
}


@pytest.mark.parametrize("read", READ)
def test_stages_ask_the_same_of_the_streams(read: str, folder: Path) -> None:
    plan, expected = READ[read](folder), named_below()
    assert plan is not None
    assert input_nodes(plan) == input_nodes(expected)
    assert questions(plan) == questions(expected)
    assert value_groups(plan) == value_groups(expected)


def test_rules_keep_it_so(folder: Path) -> None:
    plans = list(enumerate_plans(load_study(str(folder / "query.sql")).query))  # type: ignore[arg-type]
    assert len(plans) > 4
    assert [renamed_below_windows(plan) for plan in plans] == plans
