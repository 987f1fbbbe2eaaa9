"""Explain a query: its plan as written, how the optimizer's rules rewrite it, and how it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from midstream.operators.engine.running.planner import form, physical_plan
from midstream.optimizer.cost import CostModel
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.search import (
    QUICK_STEPS,
    Budget,
    Choice,
    CommonPart,
    common_parts,
    labelled,
    optimize,
)
from midstream.optimizer.statistics import Statistics, StreamStatistics
from midstream.plans.algebra.drawing import tree
from midstream.plans.algebra.operators import (
    Arrangement,
    Counting,
    Relation,
    Source,
    TimeWindow,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import columns_read, logical, logical_plan, regions
from midstream.plans.pictures.diagrams import dot, svg
from midstream.plans.pictures.notes import Notes

ASSUMED_ROWS = 1_000
"""The assumed rows per stream in the longest window of a plan, if no statistics are given."""

AS_IT_IS = "the plan says how results are cut, or names implementations: it runs as it is"

NO_COSTS = "costs need statistics: `midstream run … --save-stats FILE` saves them, `--stats FILE` reads them"
"""The line in place of costs that would follow from assumed statistics."""


@dataclass(frozen=True)
class Stage:
    """A plan between the query and the running plan.

    cost      microseconds of processing per chronon above the windows, if the plan was priced
    placed    the nodes that the planner has put between operators: splits and converters
    """

    name: str
    reason: str
    plan: Plan
    cost: float | None = None
    placed: frozenset[Node] = frozenset()

    def notes(self, node: Node) -> tuple[str, ...]:
        """Known facts about a node, as lines."""
        own = ["placed by the planner"] if node in self.placed else []
        if isinstance(node.operator, Physical) and form(node) == "signs":
            own.append("gives signed elements")
        if (read := self._read[node]) != set(node.schema.names):
            own.append(
                f"read above: {', '.join(name for name in node.schema.names if name in read) or 'no column'}"
            )
        return (*own, *Notes(node).lines())

    @cached_property
    def _read(self) -> dict[Node, frozenset[str]]:
        return columns_read(self.plan)

    def text(self, with_notes: bool = True, with_cost: bool = True) -> str:
        """The stage's name, its reason, its cost, and the plan as a tree."""
        head = f"{self.name}: {self.reason}" if self.reason else self.name
        cost = f"\n   cost {self.cost:.4g} µs per chronon" if with_cost and self.cost is not None else ""
        drawing = tree(self.plan, below=self.notes) if with_notes else tree(self.plan)
        return "\n".join([head + cost, *(f"   {line}" for line in drawing.splitlines())])

    def dot(self, with_notes: bool = True) -> str:
        """The plan with its notes, for Graphviz."""
        return dot(self.plan, self.notes if with_notes else lambda node: ())

    def svg(self, with_notes: bool = True) -> str:
        """The plan with its notes, drawn."""
        return svg(self.plan, self.notes if with_notes else lambda node: ())

    def as_dict(self) -> dict[str, Any]:
        """The stage as plain data for JSON; nodes are numbered, inputs before consumers."""
        numbers = {node: i for i, node in enumerate(self.plan.nodes)}
        return {
            "name": self.name,
            "reason": self.reason,
            "cost": self.cost,
            "outputs": {name: numbers[root] for name, root in self.plan.outputs.items()},
            "regions": [[numbers[node] for node in region.nodes] for region in regions(self.plan)],
            "nodes": [
                {
                    "id": i,
                    "operator": logical(node).name,
                    "implementation": node.operator.name if isinstance(node.operator, Physical) else None,
                    "text": str(node.operator),
                    "inputs": [numbers[child] for child in node.inputs],
                    "form": form(node) if isinstance(node.operator, Physical) else "intervals",
                    "placed": node in self.placed,
                    "read_above": sorted(self._read[node]),
                    **Notes(node).as_dict(),
                }
                for node, i in numbers.items()
            ],
        }


