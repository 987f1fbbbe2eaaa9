"""Rules, shapes and stages, and the application of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.optimizer.rules.raising import asks_no_more
from midstream.plans.algebra.plan import Node, Operator
from midstream.plans.values.arguments import listed, require, require_callable, require_name, wrong
from midstream.plans.values.errors import MidstreamError, PlanError

Guard = Callable[[Node, Any], bool]
"""A named condition under which an equation holds for a subplan and a result of the rule's `match`."""

Measure = Callable[[Node], tuple[int, ...]]
"""Numbers of a subplan, compared in lexicographic order."""

Kinds = type[Operator] | tuple[type[Operator], ...]


@dataclass(frozen=True, slots=True, init=False)
class Shape:
    """The operators that a rule looks at, from the top of a subplan down.

    `kinds` are those of the top operator, in the sense of `isinstance`. `inputs` are the shapes of its first
    inputs; the rule does not look into an input with the shape ANY or without a shape. With `each`, all
    inputs have that shape, however many there are.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.algebra.operators import Distinct, Join
    >>> a, b = (stream(name, **{name: "integer"}).window(9) for name in "ab")
    >>> Shape(Distinct, Shape(Join)).fits(a.join(b).distinct().node)
    True
    >>> Shape(Distinct, Shape(Join, each=Shape(Distinct))).fits(a.join(b).distinct().node)
    False
    """

    kinds: tuple[type[Operator], ...]
    inputs: tuple[Shape, ...]
    each: Shape | None

    def __init__(self, kinds: Kinds, *inputs: Shape, each: Shape | None = None) -> None:
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if not all(isinstance(kind, type) for kind in kinds):
            raise wrong("shape", kinds, "a class of operators, or several")
        for shape in inputs if each is None else (*inputs, each):
            require("shape", shape, Shape, "a shape for each input")
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "each", each)

    @property
    def is_any(self) -> bool:
        """True if every subplan fits, so that no check is needed."""
        return not self.kinds

    def of_input(self, place: int) -> Shape:
        """The shape of the input of that number."""
        if self.each is not None:
            return self.each
        return self.inputs[place] if place < len(self.inputs) else ANY

    def fits(self, node: Node) -> bool:
        """True if a subplan has the shape."""
        if self.is_any:
            return True
        if not isinstance(node.operator, self.kinds):
            return False
        return all(self.of_input(place).fits(child) for place, child in enumerate(node.inputs))


ANY = Shape(())
"""The shape of every subplan."""


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """An equation between subplans, read from left to right.

    A rule is tried at subplans of its `shape` and looks no deeper, except at known properties of a subplan
    (columns, keys). `match` yields a value for each way to read the equation there. The equation holds if
    all `guards` are true. `rewrite` returns the other side.

    A *simplifying* rule has a `measure` that every application reduces: it can be applied until nothing
    changes, and its left side need not be kept. An *exploring* rule has none; the costs decide which side is
    better. `keeps_links` is true if joins in the standard form (see `linked`) stay in it.
    """

    name: str
    equation: str
    shape: Shape
    match: Callable[[Node], Iterable[Any]]
    rewrite: Callable[[Node, Any], Node]
    guards: tuple[Guard, ...] = ()
    measure: Measure | None = None
    keeps_links: bool = False

    @property
    def is_simplifying(self) -> bool:
        """True if the right side is always better."""
        return self.measure is not None

    def __post_init__(self) -> None:
        require_name("rule", self.name, "the name of the rule")
        require_name(f"rule {self.name}", self.equation, "an equation as text")
        require(f"rule {self.name}", self.shape, Shape, "a shape")
        require_callable(f"rule {self.name}: match", self.match, "a function of a node")
        require_callable(f"rule {self.name}: rewrite", self.rewrite, "a function of a node and a match")

    def __repr__(self) -> str:
        return f"<Rule {self.name}>"

    def __str__(self) -> str:
        return f"{self.name}: {self.equation}"


@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """Rules that are applied together, under a name."""

    name: str
    rules: tuple[Rule, ...]

    def __repr__(self) -> str:
        return f"<Stage {self.name}>"


def flat(rules: Sequence[Rule | Stage]) -> tuple[Rule, ...]:
    """The rules and the rules of stages, in order; raises ArgumentError for anything else."""
    found: list[Rule] = []
    for each in listed("rules", rules, "a list of rules and stages"):
        if not isinstance(each, Rule | Stage):
            raise wrong("rules", each, "a rule or a stage, such as those of midstream.optimizer.rules")
        found += each.rules if isinstance(each, Stage) else (each,)
    return tuple(found)


def staged(rules: Sequence[Rule | Stage]) -> list[Sequence[Rule]]:
    """The rules of each stage, and a last list with the rules without a stage."""
    alone = [each for each in rules if isinstance(each, Rule)]
    return [*(each.rules for each in rules if isinstance(each, Stage)), alone]


def apply(rule: Rule, node: Node, *, raises_alike: bool = False) -> Iterator[Node]:
    """The subplans that a rule makes of a node.

    Checks what holds for all rules: the columns keep their name, type and order, and the measure of a
    simplifying rule falls. (A plan node checks itself that it is well-formed.)

    If the plan has an expression that may raise, a result that may evaluate it on further rows is left out.
    With `raises_alike`, so is a result that may evaluate it on fewer rows.

    Raises   PlanError, with the name of the rule, if the rule is wrong.
    """
    if not rule.shape.fits(node):
        return
    for matched in rule.match(node):
        if not all(guard(node, matched) for guard in rule.guards):
            continue
        try:
            result = rule.rewrite(node, matched)
        except MidstreamError as error:
            raise PlanError(f"rule {rule.name} on {node!r}: {error}", rule=rule.name) from error
        if result != node:
            _check(rule, node, result)
            if asks_no_more(result, node) and (not raises_alike or asks_no_more(node, result)):
                yield result


def _check(rule: Rule, node: Node, result: Node) -> None:
    if result.schema != node.schema:
        raise PlanError(
            f"rule {rule.name} on {node!r} changed {node.schema} to {result.schema}", rule=rule.name
        )
    if rule.measure is not None and not (after := rule.measure(result)) < (before := rule.measure(node)):
        raise PlanError(
            f"rule {rule.name} on {node!r} took its measure from {before} to {after}, expected it to fall",
            rule=rule.name,
        )
