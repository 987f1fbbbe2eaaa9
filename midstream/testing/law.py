"""The law of migrations: queries keep their promises, and no migration is refused without reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from midstream.engine import Engine
from midstream.migration.preconditions import require_bounded, require_start_preserving
from midstream.migration.transition import Transition
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_plan
from midstream.plans.equivalence.comparison import equivalent
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import NormalForm
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

REFUSALS = (
    "valid for ever|reference-point|rows of a relation|differ below|swap|parallel track|is under way|"
    "positive and negative elements|runs for other queries|ask for a log"
    "|there is no log of|log of the query is not"
)
"""A pattern that matches the messages of all known refusals."""


class LawRunner:
    """An engine, with the results and promises of its queries."""

    def __init__(self, relations: dict[str, list[Element]]) -> None:
        self.engine = Engine(relations=relations)
        self.given: dict[tuple[str, str], Batch] = {}
        self._promised: dict[tuple[str, str], Time] = {}

    def add(self, name: str, plan: Plan) -> None:
        """Run a query, and collect the results of its outputs."""
        self.engine.add(plan, name=name)
        for output in plan.outputs:
            self.given[name, output] = []
            self._promised[name, output] = BEGINNING
            self.engine.subscribe(partial(self._take, (name, output)), output, name)

    def _take(self, at: tuple[str, str], batch: Batch) -> None:
        late = [element for element in batch if element[0] < self._promised[at]]
        assert not late, f"{at} had promised {self._promised[at]} and gives {late}"
        self.given[at].extend(batch)

    def progress(self, at: tuple[str, str]) -> Time:
        """The progress of an output; results that start before it will be an error."""
        name, output = at
        progress = self.engine.query(name).progress(output)
        assert progress >= self._promised[at], f"{at} takes back {self._promised[at]}: {progress}"
        assert isinstance(progress, int) or progress in (BEGINNING, FOREVER), progress
        self._promised[at] = progress
        return progress


def steps(form: NormalForm) -> Iterator[Element]:
    """Elements with a given normal form."""
    for payload, found in form.items():
        for start, end, n in found:
            yield from [(start, end, payload)] * n


def must_move(engine: Engine, name: str, plan: Plan, strategy: str, *, preserving: bool) -> bool:
    """True if nothing prevents the migration of a query that is not being exchanged.

    `preserving` tells that it consists of operators that preserve starts, as the reference-point method
    requires.
    """
    query = engine.query(name)
    if strategy in ("swap", "parallel-track", "moving-states"):
        return False
    if strategy == "genmig-reference-point":
        # Signed implementations do not preserve starts, and Boxes are opaque.
        has_boxes = any(isinstance(node.operator, Boxed) for node in query.physical.nodes)
        if has_boxes or not (preserving and is_preserving(query.plan) and is_preserving(plan)):
            return False
    # Results of a shared subplan may end before its input's elements, as in a join of an unbounded window;
    # and after them, if rows of a relation come in.
    ends = engine.max_ends(name).values()
    had, has = (set(input_nodes(logical_plan(one))) for one in (query.plan, plan))
    return is_bounded(query.plan) and is_bounded(plan) and FOREVER not in ends and had == has


def is_bounded(plan: Plan) -> bool:
    """True if the inputs bound every result; where this is wrongly true, the law does not hold."""
    return not _is_refused(require_bounded, plan.outputs.values(), set(input_nodes(plan)))


def is_preserving(physical: Plan) -> bool:
    """True if a result's start tells which plan gives it.

    Converters count as well, because they pair ends with starts anew.
    """
    return not _is_refused(require_start_preserving, above(physical, input_nodes(physical)))


def _is_refused(require: Callable[..., None], *what: object) -> bool:
    try:
        require(*what, "old")
    except MigrationRefused:
        return True
    return False


def vouched(
    engine: Engine, plan: Plan, strategy: str = "genmig", query: str | None = None, **how: Any
) -> Transition:
    """Migrate at once to a plan that the normal form cannot prove equivalent, or that is not.

    This is for tests of the exchange itself. No rules are tried for a proof, because that would take longer
    than the migration.
    """
    proof = equivalent(engine.query(query).plan, plan, steps=0)
    return engine.migrate(plan, strategy, query, proof=proof, unproved="accept", **how)