@dataclass(frozen=True)
class Explanation:
    """The stages of a plan, from the logical plan as given to the physical plan.

    `choice` is the result of the optimizer. It is None for a plan that says how results are cut, or names
    implementations: such a plan runs as it is. `is_assumed` tells that no statistics were given.
    """

    stages: tuple[Stage, ...]
    choice: Choice | None
    is_assumed: bool

    @property
    def logical(self) -> Stage:
        """The plan as given."""
        return self.stages[0]

    @property
    def physical(self) -> Stage:
        """The plan as it runs."""
        return self.stages[-1]

    def text(self) -> str:
        """The plan that runs, and in a few lines the rules that led to it and its cost."""
        lines = [tree(self.physical.plan), "", *self._origin()]
        if self.physical.placed:
            lines.append(self.physical.reason)
        return "\n".join([*lines, *self._price()])

    def all_text(self, with_notes: bool = True) -> str:
        """All stages, one below the other, with their costs unless statistics were assumed."""
        stages = (stage.text(with_notes, with_cost=not self.is_assumed) for stage in self.stages)
        lines = [self._summary(), NO_COSTS] if self.is_assumed else [self._summary()]
        return "\n\n".join([*stages, "\n".join(lines)])

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data for JSON."""
        return {
            "stages": [stage.as_dict() for stage in self.stages],
            "statistics": "assumed" if self.is_assumed else "given",
            "subplans_considered": self.choice.considered if self.choice else 0,
            "all_considered": self.choice.is_complete if self.choice else False,
        }

    def _origin(self) -> list[str]:
        """The way from the query to the plan that runs."""
        if self.choice is None:
            return [AS_IT_IS]
        rules = dict.fromkeys(stage.name for stage in self.stages[1:-1])
        lines = [f"rewritten by {', '.join(rules)}" if rules else "runs as the query says it"]
        if not self.choice.is_complete:
            lines.append(f"there may be cheaper plans: {self.choice.considered} subplans were considered")
        return lines

    def _price(self) -> list[str]:
        """The cost of the plan that runs, beside that of the query as written."""
        if self.is_assumed:
            return [NO_COSTS]
        first, last = self.logical.cost, self.stages[-2].cost
        before = "" if first == last else f" instead of {first:.4g}"
        return [f"costs {last:.4g} µs per chronon{before}"]

    def _summary(self) -> str:
        if self.choice is None:
            return AS_IT_IS
        there = "all there are" if self.choice.is_complete else "there are more"
        by = (
            f"no statistics were given: {ASSUMED_ROWS} rows of every stream assumed within the longest window"
            if self.is_assumed
            else "by the statistics given"
        )
        return f"{self.choice.considered} subplans considered, {there}; {by}"


def explain(
    plan: Plan,
    statistics: Statistics | None = None,
    *,
    budget: Budget | int = QUICK_STEPS,
    objective: Objective = PROCESSING,
) -> Explanation:
    """Explain a plan: the rules that turn it into the cheapest equivalent plan, and its physical plan.

    Without statistics, streams of equal rates are assumed. Run `explanation.physical.plan` to run the
    explained plan.

    Cost     that of `optimize` with that budget.
    Raises   StatisticsError where statistics are given and an input has none; PlanError where an operator has
             no implementation.

    >>> from midstream.plans.algebra.builder import stream
    >>> a, b = (stream(name, **{name: "integer"}).window(60) for name in "ab")
    >>> explanation = explain(a.join(b, on=[("a", "b")]).filter(a["a"] > 7).plan())
    >>> [stage.name for stage in explanation.stages]
    ['logical plan', 'filter-below-left', 'physical plan']
    """
    given = _as_given(plan)
    known = assumed_statistics(given) if statistics is None else statistics
    model = CostModel(known)
    choice = _choice(plan, given, known, budget, objective)
    stages = [Stage("logical plan", "as the query says it", given, model.price(given).total)]
    if choice is not None and choice.is_better:
        for step, after in zip(choice.steps, choice.plans, strict=True):
            stages.append(Stage(step.rule, step.reason, after, model.price(after).total))
    chosen = stages[-1].plan
    physical = physical_plan(plan if choice is None else chosen)
    placed = _placed(physical, chosen)
    stages.append(Stage("physical plan", _placing(placed), physical, placed=placed))
    return Explanation(tuple(stages), choice, statistics is None)


def shared_parts(
    explanations: Mapping[str, Explanation], statistics: Statistics | None = None
) -> tuple[CommonPart, ...]:
    """The common parts of the physical plans of queries that run together, with their costs.

    The costs follow from statistics that are assumed where none are given.
    """
    _, roots = labelled({name: each.physical.plan for name, each in explanations.items()})
    plan = Plan(roots)
    model = CostModel(assumed_statistics(plan) if statistics is None else statistics)
    return common_parts(plan, model.price(plan))


def plan_to_run(plan: Plan) -> Plan:
    """The physical plan that `explain` finds without statistics."""
    given = _as_given(plan)
    choice = _choice(plan, given, assumed_statistics(given), QUICK_STEPS)
    return physical_plan(choice.plan if choice is not None and choice.is_better else plan)


def _as_given(plan: Plan) -> Plan:
    return plan.map(lambda node: Node(logical(node), node.inputs))


def is_free(plan: Plan) -> bool:
    """True if rules may rewrite a plan: it neither says how results are cut, nor names implementations."""
    # A query with split or coalesce asks for results in pieces, and rules ignore pieces.
    given = _as_given(plan)
    return given == plan and logical_plan(given) == given


def _choice(
    plan: Plan, given: Plan, known: Statistics, budget: Budget | int, objective: Objective = PROCESSING
) -> Choice | None:
    """The optimizer's choice for a plan; None if the plan must run as it is."""
    return optimize(given, known, budget=budget, objective=objective) if is_free(plan) else None


