"""Midstream: change the query plan of a running continuous query.

    import midstream as ms

The names below are those of a first program. `ms.sql`, or `ms.stream` and its methods, declare queries;
`ms.Engine` runs them; `Engine.migrate` moves a running query to another plan. More names stand in modules,
each complete for its topic. The first seven are loaded with this one:

ms.errors            all errors
ms.functions         all functions of expressions and groups
ms.boxes             the contract for engines of yours
ms.plans             plans and schemas as values, and the results that a plan must have
ms.optimizer         rules and their verification, costs, bounds of the search
ms.migration         the strategies, and the facts of a migration
ms.autopilot         the autopilot's decisions, and advisors of yours
midstream.io         sources and sinks: files, standard input, sockets, Python
midstream.studies    stages of studies, in a Spark session of yours
midstream.testing    hypothesis strategies, checks of rules and Boxes, planted faults
"""

import sys
from typing import TYPE_CHECKING, NoReturn

from midstream import autopilot, boxes, errors, functions, migration, optimizer, plans
from midstream.arrivals import interleave
from midstream.autopilot import BALANCED, CAREFUL, EAGER, Autopilot, Settings
from midstream.driving import run
from midstream.engine import Engine
from midstream.errors import MidstreamError, MigrationRefused, PlanError, SqlError
from midstream.files import catalog, read_csv, read_json, read_parquet, sql
from midstream.functions import (
    avg,
    case,
    coalesce,
    col,
    count,
    count_distinct,
    lit,
    max_,
    median,
    min_,
    opaque,
    stddev,
    sum_,
    user_aggregate,
    variance,
)
from midstream.migration import Migration, MigrationReport
from midstream.migration.report import report
from midstream.operators.engine.garbage_collection import streaming_gc
from midstream.operators.engine.input.input_manager import DeadLetter
from midstream.operators.engine.input.relations import constant
from midstream.operators.engine.measuring.counting import Counters
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.signs import signed_plan
from midstream.optimizer import (
    Statistics,
    StreamStatistics,
    alternatives,
    enumerate_plans,
    equivalent,
    optimize,
    price,
)
from midstream.plans import Plan
from midstream.plans.algebra.builder import Stream, relation, stream
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.values.streams import BEGINNING, FOREVER, chronons, instant
from midstream.plans.values.verdicts import Answer, CounterExample, Equivalence
from midstream.queries import Query
from midstream.sampling import sample

__version__ = "0.1.0"

__all__ = [
    "BALANCED",
    "BEGINNING",
    "CAREFUL",
    "EAGER",
    "FOREVER",
    "Answer",
    "Autopilot",
    "CounterExample",
    "Counters",
    "DeadLetter",
    "Engine",
    "Equivalence",
    "Metadata",
    "MidstreamError",
    "Migration",
    "MigrationRefused",
    "MigrationReport",
    "Plan",
    "PlanError",
    "Query",
    "Settings",
    "SqlError",
    "Statistics",
    "Stream",
    "StreamStatistics",
    "alternatives",
    "avg",
    "case",
    "catalog",
    "chronons",
    "coalesce",
    "col",
    "constant",
    "count",
    "count_distinct",
    "dumps",
    "enumerate_plans",
    "equivalent",
    "instant",
    "interleave",
    "lit",
    "loads",
    "max_",
    "median",
    "min_",
    "opaque",
    "optimize",
    "physical_plan",
    "price",
    "read_csv",
    "read_json",
    "read_parquet",
    "relation",
    "report",
    "run",
    "sample",
    "signed_plan",
    "sql",
    "stddev",
    "stream",
    "streaming_gc",
    "sum_",
    "user_aggregate",
    "variance",
]

_MODULES = (autopilot, boxes, errors, functions, migration, optimizer, plans)


def __dir__() -> list[str]:
    """The public names only: importing them makes attributes of internal packages, too."""
    modules = (module.__name__.rpartition(".")[2] for module in _MODULES)
    return [*__all__, *modules, *(name for name in globals() if name.startswith("__"))]


if not TYPE_CHECKING:  # To a type checker, a module with this function would have every name.

    def __getattr__(name: str) -> NoReturn:
        """Say in which module a name stands that is none of these."""
        for module in _MODULES:
            if name in module.__all__:
                raise AttributeError(f"midstream has no {name}; expected {module.__name__}.{name}")
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
        )
