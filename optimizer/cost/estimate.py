"""What the cost model says of an operator, and arithmetic on rates that may be 0 and lengths that may be
infinite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from midstream.optimizer.cost.column_facts import Facts


@dataclass(frozen=True)
class Content:
    """What is true of an output snapshot by snapshot: it is the same for all plans that mean the same.

    valid      rows that are valid at one instant, on average
    facts      what is known of the columns' values
    g          granule, the unit of which timestamps are multiples
    always     how many of these rows are valid at every instant, as those of a constant relation are
    """

    valid: float
    facts: Facts
    g: int = 1
    always: float = 0.0


@dataclass(frozen=True)
class Cut:
    """How the validity of an output is cut into elements: this differs between plans that mean the same.

    d    average distance between the starts of successive elements, in chronons
    l    average length of validity, in chronons

    It is `even` where distances and lengths are all the same (Remark 22.1).
    """

    d: float
    l: float  # noqa: E741 - the model's own letter
    even: bool = False

    @classmethod
    def of(cls, rate: float, content: Content, length: float) -> Cut:
        """So many elements a chronon that together are the content. Where their number or that of the rows
        does not tell how long each is valid, it is the given length."""
        passing = content.valid - content.always
        return cls(inverse(rate), passing / rate if 0 < rate < math.inf and passing < math.inf else length)

    @cached_property
    def rate(self) -> float:
        """Elements per chronon."""
        return inverse(self.d)


class Work(NamedTuple):
    """What an implementation takes.

    cost       microseconds of processing per chronon
    state      elements kept
    waiting    how many of these are results, or will be, that wait for their turn
    other      how many of these are elements of the second input
    """

    cost: float
    state: float
    waiting: float = 0.0
    other: float = 0.0


NOTHING = Work(0.0, 0.0)


@dataclass(frozen=True)
class Estimate:
    """An operator's output, and what the operator takes.

    lag      by how many chronons its progress is behind the time, on average
    delay    how many chronons after its start a result comes, on average
    bytes       what the elements take that are kept
    arriving    elements that arrive in a chronon, by input
    made        results per chronon of an operator with state, such as a join, but not of a window
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
        """The granule."""
        return self.content.g

    @property
    def facts(self) -> Facts:
        """What is known of the columns' values."""
        return self.content.facts

    @property
    def always(self) -> float:
        """How many results are valid at every instant."""
        return self.content.always

    @property
    def cost(self) -> float:
        """Microseconds of processing per chronon."""
        return self.work.cost

    @property
    def state(self) -> float:
        """Elements kept."""
        return self.work.state

    @cached_property
    def rate(self) -> float:
        """Results per chronon."""
        return self.cut.rate

    @cached_property
    def valid(self) -> float:
        """How many results are valid at one instant."""
        return self.content.valid


def inverse(number: float) -> float:
    """1 / number; the rate that belongs to a distance, or the other way round.

    >>> inverse(4.0), inverse(math.inf), inverse(0.0)
    (0.25, 0.0, inf)
    """
    return 1 / number if number else math.inf


def times(*factors: float) -> float:
    """A product in which 0 outweighs infinity: where nothing arrives nothing is kept, however long.

    >>> times(0.0, math.inf), times(2.0, math.inf)
    (0.0, inf)
    """
    product = math.prod(factors)
    # Of 0 and infinity floats make no number. Factors too small for a float are 0 as well.
    return product if product == product else 0.0


def different(valid: float, kinds: float) -> float:
    """How many different rows are valid at an instant, where so many are on average, of so many kinds: their
    number has a Poisson distribution, so that a kind is absent with the probability e^(-valid/kinds).

    >>> round(different(10.0, 4.0), 3), different(10.0, math.inf), different(math.inf, 4.0)
    (3.672, 10.0, 4.0)
    """
    if math.isinf(kinds) or not kinds:
        return min(valid, kinds)
    return -kinds * math.expm1(-valid / kinds)
