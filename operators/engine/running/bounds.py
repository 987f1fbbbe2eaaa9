"""Levers that are equal but for their bounds, which queries share.

    shown in plans    bounds around those of all queries with the lever: what rules derive holds for each
    in force          the settings that all these queries allow: the intersection of their bounds

Source   thesis, 21.4.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce

from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import lever_of, levers_of, logical

LeverBounds = tuple[float, float]
"""The least and the greatest setting of a lever."""

Kind = tuple[type[Logical], frozenset[Logical]]
"""The class of a lever, and the leaves below it."""


def shown_bounds(lever: Node) -> LeverBounds:
    """The bounds of a lever in a plan."""
    bounds = lever_of(lever).bounds
    assert bounds is not None
    return bounds


def intersection(bounds: Iterable[LeverBounds]) -> LeverBounds | None:
    """The bounds that lie within all of some, at least one; None if there are none.

    >>> intersection([(1, 5), (3, 9)]), intersection([(1, 2), (3, 9)])
    ((3, 5), None)
    """
    least, greatest = reduce(lambda one, two: (max(one[0], two[0]), min(one[1], two[1])), bounds)
    return None if least > greatest else (least, greatest)


def around(bounds: Iterable[LeverBounds]) -> LeverBounds | None:
    """The bounds that a lever shows whose queries declare these; None if they need levers of their own.

    Of a window that never has more than one row, or one chronon, more is true than of others, and plans and
    operators may rely on it.

    >>> around([(1, 5), (3, 9)]), around([(1, 1), (1, 9)])
    ((1, 9), None)
    """
    least, greatest = zip(*bounds, strict=True)
    return None if 1 in greatest and max(greatest) != 1 else (min(least), max(greatest))


def kind(lever: Node) -> Kind:
    """The kind of a lever, which stays when a plan is rewritten."""
    leaves = frozenset(logical(node) for node in lever.walk() if not node.inputs)
    return type(logical(lever)), leaves


def twins(plan: Plan) -> frozenset[Kind]:
    """The kinds of which a plan has several levers.

    They must stay apart, as each can be set by itself; so they do not meet levers of other bounds.
    """
    kinds = Counter(map(kind, levers_of(plan)))
    return frozenset(each for each, number in kinds.items() if number > 1)
