"""What must hold of a query that moves: its promises are kept, and nobody refuses without reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from midstream.engine import Engine, host_of
from midstream.migration.preconditions import require_bounded, require_start_preserving
from midstream.operators.engine.queries import carried_out
from midstream.plans.algebra.physical import Boxed
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import above, input_nodes, logical_plan
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

REFUSALS = (
    "valid for ever|reference-point|rows of a relation|differ below|swap|parallel track|is under way|"
    "positive and negative elements|runs for other queries|ask for a log"
    "|there is no log of|log of the query is not"
)
"""What refusals may say."""


class Runner:
    """An engine, and what its queries have given and promised."""

    def __init__(self, relations: dict[str, list[Element]]) -> None:
        self.engine = Engine(relations=relations)
        self.given: dict[tuple[str, str], Batch] = {}
        self._promised: dict[tuple[str, str], Time] = {}

    def add(self, name: str, plan: Plan) -> None:
        """Run a query, and listen to its outputs."""
        self.engine.add(plan, name=name)
        for output in plan.outputs:
            self.given[name, output] = []
            self._promised[name, output] = BEGINNING
            self.engine.subscribe(partial(self._take, (name, output)), output, name)

    def remove(self, name: str) -> None:
        """Run it no longer, and forget what it gave."""
        self.engine.remove(name)
        self.given = {at: batch for at, batch in self.given.items() if at[0] != name}

    def forget(self, name: str) -> None:
        """A query is another one now, which promises anew."""
        self._promised |= {at: BEGINNING for at in self._promised if at[0] == name}

    def _take(self, at: tuple[str, str], batch: Batch) -> None:
        late = [element for element in batch if element[0] < self._promised[at]]
        assert not late, f"{at} had promised {self._promised[at]} and gives {late}"
        self.given[at].extend(batch)

    def progress(self, at: tuple[str, str]) -> Time:
        """What an output promises, which it must keep from now on."""
        name, output = at
        progress = self.engine.query(name).progress(output)
        assert progress >= self._promised[at], f"{at} takes back {self._promised[at]}: {progress}"
        assert isinstance(progress, int) or progress in (BEGINNING, FOREVER), progress
        self._promised[at] = progress
        return progress


def between(results: Iterable[Element], since: Time, until: Time) -> NormalForm:
    """What a stream means from one instant to another."""
    clipped = ((max(start, since), min(end, until), payload) for start, end, payload in results)
    return normal_form(element for element in clipped if element[0] < element[1])


def clipped(form: NormalForm, since: Time) -> NormalForm:
    """What a normal form means from an instant on."""
    return between(steps(form), since, FOREVER)


def steps(form: NormalForm) -> Iterator[Element]:
    """Elements that mean what a normal form says."""
    for payload, found in form.items():
        for start, end, n in found:
            yield from [(start, end, payload)] * n


def must_move(engine: Engine, name: str, plan: Plan, strategy: str, *, preserving: bool) -> bool:
    """Whether nothing speaks against migrating a query that is not being exchanged. `preserving` says that
    it was made of operators that preserve starts, which the reference-point method asks for."""
    query = engine.query(name)
    if strategy in ("swap", "parallel-track", "moving-states"):
        return False
    if strategy == "genmig-reference-point":
        # Signed implementations do not preserve starts, and nobody looks inside of Boxes.
        has_boxes = any(isinstance(node.operator, Boxed) for node in query.physical.nodes)
        if has_boxes or not preserving:
            return False
        if not (is_preserving(query.plan) and is_preserving(plan)):
            return False
    # What is shared may end sooner than an input below it, such as a join of an unbounded window; and
    # later, where rows of a relation come in.
    host = host_of(engine)
    cut = (carried_out(query.physical, shared) for shared in (frozenset(), host.shared(name)))
    ends = [host.max_end(node) for inputs in cut for node in inputs.values()]
    had, has = (set(input_nodes(logical_plan(one))) for one in (query.plan, plan))
    return is_bounded(query.plan) and is_bounded(plan) and FOREVER not in ends and had == has


def is_bounded(plan: Plan) -> bool:
    """Whether streams bound whatever it gives; where this is wrongly true, the law does not hold."""
    try:
        require_bounded(plan.outputs.values(), set(input_nodes(plan)), "old")
    except MigrationRefused:
        return False
    return True


def is_preserving(physical: Plan) -> bool:
    """Whether a result's start tells which plan it belongs to; converters count, which pair ends with starts
    anew."""
    try:
        require_start_preserving(above(physical, input_nodes(physical)), "old")
    except MigrationRefused:
        return False
    return True