def assumed_statistics(plan: Plan) -> Statistics:
    """Assumed statistics for a plan with unknown streams.

    All streams have the same rate, windows have their declared lengths, relations have as many rows as a
    window, and values are unknown. Endless validity counts as ten times the longest window.

    >>> from midstream.plans.algebra.builder import stream
    >>> window = stream("s", x="integer").window(60_000)
    >>> assumed_statistics(window.plan()).stream(window.node)
    StreamStatistics(d=60.0, l=60000.0, g=1, sample=None, always=0.0, even=False, distributions={})
    """
    nodes = logical_plan(plan).nodes
    sizes = [op.size for node in nodes if isinstance(op := node.operator, TimeWindow) and op.size is not None]
    longest = max(sizes, default=1)
    d = longest / ASSUMED_ROWS
    lengths: dict[Node, float] = {}
    for node in nodes:
        match node.operator:
            case Source(intervals=intervals):
                lengths[node] = float(longest) if intervals else 1.0
            case TimeWindow(size, slide):
                lengths[node] = 10.0 * longest if size is None else float(size + slide - 1)
            case Counting(rows=rows):
                lengths[node] = 10.0 * longest if rows is None else rows * d
            case _:
                lengths[node] = max((lengths[child] for child in node.inputs), default=1.0)
    return Statistics(
        {
            node: StreamStatistics(float("inf"), float("inf"), always=float(ASSUMED_ROWS))
            if isinstance(node.operator, Relation)
            else StreamStatistics(d, lengths[node])
            for node in nodes
        }
    )


def _placed(physical: Plan, chosen: Plan) -> frozenset[Node]:
    """The nodes of a physical plan that implement no node of its logical plan."""
    found: set[Node] = set()
    seen: set[tuple[Node, Node]] = set()
    stack = [(physical.outputs[name], root) for name, root in chosen.outputs.items()]
    while stack:
        node, wanted = stack.pop()
        if (node, wanted) in seen:
            continue
        seen.add((node, wanted))
        if logical(node) == logical(wanted):
            stack.extend(zip(node.inputs, wanted.inputs, strict=True))
        else:
            assert isinstance(logical(node), Arrangement)
            found.add(node)
            stack.append((node.inputs[0], wanted))
    return frozenset(found)


def _placing(placed: frozenset[Node]) -> str:
    names = Counter(str(logical(node)) for node in placed)
    shown = ", ".join(f"{name}{'' if n == 1 else f' ({n} times)'}" for name, n in sorted(names.items()))
    return f"an implementation for each operator; placed between them: {shown or 'nothing'}"
