"""What users see of an engine: few names in groups, each checked, and nothing that leads past the checks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import midstream as ms

GROUPS = {
    "feeding": {"push", "push_rows", "advance", "tick", "end", "close", "streams", "progress"},
    "queries": {
        "add", "remove", "replace", "subscribe", "adjust", "resize", "change_granule", "levers",
        "load_settings", "forget_settings", "remember_settings", "keep_log", "query", "queries", "plan",
    },
    "migration": {
        "autopilot", "budget", "migrate", "obstacle", "optimize", "optimize_all", "predict_migration",
    },
    "measuring": {
        "counters", "held", "max_ends", "observe", "size", "state", "statistics", "watch", "watch_streams",
    },
}  # fmt: skip

QUERY = {
    "name", "plan", "physical", "complete_from", "results", "progress", "is_exchanged", "is_logged",
    "settings", "dump_settings", "notes",
}  # fmt: skip


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.fixture
def engine() -> ms.Engine:
    bids = ms.stream("bids", item="integer").window(5)
    engine = ms.Engine(bids.distinct(), [].extend)
    engine.push("bids", ms.chronons([(0, (1,)), (1, (2,))]))
    return engine


def test_public_names_are_those_of_the_list_and_of_the_documentation(root: Path) -> None:
    assert sorted(public(ms.Engine)) == sorted(name for names in GROUPS.values() for name in names)
    assert public(ms.Query) == QUERY
    text = (root / "docs/queries.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (`.*) \|$", text, re.MULTILINE)
    assert {group: set(re.findall(r"`(\w+)`", names)) for group, names in rows if group in GROUPS} == GROUPS


def test_nothing_leads_past_the_checks(engine: ms.Engine) -> None:
    """What an engine, or a query of it, shows is plain data, or another of these."""
    assert not hasattr(engine, "process")
    plain = (str, int, float, bool, ms.Plan, ms.Query, ms.plans.Node)
    shown: list[Any] = [engine, engine.query()]
    values = [getattr(one, name) for one in shown for name in public(type(one))]
    for value in [*values, *engine.queries.values(), asdict(engine.counters()), list(engine.state())]:
        parts = value if isinstance(value, tuple | list) else [value]
        parts = value.values() if isinstance(value, dict) else parts
        assert all(isinstance(part, (*plain, tuple, dict)) or callable(part) for part in parts), value
    with pytest.raises(AttributeError):
        engine.query().plan = engine.plan  # type: ignore[misc]
    engine.queries.clear()
    assert list(engine.queries) == ["query"]


def test_a_query_tells_what_is_true_whenever_it_is_asked(engine: ms.Engine) -> None:
    query = engine.query("query")
    assert query == engine.query() == engine.queries["query"] != engine.add(engine.plan, name="again")
    assert (query.results, query.progress(), repr(query)) == (2, 1, "<Query query>")
    engine.push("bids", ms.chronons([(7, (1,))]))
    assert (query.results, query.progress("out")) == (3, 7)
    assert ms.boxes.state_size(engine).elements == engine.size() == 1
    engine.remove()
    assert (query.results, query.progress()) == (3, ms.FOREVER)


def test_without_queries_there_is_nothing_to_measure_but_size() -> None:
    engine = ms.Engine()
    assert (engine.streams, engine.queries, engine.size(), list(engine.state())) == ((), {}, 0, [])
    assert (engine.counters(), engine.held()) == (ms.Counters(0, 0, 0, {}), Counter())
    for name in ("query", "progress", "max_ends", "observe", "statistics", "optimize", "keep_log"):
        with pytest.raises(ms.errors.UnknownStreamError, match="no query"):
            getattr(engine, name)()
