"""Scenarios: streams, plans, migrations and the strategies to compare, described in a YAML file.

    name: join-order
    duration: 40 s
    streams:
      A: {columns: {k: {values: uniform, low: 0, high: 99}}, arrivals: {process: constant, rate: 100}}
      B: {columns: {k: {values: uniform, low: 0, high: 99}}, arrivals: {process: constant, rate: 100}}
    plans:
      old: {sql: "SELECT A.k FROM A WINDOW(RANGE 5 SECONDS), B WINDOW(RANGE 5 SECONDS) WHERE A.k = B.k"}
      new: {file: new.json}
    migrations:
      - {at: 20 s, to: new}
    strategies: [genmig, parallel-track]

docs/simulator.md says what each key means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from midstream.io.text_file import find_text, ready_made
from midstream.migration.strategies import STRATEGIES
from midstream.migration.transition import require_equivalence
from midstream.operators.engine.input.relations import constant
from midstream.operators.engine.running.planner import physical_plan
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import ArgumentError, MidstreamError, MigrationRefused, SchemaError
from midstream.plans.values.schema import Column, Schema, Type, parse_column, suggest
from midstream.plans.values.streams import Element
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.streams.faults import shown, validated
from midstream.scenarios.streams.stream_spec import StreamSpec, Trace
from midstream.scenarios.streams.yaml_file import Document, read_yaml
from midstream.scenarios.streams.yaml_file import Path as Place
from midstream.scenarios.trials.simulator.adjusting import adjusted_nodes
from midstream.scenarios.trials.simulator.claims import Claim
from midstream.scenarios.trials.simulator.conditions import Condition
from midstream.scenarios.trials.simulator.joined_plans import joined
from midstream.scenarios.trials.simulator.plans import (
    SQL_TYPES,
    declaration,
    implemented,
    plan_of,
    require_sources,
)
from midstream.scenarios.trials.simulator.priced import priced_nodes
from midstream.scenarios.trials.simulator.results import BASELINE, BEST_FIXED, HINDSIGHT, alone
from midstream.scenarios.trials.simulator.scenario_policies import (
    CLAIRVOYANT,
    FOR_ALL_PLANS,
    ScenarioPolicy,
    known_policies,
)
from midstream.scenarios.trials.simulator.scenario_spec import (
    BudgetSpec,
    MigrationSpec,
    PlanSpec,
    RelationSpec,
    ScenarioSpec,
)
from midstream.scenarios.trials.simulator.variants import Variant
from midstream.scenarios.trials.simulator.workload import coming, random_queries, terms_of

OPTIMIZER = "optimizer"
"""The target of a migration to the best plan that the optimizer finds at that time."""

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class ScheduledMigration:
    """A migration of a scenario, at the instant `at`, or when `condition` is met."""

    to: str
    at: int | None
    condition: Condition | None
    abort_at: int | None


@dataclass(frozen=True)
class ComingQuery:
    """A query of a scenario with budgets, and the instant at which it comes."""

    at: int
    name: str
    plan: Plan


@dataclass(frozen=True)
class Scenario:
    """A checked scenario that may run, with all times in chronons.

    plans       by name; `start` is the one that runs first
    variants    the strategies
    policies    each decides in a run of its own
    budgets     by name of their runs
    queries     what runs within each budget, in order of coming
    every       the grid of measurements
    claims      statements about the figures
    text        the file's
    """

    spec: ScenarioSpec
    unit: TimeUnit
    plans: Mapping[str, Plan]
    start: str
    steps: tuple[ScheduledMigration, ...]
    variants: tuple[Variant, ...]
    policies: tuple[ScenarioPolicy, ...]
    budgets: Mapping[str, BudgetSpec]
    queries: tuple[ComingQuery, ...]
    relations: Mapping[str, list[Element]]
    every: int
    claims: tuple[Claim, ...]
    text: str

    @cached_property
    def second(self) -> int:
        """Chronons per second."""
        return TimeUnit.of("seconds").nanoseconds // self.unit.nanoseconds

    @cached_property
    def priced(self) -> frozenset[Node]:
        """The subplans whose results policies are judged by; none without policies."""
        return priced_nodes(self.plans.values()) if self.policies else frozenset()


def packaged() -> dict[str, str]:
    """The scenarios that come with Midstream: by name, the first line of the description."""
    return {name: _first_line(file.read_text(encoding="utf-8")) for name, file in _ready().items()}


def _ready() -> dict[str, Traversable]:
    return ready_made(resources.files("midstream.scenarios.trials.simulator") / "scenarios", SUFFIXES)


def _first_line(text: str) -> str:
    data = read_yaml("", text).data
    return str(data.get("description", "")).strip().partition("\n")[0]


def load_scenario(name: str, data: Path | None = None) -> Scenario:
    """Read a scenario: a file, or the name of one that comes with Midstream.

    Relative paths of traces are relative to `data`; without it, to the scenario's folder, as those of plans
    always are.

    Raises   InputFileError, naming file, line and key, what was found and what was expected.
    """
    file, text = find_text("scenario", name, _ready(), SUFFIXES)
    return parse_scenario(file, text, Path(file).parent, data)


def parse_scenario(file: str, text: str, folder: Path, data: Path | None = None) -> Scenario:
    """A scenario from the text of a file."""
    document = read_yaml(file, text)
    if not isinstance(document.data, dict):
        raise document.error((), f"found {shown(document.data)}, expected the keys of a scenario")
    unit = _unit(document)
    spec = validated(ScenarioSpec, document, unit=unit)
    return _Checker(document, spec, unit, folder, data).scenario(text)


def _unit(document: Document) -> TimeUnit:
    word = document.data.get("unit", "milliseconds")
    seconds = TimeUnit.of("seconds").nanoseconds
    with document.errors_at(("unit",), ValueError):
        unit = TimeUnit.of(str(word))
    if seconds % unit.nanoseconds:
        raise document.error(("unit",), f"found {word!r}, expected seconds, or a unit that they are made of")
    return unit


class _Checker:
    """Resolves the names and texts of a scenario."""

    def __init__(
        self, document: Document, spec: ScenarioSpec, unit: TimeUnit, folder: Path, data: Path | None
    ) -> None:
        self._document = document
        self._unit = unit
        self._folder = folder
        self._workload = None if spec.workload is None else random_queries(spec.workload)
        streams = {name: _located(one, data or folder) for name, one in spec.streams.items()}
        for name, one in {} if self._workload is None else self._workload.streams().items():
            if name in streams:
                raise document.error(("streams", name), f"found {name}, which is a stream of the workload")
            streams[name] = one
        self._spec = spec.model_copy(update={"streams": streams})
        self._every = spec.measures.every or max(1, spec.duration // 100)
        self._schemas = {
            name: Schema(tuple(Column(n, Type(column.type)) for n, column in stream.columns.items()))
            for name, stream in streams.items()
        }

    def scenario(self, text: str) -> Scenario:
        spec = self._spec
        relations = {name: self._relation(name, one) for name, one in spec.relations.items()}
        plans: dict[str, Plan] = {}
        for name, one in spec.plans.items():
            plans[name] = self._way(name, one, plans, relations)
        start = next(iter(plans), "") if spec.start is None else self._known(spec.start, plans, ("start",))
        steps = tuple(self._step(i, one, plans) for i, one in enumerate(spec.migrations))
        self._require_equivalence(plans, start)
        variants = self._variants()
        self._check_adjustments(plans)
        policies = self._policies(plans, start)
        self._check_budgets()
        runs = [BASELINE, *(alone(step.to) for step in steps), *(variant.name for variant in variants)]
        if not spec.strategies:
            runs = list(spec.budgets) or [alone(name) for name in plans]
        if policies:
            runs += [alone(name) for name in plans]
            runs += [*(policy.name for policy in policies), CLAIRVOYANT, BEST_FIXED, HINDSIGHT]
        return Scenario(
            spec=spec,
            unit=self._unit,
            plans=plans,
            start=start,
            steps=steps,
            variants=variants,
            policies=policies,
            budgets=spec.budgets,
            queries=tuple(self._queries(plans)) if spec.budgets else (),
            relations={name: constant(rows) for name, (_, rows) in relations.items()},
            every=self._every,
            claims=tuple(self._claim(i, one, dict.fromkeys(runs)) for i, one in enumerate(spec.claims)),
            text=text,
        )

    def _relation(self, name: str, relation: RelationSpec) -> tuple[Schema, list[tuple[Any, ...]]]:
        place = ("relations", name)
        if name in self._schemas:
            raise self._document.error(place, f"found relation {name}, which is also a stream")
        with self._document.errors_at((*place, "columns"), SchemaError):
            schema = Schema(tuple(parse_column(n, type_) for n, type_ in relation.columns.items()))
            for column in schema:
                if column.type not in SQL_TYPES:
                    raise SchemaError(
                        f"column {column.name}: found {column.type.value}, expected a type of SQL"
                    )
        for i, row in enumerate(relation.rows):
            with self._document.errors_at((*place, "rows", i), SchemaError):
                schema.check([tuple(row)])
        return schema, [tuple(row) for row in relation.rows]

    def _way(
        self,
        name: str,
        spec: PlanSpec,
        above: Mapping[str, Plan],
        relations: Mapping[str, tuple[Schema, Any]],
    ) -> Plan:
        """The plan of a name, with the form and the implementations that it requests."""
        if spec.of is not None:
            self._known(spec.of, above, ("plans", name, "of"))
            if self._spec.plans[spec.of].of is not None:
                raise self._document.error(
                    ("plans", name, "of"), f"found {spec.of}, which is itself another way of a plan"
                )
        texts = any(text is not None for text in (spec.sql, spec.file, spec.plan))
        plan = self._plan(name, spec, relations) if texts else above[spec.of or ""]
        key = "implementations" if spec.implementations else "form"
        with self._document.errors_at(("plans", name, key), MidstreamError):
            if spec.implementations:
                plan = implemented(plan, spec.implementations)
                physical_plan(plan)
            return signed_plan(plan) if spec.form == "signs" else plan

    def _plan(self, name: str, spec: PlanSpec, relations: Mapping[str, tuple[Schema, Any]]) -> Plan:
        if name == OPTIMIZER:
            raise self._document.error(("plans", name), "found a plan of this name, which means no plan")
        catalog = Catalog(self._unit)
        form = next(key for key in ("sql", "file", "plan") if getattr(spec, key) is not None)
        with self._document.errors_at(("plans", name, form), MidstreamError):
            for stream, schema in self._schemas.items():
                catalog.add_stream(stream, schema)
            for relation, (schema, _) in relations.items():
                catalog.execute(declaration(relation, schema))
            plan = plan_of(spec.sql, spec.file, spec.plan, self._folder, catalog)
            require_sources(plan, self._schemas, {name: schema for name, (schema, _) in relations.items()})
            return plan

    def _step(self, i: int, spec: MigrationSpec, plans: Mapping[str, Plan]) -> ScheduledMigration:
        place = ("migrations", i)
        self._known(spec.to, [*plans, OPTIMIZER], (*place, "to"))
        condition = None
        if spec.when is not None:
            before = f"found {spec.when!r}, expected "
            with self._document.errors_at((*place, "when"), ValueError, before=before):
                condition = Condition.of(spec.when, list(self._schemas))
        for key in ("at", "abort_at"):
            self._require_before_end(getattr(spec, key), (*place, key))
        return ScheduledMigration(spec.to, spec.at, condition, spec.abort_at)

    def _require_equivalence(self, plans: Mapping[str, Plan], start: str) -> None:
        """Raise an error unless all target plans are equivalent to the first plan."""
        for i, one in enumerate(self._spec.migrations):
            if one.to != OPTIMIZER:
                place = ("migrations", i, "to")
                with self._document.errors_at(place, MigrationRefused, before=f"{one.to}: "):
                    require_equivalence(equivalent(plans[start], plans[one.to]), one.unproved)

    def _check_adjustments(self, plans: Mapping[str, Plan]) -> None:
        for i, change in enumerate(self._spec.adjustments):
            place = ("adjustments", i)
            if self._spec.strategies or self._spec.policies:
                raise self._document.error(
                    place, "found an adjustment, expected none where strategies migrate: plans would differ"
                )
            if change.stream is not None:
                self._known(change.stream, self._schemas, (*place, "stream"))
            self._require_before_end(change.at, (*place, "at"))
            for name, plan in plans.items():
                if not adjusted_nodes(plan, change):
                    what = "time window" if change.window is not None else "granularity conversion"
                    raise self._document.error(place, f"found no {what} to change in plan {name}")

    def _variants(self) -> tuple[Variant, ...]:
        if self._spec.migrations and not self._spec.strategies:
            raise self._document.error(("strategies",), "found nothing, expected one at least")
        variants: dict[str, Variant] = {}
        for i, one in enumerate(self._spec.strategies):
            place = ("strategies", i)
            self._known(one.name, STRATEGIES, place)
            with self._document.errors_at((*place, "ordered"), ValueError, before="found false, expected "):
                variant = Variant.of(one.name, one.called, ordered=one.ordered, replace_all=one.replace_all)
            if variant.name in variants:
                raise self._document.error(place, f"found {variant.name} a second time")
            if variant.name == BASELINE or variant.name.endswith(alone("")):
                raise self._document.error(
                    (*place, "as"), f"found {variant.name}, which is a run without migration"
                )
            variants[variant.name] = variant
        return tuple(variants.values())

    def _policies(self, plans: Mapping[str, Plan], start: str) -> tuple[ScenarioPolicy, ...]:
        """The policies; all plans must be equivalent to the first one, and arrivals come as they start."""
        spec = self._spec
        found: dict[str, ScenarioPolicy] = {}
        taken = [*map(alone, plans), BASELINE, BEST_FIXED, HINDSIGHT]
        taken += [one.called or one.name for one in spec.strategies]
        for i, one in enumerate(spec.policies):
            place = ("policies", i)
            self._known(one.name, known_policies(), place)
            if one.start is not None:
                self._known(one.start, plans, (*place, "start"))
            with self._document.errors_at((*place, "settings"), ValueError):
                policy = ScenarioPolicy.of(one)
            self._require_prices(place, policy, plans)
            is_another = policy.name == CLAIRVOYANT and policy.kind != CLAIRVOYANT
            if policy.name in found or policy.name in taken or is_another:
                raise self._document.error(
                    (*place, "as") if one.called else place, f"found {policy.name} a second time"
                )
            found[policy.name] = policy
        if found:
            self._require_judgeable(plans, start)
        return tuple(found.values())

    def _require_prices(self, place: Place, policy: ScenarioPolicy, plans: Mapping[str, Plan]) -> None:
        if policy.kind in FOR_ALL_PLANS:
            return
        try:
            joined(self._spec.name, plans, {stream: () for stream in self._schemas}, None)
        except ValueError as error:
            raise self._document.error(
                place,
                f"found {policy.kind}, which prices joins of three streams only: {error}; "
                f"other plans are judged with {' and '.join(FOR_ALL_PLANS)}",
            ) from error

    def _require_judgeable(self, plans: Mapping[str, Plan], start: str) -> None:
        spec = self._spec
        if len(plans) < 2:
            raise self._document.error(("plans",), "found one plan, expected two at least to choose from")
        if spec.batch != 1:
            raise self._document.error(
                ("batch",), f"found {spec.batch}, expected 1: policies are asked at each instant"
            )
        for name, stream in spec.streams.items():
            for key in ("lag", "disorder", "slack", "idle"):
                if getattr(stream, key):
                    raise self._document.error(
                        ("streams", name, key),
                        "expected none where policies are judged: elements arrive as they start",
                    )
        vouched = "accept" if any(one.unproved == "accept" for one in spec.policies) else "refuse"
        for name, plan in plans.items():
            with self._document.errors_at(("plans", name), MigrationRefused, before=f"{name}: "):
                require_equivalence(equivalent(plans[start], plan), vouched)

    def _check_budgets(self) -> None:
        """Raise an error unless budgets stand by themselves, and limit something."""
        spec = self._spec
        if spec.workload is not None:
            if not spec.budgets:
                raise self._document.error(("workload",), "found no budgets, expected one at least")
            for i, later in enumerate(spec.workload.later):
                for key in ("at", "until"):
                    self._require_before_end(getattr(later, key), ("workload", "later", i, key))
        for name, budget in spec.budgets.items():
            place = ("budgets", name)
            for key in ("strategies", "policies", "adjustments"):
                if getattr(spec, key):
                    raise self._document.error(place, f"found a budget, expected none beside {key}")
            with self._document.errors_at(place, ArgumentError):
                terms_of(budget)

    def _queries(self, plans: Mapping[str, Plan]) -> Iterator[ComingQuery]:
        """The plans, and the queries of the workload, in order of coming."""
        yield from (ComingQuery(0, name, plan) for name, plan in plans.items())
        workload = self._spec.workload
        if workload is not None and self._workload is not None:
            for at, numbers in coming(workload):
                yield from (ComingQuery(at, f"query {i}", self._workload.plan(i)) for i in numbers)

    def _claim(self, i: int, text: str, runs: Collection[str]) -> Claim:
        with self._document.errors_at(("claims", i), ValueError, before=f"found {text!r}, expected "):
            claim = Claim.of(text, runs, self._unit.duration)
            claim.check_spans(self._every, self._spec.duration)
            return claim

    def _require_before_end(self, time: int | None, place: Place) -> None:
        if time is not None and time >= self._spec.duration:
            raise self._document.error(
                place, f"found {time}, expected less than the duration, {self._spec.duration}"
            )

    def _known(self, name: str, known: Any, place: Place) -> str:
        if name not in known:
            raise self._document.error(
                place, f"found {name!r}, expected one of {', '.join(known)}{suggest(name, known)}"
            )
        return name


def _located(stream: StreamSpec, folder: Path) -> StreamSpec:
    """The stream with the path of its trace, if it has one, in a folder."""
    arrivals = stream.arrivals
    if not isinstance(arrivals, Trace):
        return stream
    return stream.model_copy(
        update={"arrivals": arrivals.model_copy(update={"path": folder / arrivals.path})}
    )
