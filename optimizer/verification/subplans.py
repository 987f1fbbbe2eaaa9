"""Random small subplans of a shape, to try rules on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from midstream.optimizer.rules.rule import ANY, Shape
from midstream.optimizer.verification.conditions import aggregate, computed, condition, matching
from midstream.optimizer.verification.declaring import declared
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.operators import (
    Aggregate,
    AntiJoin,
    Coalesce,
    CountWindow,
    Difference,
    Distinct,
    Dstream,
    Filter,
    Granularity,
    Intersection,
    Istream,
    Join,
    Logical,
    MaxUnion,
    PartitionedWindow,
    Project,
    Relation,
    Sample,
    SemiJoin,
    Source,
    Split,
    StrictDifference,
    Ties,
    TimeWindow,
    Union,
)
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import has_arrival_order, logical, timestamped
from midstream.plans.expressions.expressions import Col
from midstream.plans.values.errors import MidstreamError, PlanError
from midstream.plans.values.schema import Column, Schema, Type

Names = tuple[str, ...]

TRIES = 200
"""Number of failed drawings after which a shape is given up."""

DECLARED = 0.3
"""Share of subplans in which streams have declared keys and references."""

RELATIONS = 0.05
"""Share of leaves that are relations, some of them constant."""

FRESH = "xyzuvwabcdefghijklmnopq"
"""Names of columns, in the order in which they are used."""


class Subplans:
    """Random subplans over streams of small integers, some of which may be unknown.

    Every subplan is well-formed: a drawing that does not fit together is repeated. Subplans with the same
    columns are sometimes reused, so that rules that need equal inputs find some.

    >>> from midstream.optimizer.rules.rule import ANY, Shape
    >>> shape = Shape(Distinct, Shape(Join))
    >>> shape.fits(Subplans(Random(1)).of(shape))
    True
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self._made: dict[Names, list[Node]] = {}
        self._used: list[str] = []
        self._streams = 0

    def of(self, shape: Shape) -> Node:
        """A subplan of that shape; raises PlanError if there seems to be none."""
        reason: MidstreamError | None = None
        for _ in range(TRIES):
            self._made, self._used, self._streams = {}, [], 0
            try:
                node = self.draw(shape, None, 1)
                return declared(self.random, node) if self.random.random() < DECLARED else node
            except MidstreamError as error:
                reason = error
        raise PlanError(f"no subplan of the shape was found; the last try: {reason}")

    def draw(self, shape: Shape, names: Names | None, depth: int) -> Node:
        """A subplan, with columns of these names if given.

        Where the shape is open, it has at most `depth` operators above a stream.
        """
        node = self._input(names, depth) if shape.is_any else self._of_kind(shape, names, depth)
        self._made.setdefault(node.schema.names, []).append(node)
        return node

    def fresh(self, number: int) -> Names:
        """Names of columns that are new or, seldom, used elsewhere."""
        names: list[str] = []
        for _ in range(number):
            again = [name for name in self._used if name not in names]
            if again and self.random.random() < 0.12:
                names.append(self.random.choice(again))
            else:
                turn, letter = divmod(len(self._used), len(FRESH))
                self._used.append(f"{FRESH[letter]}{turn or ''}")
                names.append(self._used[-1])
        return tuple(names)

    def _of_kind(self, shape: Shape, names: Names | None, depth: int) -> Node:
        asked = tuple(kind for kind in shape.kinds if issubclass(kind, Logical))
        if not asked:
            return self._physical(shape, names, depth)
        kinds = [kind for kind in DRAWN if issubclass(kind, asked)]
        if not kinds:
            raise PlanError(
                f"found {' or '.join(kind.__name__ for kind in asked)}, expected operators that can be drawn"
            )
        return DRAWN[self.random.choice(kinds)](self, shape, names, depth)

    def _physical(self, shape: Shape, names: Names | None, depth: int) -> Node:
        """A random operator with one of its implementations."""
        node = DRAWN[self.random.choice([kind for kind in DRAWN if kind in IMPLEMENTATIONS])](
            self, shape, names, depth
        )
        choices = [
            physical
            for each in IMPLEMENTATIONS[type(logical(node))]
            if each.obstacle(physical := Node(Physical(each.name, logical(node)), node.inputs)) is None
        ]
        if not choices:
            raise PlanError(f"no implementation runs {node.operator}")
        return self.random.choice(choices)

    def _input(self, names: Names | None, depth: int) -> Node:
        """An input that a rule does not look into: a stream, a small subplan, or an existing one."""
        roll = self.random.random()
        made = [node for has, nodes in self._made.items() if names in (None, has) for node in nodes]
        if made and roll < (0.3 if names else 0.05):
            return self.random.choice(made)
        if depth and roll < 0.6:
            return DRAWN[self.random.choice(ABOVE_STREAMS)](self, ANY, names, depth - 1)
        return self._stream(names)

    def _stream(self, names: Names | None) -> Node:
        if names is None:
            names = self.fresh(self.random.choice((1, 1, 2)))
        columns = tuple(Column(name, Type.INTEGER, self.random.random() < 0.7) for name in names)
        self._streams += 1
        name = f"s{self._streams}"
        if self.random.random() < RELATIONS:
            return Node(Relation(name, Schema(columns), is_constant=self.random.random() < 0.5))
        return Node(Source(name, Schema(columns), intervals=self.random.random() < 0.5))


Drawer = Callable[[Subplans, Shape, "Names | None", int], Node]


def numbers(node: Node) -> Names:
    """The columns that conditions compare with integers."""
    return tuple(c.name for c in node.schema if c.type in (Type.INTEGER, Type.FLOAT))


