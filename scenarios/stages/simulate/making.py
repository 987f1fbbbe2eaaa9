"""The grid of runs of a study on slices, made from a declared query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from midstream.io.plan_files import read_plan
from midstream.migration.transition import require_equivalence
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.values.errors import ArgumentError, InputFileError, MigrationRefused, PlanError
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.orders import group_by_order
from midstream.scenarios.stages.simulate.grid import RunGrid, Target
from midstream.scenarios.stages.what_if.candidates import LIMIT, all_plans
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs
from midstream.scenarios.streams.recorded.renaming import studied

MOST_ORDERS = 8
"""The most other orders to which migrations go by default."""

RESOLUTION = 20
"""The number of parts of the shortest window; times are measured to one part."""


def other_orders(plan: Plan) -> tuple[Target, ...]:
    """A plan of each join order except the given plan's.

    Raises   ArgumentError where there is none, or where there are too many plans to go through.
    """
    candidates = all_plans(plan, LIMIT)
    if candidates is None:
        raise ArgumentError(f"found more than {LIMIT:,} plans of the query, expected --to with some of them")
    orders = group_by_order(candidates.plans)[1 : 1 + MOST_ORDERS]
    if not orders:
        raise ArgumentError("found no other join order of the query, expected --to with a plan")
    return tuple(Target(order.label, candidates.plans[order.plans[0]]) for order in orders)


def targets(study: Study, plan: Plan, files: Sequence[Path]) -> tuple[Target, ...]:
    """The plans in some files, proved equivalent to the first plan; without files, other join orders.

    Raises   InputFileError.
    """
    if not files:
        try:
            return other_orders(plan)
        except ArgumentError as error:
            raise InputFileError(f"study {study.name}: {error}", path=study.name) from error
    found = []
    for file in files:
        target = studied(read_plan(file))
        try:
            require_equivalence(equivalent(plan, target), "refuse")
        except (MigrationRefused, PlanError) as error:
            raise InputFileError(f"{file}: {error}", path=file) from error
        found.append(Target(file.stem, target))
    return tuple(found)


def grid_of(
    study: Study,
    plan: Plan,
    targets: tuple[Target, ...],
    *,
    strategies: tuple[str, ...],
    seeds: Sequence[int],
    at: tuple[float, ...] = (),
    mutant: str | None = None,
) -> RunGrid:
    """The runs on each slice of a study's streams.

    Raises   PlanError where the plan does not fit the recorded streams; ArgumentError for a share outside its
             range.
    """
    for share in at:
        if not 0 <= share <= 1:
            raise ArgumentError(f"at: found {share}, expected a share of a slice from 0 to 1")
    shortest = min(one.length for one in plan_inputs(plan, study.streams))
    return RunGrid(
        plan=plan,
        targets=targets,
        strategies=strategies,
        seeds=tuple(dict.fromkeys(seeds)),
        schemas=schemas_of(plan),
        span=max(1, shortest // RESOLUTION),
        at=at,
        mutant=mutant,
    )


def schemas_of(plan: Plan) -> Mapping[str, Schema]:
    """The columns that a plan reads, by stream.

    Raises   PlanError where it reads one stream with different columns.
    """
    found: dict[str, Schema] = {}
    for node in plan.nodes:
        if isinstance(node.operator, Source):
            name = node.operator.stream
            if found.setdefault(name, node.schema) != node.schema:
                raise PlanError(
                    f"found stream {name} with columns {node.schema} and {found[name]}, expected the same"
                )
    return found
