"""Estimates of the cost model for an operator, and arithmetic on rates of 0 and infinite lengths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from midstream.optimizer.cost.column_facts import Facts


@dataclass(frozen=True)
class Content:
    """Properties of an output, snapshot by snapshot; equal for all equivalent plans.

    valid      rows that are valid at one instant, on average
    facts      facts about the columns' values
    g          granule, the unit of which timestamps are multiples
    always     how many of these rows are valid at every instant, as those of a constant relation are
    """

    valid: float
    facts: Facts
    g: int = 1
    always: float = 0.0


@dataclass(frozen=True)
class Cut:
    """The elements into which the validity of an output is cut; it differs between equivalent plans.

    d    average distance between the starts of successive elements, in chronons
    l    average length of validity, in chronons

    `even` is true if all distances and all lengths are equal (Remark 22.1).
    """

    d: float
    l: float  # noqa: E741 - the model's own letter
    even: bool = False

    @classmethod
    def of(cls, rate: float, content: Content, length: float) -> Cut:
        """The cut of a content into `rate` elements a chronon.

        `length` applies if the rate or the number of valid rows does not determine how long each is valid.
        """
        passing = content.valid - content.always
        return cls(inverse(rate), passing / rate if 0 < rate < math.inf and passing < math.inf else length)

    @property
    def rate(self) -> float:
        """Elements per chronon."""
        return inverse(self.d)


class Work(NamedTuple):
    """The cost and the state of an implementation.

    cost       microseconds of processing per chronon
    state      elements in the state
    waiting    how many of these are results, or will be, that wait for their turn
    second     how many of these are elements of the second input
    """

    cost: float
    state: float
    waiting: float = 0.0
    second: float = 0.0


NOTHING = Work(0.0, 0.0)


@dataclass(frozen=True)
class Estimate:
    """An operator's output, its cost and its state.

    lag         chronons by which its progress is behind the time, on average
    delay       chronons from a result's start until it comes out, on average
    bytes       bytes of the state
    arriving    elements that arrive in a chronon, by input
    made        results per chronon, if the operator has state, such as a join, and is no window
    """

    content: Content
    cut: Cut
    work: Work = NOTHING
    lag: float = 0.0
    delay: float = 0.0
    bytes: float = 0.0
    arriving: tuple[float, ...] = ()
    made: float = 0.0

    @property
    def d(self) -> float:
        """Chronons between the starts of results, on average."""
        return self.cut.d

    @property
    def l(self) -> float:  # noqa: E743 - the model's own letter
        """Chronons for which a result is valid, on average."""
        return self.cut.l

    @property
    def g(self) -> int:
        """The granule, in chronons."""
        return self.content.g

    @property
    def facts(self) -> Facts:
        """Facts about the columns' values."""
        return self.content.facts

    @property
    def always(self) -> float:
        """Number of results that are valid at every instant."""
        return self.content.always

    @property
    def cost(self) -> float:
        """Microseconds of processing per chronon."""
        return self.work.cost

    @property
    def state(self) -> float:
        """Elements in the state."""
        return self.work.state

    @property
    def rate(self) -> float:
        """Results per chronon."""
        return self.cut.rate

    @property
    def valid(self) -> float:
        """Number of results that are valid at one instant."""
        return self.content.valid


def inverse(number: float) -> float:
    """1 / number, with 1/0 = infinity: a rate from a distance, or a distance from a rate.

    >>> inverse(4.0), inverse(math.inf), inverse(0.0)
    (0.25, 0.0, inf)
    """
    return 1 / number if number else math.inf


def times(*factors: float) -> float:
    """A product in which 0 times infinity is 0: if nothing arrives, the state is empty for any length.

    >>> times(0.0, math.inf), times(2.0, math.inf)
    (0.0, inf)
    """
    product = math.prod(factors)
    # 0 times infinity is not a number in floats. Factors too small for a float are 0 as well.
    return product if product == product else 0.0


def different(valid: float, kinds: float) -> float:
    """Average number of distinct rows valid at an instant, from the number of valid rows and of kinds.

    Their number has a Poisson distribution, so a kind is absent with the probability e^(-valid/kinds).

    >>> round(different(10.0, 4.0), 3), different(10.0, math.inf), different(math.inf, 4.0)
    (3.672, 10.0, 4.0)
    """
    if math.isinf(kinds) or not kinds:
        return min(valid, kinds)
    return -kinds * math.expm1(-valid / kinds)