def _filter(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    below = make.draw(shape.of_input(0), names, depth)
    return Node(Filter(condition(make.random, numbers(below))), (below,))


def _project(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    random = make.random
    below = make.draw(shape.of_input(0), None, depth)
    if names is None and random.random() < 0.5:
        kept = random.sample(below.schema.names, random.randint(1, len(below.schema)))
        return Node(Project(tuple((name, Col(name)) for name in kept)), (below,))
    names = names or make.fresh(random.choice((1, 2)))
    return Node(Project(tuple((name, computed(random, numbers(below))) for name in names)), (below,))


def _join(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    random = make.random
    ours = theirs = None
    if names is not None:
        # Either side has a column, and perhaps one that the join drops.
        taken = [name for name in names if random.random() < 0.5]
        ours, theirs = (
            tuple(side) + make.fresh(random.choice((0, 1)) if side else 1)
            for side in (taken, [name for name in names if name not in taken])
        )
    left = make.draw(shape.of_input(0), ours, depth)
    right = make.draw(shape.of_input(1), theirs, depth)
    if names is None:
        every = [*left.schema.names, *right.schema.names]
        kept = random.choice((len(every), random.randint(1, len(every))))
        names = tuple(random.sample(every, kept))
    return Node(Join(matching(random, numbers(left), numbers(right)), names), (left, right))


def _matching(kind: type[SemiJoin] | type[AntiJoin]) -> Drawer:
    def draw(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
        left = make.draw(shape.of_input(0), names, depth)
        right = make.draw(shape.of_input(1), None, depth)
        return Node(kind(matching(make.random, numbers(left), numbers(right))), (left, right))

    return draw


def _union(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    first = make.draw(shape.of_input(0), names, depth)
    more = range(1, max(len(shape.inputs), make.random.choice((2, 2, 2, 3))))
    rest = [make.draw(shape.of_input(place), first.schema.names, depth) for place in more]
    return Node(Union(), (first, *rest))


def _of_two(operator: Logical) -> Drawer:
    """A drawer for operators that compare multisets of the same columns."""

    def draw(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
        first = make.draw(shape.of_input(0), names, depth)
        return Node(operator, (first, make.draw(shape.of_input(1), first.schema.names, depth)))

    return draw


def _plain(operator: Callable[[Random], Logical]) -> Drawer:
    """A drawer for operators that fit any input."""

    def draw(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
        below = make.draw(shape.of_input(0), names, depth)
        return Node(operator(make.random), (below,))

    return draw


def _sample(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    below = make.draw(shape.of_input(0), names, 0)
    leaf = timestamped(below)
    if leaf is None:
        raise PlanError(f"found {below.operator}, expected a stream of timestamps below a sample")
    return Node(Sample(leaf.label, make.random.choice((0.3, 0.7))), (below,))


def _aggregate(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    random = make.random
    if names is None:
        below = make.draw(shape.of_input(0), None, depth)
        keys = tuple(name for name in below.schema.names if random.random() < 0.5)
        results = make.fresh(random.choice((0, 1, 1, 1, 2)) if keys else random.choice((1, 1, 2)))
    else:
        cut = random.randint(0, len(names))
        keys, results = names[:cut], names[cut:]
        more = make.fresh(random.choice((0, 1)) if keys else 1)
        below = make.draw(shape.of_input(0), keys + more, depth)
    calls = [(name, aggregate(random, numbers(below), integer=names is not None)) for name in results]
    return Node(Aggregate(keys, tuple(calls)), (below,))


def _count_window(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    below = make.draw(shape.of_input(0), names, depth)
    rows, slide = make.random.choice((1, 2)), make.random.choice((1, 1, 2))
    return Node(CountWindow(rows, slide, _ties(below)), (below,))


def _partitioned_window(make: Subplans, shape: Shape, names: Names | None, depth: int) -> Node:
    random = make.random
    below = make.draw(shape.of_input(0), names or make.fresh(2), depth)
    keys = tuple(random.sample(below.schema.names, random.randint(1, len(below.schema))))
    rows, slide = random.choice((1, 2)), random.choice((1, 1, 2))
    return Node(PartitionedWindow(keys, rows, slide, _ties(below)), (below,))


def _ties(below: Node) -> Ties:
    return "arrival" if has_arrival_order(below) else "error"


DRAWN: Mapping[type[Logical], Drawer] = {
    Filter: _filter,
    Project: _project,
    Join: _join,
    SemiJoin: _matching(SemiJoin),
    AntiJoin: _matching(AntiJoin),
    Union: _union,
    Difference: _of_two(Difference()),
    StrictDifference: _of_two(StrictDifference()),
    Intersection: _of_two(Intersection()),
    MaxUnion: _of_two(MaxUnion()),
    Distinct: _plain(lambda random: Distinct()),
    Aggregate: _aggregate,
    TimeWindow: _plain(
        lambda random: TimeWindow(random.choice((1, 2, 2, 3, 4, None)), random.choice((1, 1, 1, 2, 3)))
    ),
    CountWindow: _count_window,
    PartitionedWindow: _partitioned_window,
    Granularity: _plain(lambda random: Granularity(random.choice((2, 3, 4)))),
    Sample: _sample,
    Istream: _plain(lambda random: Istream()),
    Dstream: _plain(lambda random: Dstream()),
    Split: _plain(lambda random: Split(random.choice((1, 2)))),
    Coalesce: _plain(lambda random: Coalesce(random.choice((2, 5)))),
}
"""By kind of operator, the function that draws it."""

ABOVE_STREAMS: tuple[type[Logical], ...] = (Distinct, Distinct, Aggregate, Aggregate, Filter, Project, Union)
"""Operators at places that a rule does not look into; some of these have keys."""
