"""Midstream: change the query plan of a running continuous query.

    import midstream as ms

The names below are the whole of the public interface; `midstream.testing` adds hypothesis strategies.
"""

from midstream.arrivals import interleave
from midstream.autopilot.advice import Advice, Advisor, Forecast, advice_of_costs
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.decision import Decision
from midstream.autopilot.key_counts import KeyCounts
from midstream.autopilot.settings import BALANCED, CAREFUL, EAGER, Settings
from midstream.driving import run
from midstream.engine import Engine
from midstream.migration.auto import Prediction
from midstream.migration.machine import Migration
from midstream.migration.migrate import migrate_box
from midstream.migration.report import MigrationReport, report
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.migration.transition import Transition
from midstream.operators.base.box import Box, StateSize, max_end, settled, state_size
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.operators.engine.input.relations import constant
from midstream.operators.engine.measuring.counting import Counters
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.signs import signed_plan
from midstream.optimizer import (
    Choice,
    Milliseconds,
    RuleCheck,
    Search,
    Statistics,
    Steps,
    StreamStatistics,
    alternatives,
    enumerate_plans,
    equivalent,
    optimize,
    price,
    verify_rule,
)
from midstream.optimizer.rules import Rule, Shape
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.expressions.aggregates import (
    UserAggregate,
    avg,
    count,
    count_distinct,
    max_,
    median,
    min_,
    stddev,
    stddev_pop,
    stddev_samp,
    sum_,
    top_k,
    user_aggregate,
    var_pop,
    var_samp,
    variance,
)
from midstream.plans.expressions.operands import (
    Operand,
    case,
    coalesce,
    col,
    concat,
    concat_ws,
    greatest,
    least,
    lit,
    opaque,
)
from midstream.plans.values.errors import (
    ArgumentError,
    DeclarationError,
    EndedError,
    EnumerationLimit,
    ExpressionError,
    FunctionError,
    InputFileError,
    IntervalError,
    LateElementError,
    MidstreamError,
    MigrationRefused,
    MissingExtra,
    PlanError,
    PlanFormatError,
    SchemaError,
    SqlError,
    StatisticsError,
    StreamOrderError,
    TieError,
    UnknownStreamError,
)
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.snapshots import normal_form, snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, chronons, instant
from midstream.plans.values.verdicts import Answer, CounterExample, Equivalence
from midstream.queries import Query, catalog, sql
from midstream.sampling import sample

__version__ = "0.1.0"

__all__ = [
    "BALANCED",
    "BEGINNING",
    "CAREFUL",
    "EAGER",
    "FOREVER",
    "STRATEGIES",
    "Advice",
    "Advisor",
    "Answer",
    "ArgumentError",
    "Autopilot",
    "Box",
    "Choice",
    "Column",
    "CounterExample",
    "Counters",
    "DeadLetter",
    "Decision",
    "DeclarationError",
    "EndedError",
    "Engine",
    "EnumerationLimit",
    "Equivalence",
    "ExpressionError",
    "Forecast",
    "FunctionError",
    "InputFileError",
    "IntervalError",
    "KeyCounts",
    "LateElementError",
    "Metadata",
    "MidstreamError",
    "Migration",
    "MigrationRefused",
    "MigrationReport",
    "Milliseconds",
    "MissingExtra",
    "Node",
    "Operand",
    "Plan",
    "PlanBox",
    "PlanError",
    "PlanFormatError",
    "Prediction",
    "Query",
    "Rule",
    "RuleCheck",
    "Schema",
    "SchemaError",
    "Search",
    "Settings",
    "Shape",
    "SqlError",
    "StateSize",
    "Statistics",
    "StatisticsError",
    "Steps",
    "Stream",
    "StreamOrderError",
    "StreamStatistics",
    "TieError",
    "Transition",
    "Type",
    "UnknownStreamError",
    "UserAggregate",
    "advice_of_costs",
    "alternatives",
    "avg",
    "case",
    "catalog",
    "chronons",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "constant",
    "count",
    "count_distinct",
    "dumps",
    "enumerate_plans",
    "equivalent",
    "find_strategy",
    "greatest",
    "instant",
    "interleave",
    "least",
    "lit",
    "loads",
    "max_",
    "max_end",
    "median",
    "migrate_box",
    "min_",
    "normal_form",
    "opaque",
    "optimize",
    "physical_plan",
    "price",
    "relation",
    "report",
    "run",
    "sample",
    "settled",
    "signed_plan",
    "snapshot",
    "snapshots",
    "specified",
    "sql",
    "state_size",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "stream",
    "streaming_gc",
    "sum_",
    "top_k",
    "user_aggregate",
    "var_pop",
    "var_samp",
    "variance",
    "verify_rule",
]


def __dir__() -> list[str]:
    """The public names only: importing them makes attributes of internal packages, too."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
