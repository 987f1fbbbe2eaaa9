"""Whatever a public function is called with: it works, or raises an error of the family that says what was
expected. No public name lets an error of Python's own through."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import midstream as ms
from midstream.plans.algebra.operators import Distinct
from midstream.plans.algebra.properties import input_nodes

S = ms.stream("s", x="integer", y="float")
T = ms.stream("t", z="integer")
W = S.window(10)
WAVERING = S.granularity(5, bounds=(5, 10))
PLAN = W.distinct().plan()
OTHER = W.union(W).distinct().plan()
STATISTICS = ms.Statistics({node: ms.StreamStatistics(d=5.0, l=60.0) for node in input_nodes(PLAN)})
ELEMENTS = [(1, 2, (5, 1.0))]
UNTWICE = (
    "untwice",
    "distinct(distinct(S)) = distinct(S)",
    ms.optimizer.Shape(Distinct, ms.optimizer.Shape(Distinct)),
    lambda node: [node.inputs[0]],
    lambda node, lower: lower,
)
FILE = str(Path(mkdtemp()) / "f.csv")
Path(FILE).write_text("t,n\n1,2\n")
Path(f"{FILE}.jsonl").write_text('{"time": 1700000000, "n": 2}\n')
pq.write_table(pa.table({"time": [1700000000], "n": [2]}), f"{FILE}.parquet")
SCRIPT = "CREATE STREAM bid(item INT, at TIMESTAMP) ORDERED BY at;"

WRONG: list[Any] = [
    None, 5, -1, 1.5, float("nan"), True, "text", "", b"x", [], [1], {}, {"a": 1}, set(), (1,), (1, 2, 3),
    object(), lambda row: row, int, date(2020, 1, 1), datetime(2020, 1, 1), timedelta(seconds=5),
    ms.stream("q", a="integer"), ms.col("x"), ms.count(), ms.plans.Type.ANY, PLAN, W.node,
]  # fmt: skip

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Deaf:
    """Watches streams, and does nothing."""

    def take(self, stream: str, batch: list[Any], progress: Any) -> None:
        pass

    def look(self, now: int) -> None:
        pass


def engine() -> ms.Engine:
    return ms.Engine(PLAN, [].extend)


def silent() -> ms.Engine:
    silent = engine()
    silent.advance("s", 50)
    return silent


def counts() -> ms.autopilot.KeyCounts[str]:
    return ms.autopilot.KeyCounts({"p": ("a", "b")}, 10)


def comparing() -> ms.Engine:
    return ms.Engine(S.join(T, on=ms.col("x") < ms.col("z")))


def on_engine(method: str, *arguments: Any, **named: Any) -> Call:
    return (lambda *a, **k: getattr(engine(), method)(*a, **k), arguments, named)  # noqa: PLW0108 - anew


def on_catalog(method: str, *arguments: Any) -> Call:
    return (lambda *a: getattr(ms.catalog("seconds"), method)(*a), arguments, {})  # noqa: PLW0108 - anew


def on_stream(method: str, *arguments: Any, **named: Any) -> Call:
    return (getattr(S, method), arguments, named)


def of(function: Callable[..., Any], *arguments: Any, **named: Any) -> Call:
    return (function, arguments, named)


def box(plan: ms.Plan = PLAN) -> ms.boxes.PlanBox:
    return ms.boxes.PlanBox(ms.physical_plan(plan))


AGGREGATES = (
    "avg", "count", "count_distinct", "max_", "median", "min_", "stddev", "stddev_pop", "stddev_samp", "sum_",
    "var_pop", "var_samp", "variance",
)  # fmt: skip

RIGHT: dict[str, Call] = {
    "stream": of(ms.stream, "s", {"x": "integer"}),
    "stream, options": of(
        lambda kind, intervals, unit: ms.stream("s", x=kind, intervals=intervals, time_unit=unit),
        "integer", False, "seconds",
    ),
    "relation": of(ms.relation, "s", {"x": "integer"}),
    "relation, options": of(lambda kind, temporal: ms.relation("s", x=kind, temporal=temporal), "any", False),
    "Stream": on_stream("window", 5, 1),
    "Stream.last": on_stream("last", 5, by=["x"], slide=1, ties="error", delay=1),
    "Stream.granularity": on_stream("granularity", 5),
    "Stream.split": on_stream("split", 2),
    "Stream.coalesce": on_stream("coalesce", 2),
    "Stream.filter": on_stream("filter", S["x"] > 1),
    "Stream.select": on_stream("select", "x", z=S["x"]),
    "Stream.rename": on_stream("rename", {"x": "q"}),
    "Stream.alias": on_stream("alias", "a"),
    "Stream.union": on_stream("union", S),
    "Stream.difference": on_stream("difference", S),
    "Stream.strict_difference": on_stream("strict_difference", S),
    "Stream.intersection": on_stream("intersection", S),
    "Stream.max_union": on_stream("max_union", S),
    "Stream.semi_join": on_stream("semi_join", T, [("x", "z")]),
    "Stream.anti_join": on_stream("anti_join", T, [("x", "z")]),
    "Stream.join": on_stream("join", T, [("x", "z")], ["x", "z"]),
    "Stream.group_by": on_stream("group_by", "x"),
    "Stream.aggregate": on_stream("aggregate", n=ms.count()),
    "Stream[…]": on_stream("__getitem__", "x"),
    "Group.aggregate": of(S.group_by("x").aggregate, n=ms.count()),
    "Engine": of(
        ms.Engine, PLAN, [].extend,
        relations={}, slack={"s": 5}, delay={"s": 3}, dead_letters=[].extend, compile=None,
    ),
    "Engine.push": on_engine("push", "s", ELEMENTS),
    "Engine.push, an element": of(lambda *element: engine().push("s", [element]), 1, 2, (5, 1.0)),
    "Engine.push, what is no element": of(lambda found: engine().push("s", [found]), ELEMENTS[0]),
    "Engine.push_rows": on_engine("push_rows", "s", [(1, 5, 1.0)], "at"),
    "Results": of(ms.Results, ELEMENTS, plan=PLAN),
    "Engine.advance": on_engine("advance", "s", 5),
    "Engine.tick, nobody listens": on_engine("tick", 5),
    "Engine.tick": of(lambda now: ms.Engine(PLAN, delay={"s": 3}).tick(now), 5),
    "Engine.end": on_engine("end", "s"),
    "Engine.progress": on_engine("progress", "s"),
    "Engine.adjust": of(
        lambda settings, at: ms.Engine(S.window(5, bounds=(1, 20)).plan()).adjust(settings, at=at),
        {S.window(5, bounds=(1, 20)).node: 20}, 50,
    ),
    "Engine.load_settings": of(
        lambda text, query: ms.Engine(S.window(5, bounds=(1, 20)).plan()).load_settings(text, query),
        ms.Engine(S.window(5, bounds=(1, 20)).plan()).query().dump_settings(), "query",
    ),
    "Engine.forget_settings": of(
        lambda before, query: silent().forget_settings(before, query), 5, "query"
    ),
    "Engine.remember_settings": of(lambda chronons: silent().remember_settings(chronons), 5),
    "Engine.resize": of(
        lambda node, size, at: ms.Engine(S.window(5, bounds=(1, 20)).plan()).resize(node, size, at),
        S.window(5, bounds=(1, 20)).node, 20, 50,
    ),
    "Engine.change_granule": of(
        lambda node, granule, at: ms.Engine(WAVERING.plan()).change_granule(node, granule, at),
        WAVERING.node, 10, 50,
    ),
    "Engine.replace": on_engine("replace", OTHER, "query", at=50),
    "Engine.counters": on_engine("counters", "query"),
    "Engine.held": on_engine("held", "query", in_bytes=True),
    "Engine.max_ends": on_engine("max_ends", "query"),
    "Engine.predict_migration": on_engine("predict_migration", OTHER, "genmig", "query", replace_all=False),
    "Engine.watch_streams": on_engine("watch_streams", Deaf(), 5, ["s"], idle=3),
    "Engine.add": on_engine("add", OTHER, [].extend, name="b"),
    "Engine.remove": on_engine("remove", "query"),
    "Engine.migrate": on_engine(
        "migrate",
        OTHER,
        "genmig",
        "query",
        when_busy="chain",
        replace_all=False,
        unproved="refuse",
        wait=False,
    ),
    "Engine.migrate by proof": on_engine("migrate", OTHER, proof=ms.equivalent(PLAN, OTHER)),
    "Engine.statistics": on_engine("statistics", "query"),
    "Engine.optimize": on_engine("optimize", "query"),
    "Engine.optimize in slices": on_engine("optimize", "query", budget=5),
    "Engine.optimize_all": on_engine("optimize_all", budget=5),
    "Engine.obstacle": on_engine("obstacle", OTHER, "query"),
    "Engine.autopilot": on_engine(
        "autopilot", queries=["query"], every=10, settings="balanced", unproved="refuse"
    ),
    "Engine.budget": on_engine(
        "budget",
        memory="1 MB",
        processor="30%",
        chronon=1000.0,
        rule="precision",
        weights={},
        reserve=0.1,
        threshold=0.1,
        every=10,
        deciding=0.05,
        remember=1000,
        statistics=None,
    ),
    "Engine.subscribe": on_engine("subscribe", [].extend, query="query", output="out"),
    "Engine.query": on_engine("query", "query"),
    "Query.progress": of(lambda output: engine().query().progress(output), "out"),
    "Engine.watch": on_engine("watch", "query"),
    "Engine.keep_log": on_engine("keep_log", "query"),
    "Engine.observe": on_engine("observe", "query"),
    "Statistics": of(ms.Statistics, {}, {S["x"] > 7: 0.1}, {"x": {1: 0.5}}),
    "StreamStatistics": of(ms.StreamStatistics, d=5.0, l=60.0, g=1),
    "optimize": of(ms.optimize, PLAN, STATISTICS),
    "optimize what runs": of(ms.optimize, PLAN, STATISTICS, obstacle=lambda plan: "no way"),
    "Steps": of(ms.optimizer.Steps, 5),
    "Milliseconds": of(ms.optimizer.Milliseconds, 5.0),
    "price": of(ms.price, PLAN, STATISTICS),
    "fit": of(
        ms.fit, PLAN, STATISTICS, memory="1 MB", processor="30%", chronon=1000.0, rule="precision"
    ),
    "enumerate_plans": of(ms.enumerate_plans, PLAN),
    "alternatives": of(ms.alternatives, PLAN, STATISTICS, 2),
    "dumps": of(ms.dumps, PLAN),
    "loads": of(ms.loads, ms.dumps(PLAN)),
    "Shape": of(ms.optimizer.Shape, Distinct, ms.optimizer.Shape(Distinct)),
    "Rule": of(ms.optimizer.Rule, *UNTWICE),
    "verify_rule": of(
        ms.optimizer.verify_rule, ms.optimizer.Rule(*UNTWICE),
        plans=1, inputs=5, examples=[], seconds=1.0, seed=1,
    ),
    "equivalent": of(ms.equivalent, ELEMENTS, ELEMENTS),
    "equivalent, of plans": of(ms.equivalent, PLAN, PLAN, steps=5, seconds=1.0),
    "normal_form": of(ms.plans.normal_form, ELEMENTS),
    "snapshot": of(ms.plans.snapshot, ELEMENTS, 1),
    "snapshots": of(ms.plans.snapshots, PLAN, {"s": ELEMENTS}),
    "specified": of(ms.plans.specified, PLAN, {"s": ELEMENTS}),
    "Settings": of(ms.Settings, 8.0, 0.5, 0.05, 0.1, None, 8, 2.0),
    "Settings.loads": of(ms.Settings.loads, ms.BALANCED.dumps()),
    "Forecast": of(ms.autopilot.Forecast, "b", 1.0, 2.0, 0.5, None),
    "Advice": of(ms.autopilot.Advice, 3.0, (ms.autopilot.Forecast("b", 1.0, 2.0),), "seen", None),
    "advice_of_costs": of(ms.autopilot.advice_of_costs, "a", {"a": 3.0, "b": 1.0}, 0.5, "seen"),
    "KeyCounts": of(ms.autopilot.KeyCounts, {"p": ("a", "b")}, 10, 2),
    "KeyCounts.take": of(lambda *told: counts().take(*told), 5, {"a": 1}),
    "KeyCounts.advise": of(lambda *told: counts().advise(*told), "p", 5),
    "Autopilot": of(ms.Autopilot, "a", 10, ms.CAREFUL),
    "Autopilot.decide": of(
        lambda *told: ms.Autopilot("a", 10).decide(*told), 5, ms.autopilot.Advice(1.0), 5, ["genmig"], 7
    ),
    "Autopilot.begun": of(lambda *told: ms.Autopilot("a", 10).begun(*told), 5, "b", "genmig", 5),
    "Autopilot.ended": of(lambda *told: ms.Autopilot("a", 10).ended(*told), 5, "b"),
    "run": of(ms.run, PLAN, {"s": ELEMENTS}, 10),
    "sample": of(ms.sample, comparing()),
    "sample, options": of(
        lambda *a, **k: ms.sample(comparing(), *a, **k), "query", share=0.5, seed=1, name="sampler"
    ),
    "interleave": of(ms.interleave, {"s": ELEMENTS}, 10),
    "chronons": of(ms.chronons, [(1, "a")], "seconds"),
    "chronons, a row": of(lambda row: list(ms.chronons([row])), (1, "a")),
    "chronons, a timestamp": of(lambda time: list(ms.chronons([(time, "a")])), 1),
    "instant": of(ms.instant, datetime(2020, 1, 1), "seconds"),
    "constant": of(ms.constant, [(1, "a")]),
    "physical_plan": of(ms.physical_plan, PLAN),
    "signed_plan": of(ms.signed_plan, PLAN),
    "Plan": of(ms.Plan, W.node),
    "Node": of(ms.plans.Node, W.node.operator, (S.node,)),
    "PlanBox": of(ms.boxes.PlanBox, ms.physical_plan(PLAN)),
    "find_strategy": of(ms.migration.find_strategy, "genmig"),
    "migrate_box": of(
        lambda old, new, *rest: ms.boxes.migrate_box(old or box(), new or box(OTHER), *rest),
        False, False, ms.migration.find_strategy("genmig"), [10], [5],
    ),
    "state_size": of(ms.boxes.state_size, box()),
    "max_end": of(ms.boxes.max_end, box()),
    "Column": of(ms.plans.Column, "x", ms.plans.Type.INTEGER, False),
    "Schema": of(ms.plans.Schema, (ms.plans.Column("x"),)),
    "Schema.of": of(lambda kind: ms.plans.Schema.of(x=kind), "integer"),
    "Schema.index": of(S.schema.index, "x"),
    "Schema.select": of(S.schema.select, ["x"]),
    "Schema.concat": of(S.schema.concat, T.schema),
    "Schema.check": of(S.schema.check, [(5, 1.0)]),
    "Type": of(ms.plans.Type, "integer"),
    **{name: of(getattr(ms.functions, name), "x") for name in AGGREGATES},
    **{
        f"{name}, in a query": of(lambda x, name=name: S.aggregate(v=getattr(ms.functions, name)(x)), "x")
        for name in AGGREGATES
    },
    "top_k": of(ms.functions.top_k, "x", 3),
    "user_aggregate": of(ms.user_aggregate, "n", abs, max, abs, None, "integer", False),
    "UserAggregate": of(ms.functions.UserAggregate, "n", abs, max, abs, None, ms.plans.Type.ANY, False),
    "col": of(ms.col, "x"),
    "lit": of(ms.lit, 5),
    "Operand": of(ms.functions.Operand, S["x"].expression, "x"),
    "Operand, compared": of(lambda other: S.filter(S["x"] == other), 5),
    "Operand, computed": of(lambda other: S.select(z=S["x"] + other), 5),
    "greatest": of(ms.functions.greatest, ms.col("x"), 1),
    "least": of(ms.functions.least, ms.col("x"), 1),
    "coalesce": of(ms.coalesce, ms.col("x")),
    "concat": of(ms.functions.concat, ms.col("x")),
    "concat_ws": of(ms.functions.concat_ws, "-", ms.col("x")),
    "case": of(ms.case, (ms.col("x") > 1, 1), default=2),
    "opaque": of(ms.opaque, abs, ["x"], "integer", False),
    "sql": of(ms.sql, f"{SCRIPT} SELECT * FROM bid", None),
    "read_csv": of(ms.read_csv, FILE, "s", time="t", unit="s"),
    "read_json": of(ms.read_json, f"{FILE}.jsonl", "s", unit="s"),
    "read_parquet": of(ms.read_parquet, f"{FILE}.parquet", "s", unit="s"),
    "catalog": of(ms.catalog, "seconds"),
    "catalog.execute": on_catalog("execute", SCRIPT),
    "catalog.query": on_catalog("query", f"{SCRIPT} SELECT * FROM bid"),
    "catalog.add_function": on_catalog("add_function", "f", abs, "float"),
    "catalog.add_stream": on_catalog("add_stream", "s", S.schema),
    "catalog.add_aggregate": on_catalog("add_aggregate", ms.user_aggregate("n", abs, max, abs)),
}  # fmt: skip

GIVEN_OUT = {
    "BALANCED", "BEGINNING", "CAREFUL", "EAGER", "FOREVER", "STRATEGIES", "Advisor",
    "Answer", "Box", "BudgetForecast", "Choice", "CounterExample", "Counters", "DeadLetter",
    "Decision", "Equivalence", "Metadata", "Migration", "MigrationReport", "Prediction", "RuleCheck",
    "Search", "StateSize", "Transition", "report", "settled", "streaming_gc",
}  # fmt: skip
"""Constants, a protocol, what engines and migrations give out, and what takes only that or nothing."""

OF_COSTS = {
    "INTERMEDIATE", "LATENCY", "MEMORY", "OBJECTIVES", "OUTPUT_RATE", "PROCESSING", "Budget", "CostModel",
    "Estimate", "Objective", "PlanCost", "Sample", "Terms", "UnitCosts", "om",
}  # fmt: skip
"""Parts of costs and of bounds. `price`, `optimize` and `Statistics` take some, and check them."""


ANOTHER_WORD = re.compile(
    "there is no|there are no|reads no|needs|already|occurs twice|both sides have|known:|is no JSON|compares|"
    "is over|no truth value|must be|write"
)
"""How messages tell what there is instead, or what is wrong with it, without the word."""


def carried_out(call: Call) -> Any:
    function, arguments, named = call
    result = function(*arguments, **named)
    if isinstance(result, Iterator):
        return list(result)
    if isinstance(result, AbstractContextManager):
        with result:
            pass
    return result


def test_every_public_name_is_called() -> None:
    names = {name.split(",")[0].split(".")[0].split("[")[0] for name in RIGHT}
    modules = (ms, ms.autopilot, ms.boxes, ms.functions, ms.migration, ms.optimizer, ms.plans)
    public = {name for module in modules for name in module.__all__}
    assert public - set(ms.errors.__all__) - names == GIVEN_OUT | OF_COSTS


def test_every_public_name_of_an_engine_is_called() -> None:
    called = {name.split(",")[0].split(" ")[0].removeprefix("Engine.") for name in RIGHT}
    takes_nothing = {"close", "streams", "queries", "plan", "levers", "size", "state"}
    assert {name for name in dir(ms.Engine) if not name.startswith("_")} - called == takes_nothing


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_function_cannot_take_raises_an_error_of_the_family(name: str) -> None:
    """In each place, two dozen things that do not belong there."""
    function, arguments, named = RIGHT[name]
    carried_out(RIGHT[name])
    places: list[int | str] = [*range(len(arguments)), *named]
    for place in places:
        for odd in WRONG:
            changed = tuple(odd if i == place else one for i, one in enumerate(arguments))
            options = {key: odd if key == place else one for key, one in named.items()}
            try:
                carried_out((function, changed, options))
            except ms.MidstreamError as error:
                assert str(error), (place, odd)
                assert "expected" in str(error) or ANOTHER_WORD.search(str(error)), (place, odd, str(error))


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (lambda: engine().push("s", None), r"push: found None, expected a list of elements \(start, end"),
        (lambda: engine().push("s", {"a": 1}), r"push: found {'a': 1} \(dict\), expected a list of elements"),
        (lambda: engine().push("s", [{"x": 1}]), r"stream s: found {'x': 1} \(dict\), expected elements"),
        (lambda: engine().push("s", [(5, 1.0)]), r"found \(5, 1.0\) \(tuple\), expected elements"),
        (lambda: engine().push("t", ELEMENTS), "the query reads no stream t; it reads s"),
        (
            lambda: engine().push("s", [(date(2020, 1, 1), 2, (1, 1.0))]),
            r"ms.chronons\(rows, 'seconds'\)",
        ),
        (lambda: ms.Engine(PLAN, 5), r"sink: found 5 \(int\), expected a function"),
        (lambda: ms.Engine(PLAN, dead_letters=5), r"dead_letters: found 5 \(int\), expected a function"),
        (lambda: ms.Engine("SELECT"), r"add: found 'SELECT' \(str\), expected a plan, or a stream"),
        (lambda: engine().migrate("genmig"), r"migrate: found 'genmig' \(str\), expected a plan"),
        (
            lambda: engine().advance("s", date(2020, 1, 1)),
            "found heartbeat datetime.*expected an integer",
        ),
        (lambda: S.join(T, on="x"), r"on: found 'x', expected a condition .*\[\('item', 'id'\)\]"),
        (lambda: S.join(T, on=["x"]), r"on: found 'x', expected a condition"),
        (lambda: S.join(T, on=("x", "z")), r"on: found 'x', expected a condition"),
        (lambda: S.join(T, on=[("x", "z", "y")]), r"on: found \('x', 'z', 'y'\), expected a condition"),
        (lambda: S.join(T, on={"x": "z"}), r"on: found {'x': 'z'}, expected a condition"),
        (lambda: S.join("t"), r"join: found 't' \(str\), expected a stream"),
        (lambda: S.filter(lambda row: row), "found the Python function <lambda>, expected an expression"),
        (lambda: S.select(z=lambda row: row), "found the Python function <lambda>, expected an expression"),
        (lambda: S.filter("x > 5"), "filter: found 'x > 5', expected a condition"),
        (lambda: ms.stream("s", x=timedelta), "found type timedelta, expected one of .*counted in chronons"),
        (lambda: ms.stream("s", x=list), "found type list, expected one of integer, float"),
        (lambda: S.window(timedelta(minutes=1)), r"window: found .*time_unit='seconds'\) has one"),
        (lambda: S.window("5"), "found a window of '5', expected a positive number of chronons"),
        (lambda: list(ms.chronons([(datetime(2020, 1, 1), 5)])), "datetimes need a unit of time"),
        (lambda: ms.catalog("fortnights"), "catalog: found the time unit 'fortnights', expected one of"),
        (lambda: ms.migration.find_strategy(5), "there is no strategy 5"),
    ],
)
def test_slips_are_told_what_is_expected(slip: Callable[[], Any], message: str) -> None:
    with pytest.raises(ms.MidstreamError, match=message):
        slip()


def test_a_stream_under_construction_stands_for_its_plan() -> None:
    query, other = W.distinct(), W.union(W).distinct()
    results: list[Any] = []
    running = ms.Engine(query, results.extend)
    running.push("s", ELEMENTS)
    running.migrate(other, **({"unproved": "accept"} if "unproved" in PARAMETERS else {}))
    running.add(query, name="again")
    running.close()
    assert results == ms.run(query, {"s": ELEMENTS}) == [(1, 11, (5, 1.0))]
    assert ms.enumerate_plans(query) == ms.enumerate_plans(PLAN)
    assert ms.optimize(query, STATISTICS).plan == ms.optimize(PLAN, STATISTICS).plan
    assert ms.price(query, STATISTICS).total == ms.price(PLAN, STATISTICS).total
    assert ms.dumps(query) == ms.dumps(PLAN)
    assert ms.plans.specified(query, {"s": ELEMENTS}) == ms.plans.specified(PLAN, {"s": ELEMENTS})
    assert ms.physical_plan(query) == ms.physical_plan(PLAN)
    assert ms.signed_plan(query) == ms.signed_plan(PLAN)
    wavering = S.window(10, bounds=(1, 20))
    assert ms.Engine(wavering).resize(wavering, 20, at=50).queries == ("query",)


PARAMETERS = inspect.signature(ms.Engine.migrate).parameters


def test_types_of_python_are_types_of_columns() -> None:
    found = ms.stream("s", a=int, b=float, c=str, d=bool, e=object, f=int | None, g=None | str).schema
    assert found == ms.plans.Schema.of(
        a="integer", b="float", c="string", d="boolean", e="any", f="integer?", g="string?"
    )
    assert ms.stream("s", {"a": int}).schema == ms.plans.Schema.of(a=int)
    assert ms.col("x").cast(str).equals(ms.col("x").cast("string"))


def test_durations_are_chronons_where_the_stream_has_a_unit() -> None:
    s = ms.stream("s", x=int, time_unit="seconds")
    assert s == ms.stream("s", x=int)
    minute = timedelta(minutes=1)
    assert s.window(minute) == s.window(60)
    assert s.window(minute, slide=timedelta(seconds=10)) == s.window(60, 10)
    assert s.filter(s["x"] > 1).window(minute) == s.filter(s["x"] > 1).window(60)
    assert s.last(1, by=["x"], delay=minute) == s.last(1, by=["x"], delay=60)
    assert s.granularity(minute) == s.granularity(60)
    assert s.window(60).split(minute).coalesce(minute) == s.window(60).split(60).coalesce(60)
    joined = s.alias("a").join(ms.stream("t", z=int), on=[("a.x", "z")])
    assert joined.split(minute) == joined.split(60)
    assert s.group_by("x").aggregate(n=ms.count()).split(minute).unit == s.unit
    with pytest.raises(ms.PlanError, match="found streams in milliseconds and seconds, expected one unit"):
        s.union(ms.stream("t", x=int, time_unit="ms"))
    with pytest.raises(
        ms.errors.ArgumentError, match="expected a whole number of seconds, the unit of chronons"
    ):
        s.window(timedelta(milliseconds=1))
    with pytest.raises(ms.errors.ArgumentError, match="a column of this name goes into a mapping"):
        ms.stream("s", time_unit="integer")


def test_instants_of_the_calendar_are_chronons_of_a_unit() -> None:
    moment = datetime(2020, 1, 1, 12, 30)
    assert ms.instant(moment, "seconds") == int(moment.replace(tzinfo=UTC).timestamp())
    assert ms.instant(moment.replace(tzinfo=UTC), "ms") == 1000 * ms.instant(moment, "s")
    assert ms.instant(date(1970, 1, 2), "hours") == 24
    assert ms.instant("1970-01-01T00:01", "seconds") == 60
    rows = [(moment, (1, 1.0)), (moment + timedelta(seconds=1), (2, 1.0))]
    begin = ms.instant(moment, "seconds")
    assert list(ms.chronons(rows, "seconds")) == list(ms.chronons([(begin, (1, 1.0)), (begin + 1, (2, 1.0))]))
    with pytest.raises(ms.errors.IntervalError, match="expected a whole number of seconds"):
        ms.instant(moment.replace(microsecond=5), "seconds")


def test_columns_may_be_written_as_columns() -> None:
    assert S.group_by(S["x"]).aggregate(n=ms.count()) == S.group_by("x").aggregate(n=ms.count())
    assert S.last(1, by=[S["x"]]) == S.last(1, by=["x"])
    assert S.join(T, columns=[T["z"], "x"]) == S.join(T, columns=["z", "x"])
