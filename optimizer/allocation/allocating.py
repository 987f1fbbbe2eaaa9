"""The allocation of a budget to groups of queries, each at a fraction of its bounds.

precision   the largest sum of weighted precision (STREAM, 5.1): first all at their least, then what gains
            most for its cost
fraction    one fraction for all, the largest that fits (thesis, 23.3.2)
equal       an equal part of the budget for each group, as a standard of comparison
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from midstream.optimizer.allocation.curves import FRACTIONS, Curve, Use, total
from midstream.optimizer.allocation.limits import Limits

Rule = Literal["precision", "fraction", "equal"]
RULES: tuple[Rule, ...] = get_args(Rule)
"""The rules of allocation by name."""

BISECTIONS = 30
"""The number of halvings, to a billionth."""


def allocate(curves: Sequence[Curve], limits: Limits, rule: Rule) -> list[float] | None:
    """The fraction of each group so that all together fit; None if they do not fit at their least.

    Cost     O(groups · log groups)

    >>> cheap, dear = (Curve([Use(f * cost) for f in FRACTIONS], FRACTIONS) for cost in (10.0, 40.0))
    >>> allocate([cheap, dear], Limits(memory=30.0), "precision")
    [1.0, 0.5]
    >>> [round(fraction, 6) for fraction in allocate([cheap, dear], Limits(memory=30.0), "fraction")]
    [0.6, 0.6]
    >>> [round(fraction, 6) for fraction in allocate([cheap, dear], Limits(memory=30.0), "equal")]
    [1.0, 0.375]
    """
    if not limits.hold(total(curve.uses[0] for curve in curves)):
        return None
    return _RULES[rule](curves, limits)


def scaled(curves: Sequence[Curve], limits: Limits, fractions: Sequence[float]) -> list[float] | None:
    """Fractions in the same proportions as some others, as far as they fit: all lower, or all nearer to 1.

    None if they do not fit at their least.
    """

    def at(place: float) -> list[float]:
        return [f * 2 * place if place < 0.5 else f + (1 - f) * (2 * place - 1) for f in fractions]

    def fits(place: float) -> bool:
        return limits.hold(total(use_at(curve, f) for curve, f in zip(curves, at(place), strict=True)))

    return at(_largest(fits)) if fits(0.0) else None


def use_at(curve: Curve, fraction: float) -> Use:
    """The use at a fraction, on the line between the next ones."""
    return Use(*(_between([use[i] for use in curve.uses], fraction) for i in range(len(Use._fields))))


def precision_at(curve: Curve, fraction: float) -> float:
    """The precision at a fraction."""
    return _between(curve.precision, fraction)


def _between(values: Sequence[float], fraction: float) -> float:
    for (one, other), (below, above) in zip(pairwise(FRACTIONS), pairwise(values), strict=True):
        if fraction <= other:
            return below + (above - below) * (fraction - one) / (other - one)
    return values[-1]


def _largest(fits: Callable[[float], bool]) -> float:
    """The largest fraction that fits, where smaller ones do; found by bisection."""
    if fits(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _fits(limits: Limits, curve: Curve, fraction: float) -> bool:
    return limits.hold(use_at(curve, fraction))


def _by_fraction(curves: Sequence[Curve], limits: Limits) -> list[float]:
    uses = [total(curve.uses[i] for curve in curves) for i in range(len(FRACTIONS))]
    together = Curve(uses, FRACTIONS)
    return [_largest(partial(_fits, limits, together))] * len(curves)


def _equal(curves: Sequence[Curve], limits: Limits) -> list[float]:
    part = limits.times(1 / len(curves))
    fractions = [_largest(partial(_fits, part, curve)) for curve in curves]
    # Some need more than their part at the least, which the others have to give.
    used = total(use_at(curve, fraction) for curve, fraction in zip(curves, fractions, strict=True))
    if limits.hold(used):
        return fractions

    def fits(share: float) -> bool:
        return limits.hold(total(use_at(c, share * f) for c, f in zip(curves, fractions, strict=True)))

    share = _largest(fits)
    return [share * fraction for fraction in fractions]


class _Step(NamedTuple):
    """A step of a group from a fraction to a higher one."""

    slope: float
    group: int
    start: float
    end: float


def _by_precision(curves: Sequence[Curve], limits: Limits) -> list[float]:
    """Take the steps with the largest gain for their cost first; the last one in part.

    Where two resources are scarce, cost is a mixture of their shares; of several mixtures the best is taken.
    """
    mixtures = (0.0, 0.25, 0.5, 0.75, 1.0) if limits.are_two else (0.5,)
    found = [_greedy(curves, limits, mixture) for mixture in mixtures]
    found += [_by_fraction(curves, limits), _equal(curves, limits)]

    def precision(fractions: Sequence[float]) -> float:
        return sum(precision_at(curve, f) for curve, f in zip(curves, fractions, strict=True))

    return max(found, key=precision)


def _greedy(curves: Sequence[Curve], limits: Limits, mixture: float) -> list[float]:
    steps = [step for i, curve in enumerate(curves) for step in _hull(curve, i, limits, mixture)]
    steps.sort(key=lambda step: (-step.slope, step.group, step.start))
    fractions = [0.0] * len(curves)
    used = total(curve.uses[0] for curve in curves)
    for step in steps:
        curve = curves[step.group]
        if fractions[step.group] != step.start:
            continue  # an earlier step of the group did not fit
        rest = Use(*(mine - now for mine, now in zip(used, use_at(curve, step.start), strict=True)))

        if limits.hold(after := rest.plus(use_at(curve, step.end))):
            fractions[step.group], used = step.end, after
            continue

        def fits(share: float, curve: Curve = curve, step: _Step = step, rest: Use = rest) -> bool:
            return limits.hold(rest.plus(use_at(curve, step.start + share * (step.end - step.start))))

        fractions[step.group] = step.start + _largest(fits) * (step.end - step.start)
        break  # a resource is used up
    return fractions


def _hull(curve: Curve, group: int, limits: Limits, mixture: float) -> list[_Step]:
    """The steps along the upper hull of precision over cost, whose slopes fall."""
    costs = [limits.cost(use, mixture) for use in curve.uses]
    corners: list[int] = []
    for i in range(len(FRACTIONS)):
        while (
            corners and costs[i] <= costs[corners[-1]] and curve.precision[i] >= curve.precision[corners[-1]]
        ):
            corners.pop()  # better, and no dearer
        while len(corners) > 1 and _slope(curve, costs, corners[-1], i) >= _slope(
            curve, costs, corners[-2], corners[-1]
        ):
            corners.pop()
        if not corners or curve.precision[i] > curve.precision[corners[-1]]:
            corners.append(i)
    return [
        _Step(_slope(curve, costs, one, other), group, FRACTIONS[one], FRACTIONS[other])
        for one, other in pairwise(corners)
    ]


def _slope(curve: Curve, costs: Sequence[float], one: int, other: int) -> float:
    cost = costs[other] - costs[one]
    return (curve.precision[other] - curve.precision[one]) / cost if cost > 0 else float("inf")


_RULES: dict[Rule, Callable[[Sequence[Curve], Limits], list[float]]] = {
    "precision": _by_precision,
    "fraction": _by_fraction,
    "equal": _equal,
}
