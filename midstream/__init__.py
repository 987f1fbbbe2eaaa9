"""Midstream: change the query plan of a running continuous query.

    import midstream as ms

The names below are those of a first program. `ms.sql`, or `ms.stream` and its methods, declare queries;
`ms.Engine` runs them; `Engine.migrate` moves a running query to another plan. More names stand in modules,
each complete for its topic. The first seven need no import of their own:

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

from __future__ import annotations

from typing import TYPE_CHECKING

from midstream.plans.values.lazy_names import lazy_names

if TYPE_CHECKING:  # The imports that `_HOMES` makes on demand, for readers that do not run the code.
    from midstream import (
        autopilot as autopilot,
        boxes as boxes,
        errors as errors,
        functions as functions,
        migration as migration,
        optimizer as optimizer,
        plans as plans,
    )
    from midstream.arrivals import interleave as interleave
    from midstream.autopilot import (
        BALANCED as BALANCED,
        CAREFUL as CAREFUL,
        EAGER as EAGER,
        Autopilot as Autopilot,
        Settings as Settings,
    )
    from midstream.driving import run as run
    from midstream.engine import Engine as Engine
    from midstream.errors import (
        MidstreamError as MidstreamError,
        MigrationRefused as MigrationRefused,
        PlanError as PlanError,
        SqlError as SqlError,
    )
    from midstream.files import (
        catalog as catalog,
        read_csv as read_csv,
        read_json as read_json,
        read_parquet as read_parquet,
        sql as sql,
    )
    from midstream.functions import (
        avg as avg,
        case as case,
        coalesce as coalesce,
        col as col,
        count as count,
        count_distinct as count_distinct,
        lit as lit,
        max_ as max_,
        median as median,
        min_ as min_,
        opaque as opaque,
        stddev as stddev,
        sum_ as sum_,
        user_aggregate as user_aggregate,
        variance as variance,
    )
    from midstream.migration import Migration as Migration, MigrationReport as MigrationReport
    from midstream.migration.report import report as report
    from midstream.operators.engine.garbage_collection import streaming_gc as streaming_gc
    from midstream.operators.engine.input.input_manager import DeadLetter as DeadLetter
    from midstream.operators.engine.input.relations import constant as constant
    from midstream.operators.engine.measuring.counting import Counters as Counters
    from midstream.operators.engine.measuring.metadata import Metadata as Metadata
    from midstream.operators.engine.running.planner import physical_plan as physical_plan
    from midstream.operators.signs import signed_plan as signed_plan
    from midstream.optimizer import (
        Statistics as Statistics,
        StreamStatistics as StreamStatistics,
        alternatives as alternatives,
        enumerate_plans as enumerate_plans,
        equivalent as equivalent,
        fit as fit,
        optimize as optimize,
        price as price,
    )
    from midstream.plans import Plan as Plan
    from midstream.plans.algebra.builder import Stream as Stream, relation as relation, stream as stream
    from midstream.plans.algebra.serialise import dumps as dumps, loads as loads
    from midstream.plans.values.streams import (
        BEGINNING as BEGINNING,
        FOREVER as FOREVER,
        chronons as chronons,
        instant as instant,
    )
    from midstream.plans.values.verdicts import (
        Answer as Answer,
        CounterExample as CounterExample,
        Equivalence as Equivalence,
    )
    from midstream.queries import Query as Query
    from midstream.results import Results as Results
    from midstream.sampling import sample as sample

__version__ = "0.1.0"

_HOMES = {
    "arrivals": "interleave",
    "autopilot": "BALANCED CAREFUL EAGER Autopilot Settings",
    "driving": "run",
    "engine": "Engine",
    "errors": "MidstreamError MigrationRefused PlanError SqlError",
    "files": "catalog read_csv read_json read_parquet sql",
    "functions": (
        "avg case coalesce col count count_distinct lit max_ median min_ opaque stddev sum_ user_aggregate "
        "variance"
    ),
    "migration": "Migration MigrationReport",
    "migration.report": "report",
    "operators.engine.garbage_collection": "streaming_gc",
    "operators.engine.input.input_manager": "DeadLetter",
    "operators.engine.input.relations": "constant",
    "operators.engine.measuring.counting": "Counters",
    "operators.engine.measuring.metadata": "Metadata",
    "operators.engine.running.planner": "physical_plan",
    "operators.signs": "signed_plan",
    "optimizer": "Statistics StreamStatistics alternatives enumerate_plans equivalent fit optimize price",
    "plans": "Plan",
    "plans.algebra.builder": "Stream relation stream",
    "plans.algebra.serialise": "dumps loads",
    "plans.values.streams": "BEGINNING FOREVER chronons instant",
    "plans.values.verdicts": "Answer CounterExample Equivalence",
    "queries": "Query",
    "results": "Results",
    "sampling": "sample",
}
"""By module, the names of a first program.

A module is imported when one of its names is first read. The engine's module brings all that a running engine
may need, as no element is to wait for an import.
"""

_MODULES = ("autopilot", "boxes", "errors", "functions", "migration", "optimizer", "plans")

if not TYPE_CHECKING:  # To a type checker, a module with `__getattr__` would have every name.
    __all__, _read, __dir__ = lazy_names(__name__, _HOMES, _MODULES)

    def __getattr__(name: str) -> object:
        """Import a name, or say in which module it stands if it is none of these."""
        try:
            return _read(name)
        except AttributeError:
            if not name.startswith("_"):
                for module in map(_read, _MODULES):
                    if name in module.__all__:
                        raise AttributeError(
                            f"midstream has no {name}; expected {module.__name__}.{name}"
                        ) from None
            raise
