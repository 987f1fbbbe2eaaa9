"""Granularity conversion of interval streams."""

from __future__ import annotations

from collections.abc import Callable

from midstream.operators.base.adjustable import Adjustable
from midstream.operators.base.running import Running, operator_of
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time


class Granularity(Adjustable[int]):
    """Round starts and ends up to multiples of `granule` chronons.

        granularity(g, S)@t  =  S@T,        T the last multiple of g up to t

    An element that is valid at no multiple of g is dropped.

    Output   Ordered by start.
    Cost     O(1) per element.
    Source   thesis, Algorithm 24

    >>> granularity = Granularity(2)
    >>> granularity.push(0, [(1, 8, "c"), (5, 11, "a"), (9, 10, "a")])
    [(2, 8, 'c'), (6, 12, 'a')]
    >>> granularity.progress()
    10
    """

    def __init__(self, granule: int) -> None:
        super().__init__(granule)

    def change_granule(self, granule: int, at: int) -> None:
        """Round the elements that start at `at` or later to a new granule (thesis, 21.3.2).

            output@t  =  before@T + after@T',      T and T' the last multiples of the old and the new granule

        where `before` are the elements that start before `at`, and `after` the others. So at every multiple
        of both granules the output equals the input, on either side of the change (thesis, Lemma 20.1), and
        before `at` nothing differs from the old granularity. In between, an element that bridges `at` ends
        as the old granularity rounds it. The thesis defines it so, and it cannot be otherwise: when the
        change is requested, the element may be out already.

        The new granule may be a multiple of the old one. Any other, such as a finer one, may begin only at a
        multiple of the old one; otherwise an element that starts later would come out earlier.

        Raises   PlanError for an invalid granule or instant, or where elements as late as `at` have been
                 given out.

        >>> granularity = Granularity(10)
        >>> granularity.change_granule(5, at=15)
        Traceback (most recent call last):
            ...
        midstream.plans.values.errors.PlanError: ... from granule 10 to 5 at 15, expected one at a ...
        >>> granularity.change_granule(5, at=20)
        >>> granularity.push(0, [(11, 38, "a"), (21, 38, "b")])
        [(20, 40, 'a'), (25, 40, 'b')]
        """
        new = logical.Granularity(granule).granule
        self._check(at)
        old = self.before(at)
        if new % old and at % old:
            raise PlanError(
                f"{self.name}: found a change from granule {old} to {new} at {at}, expected one at a "
                f"multiple of {old}, as {new} is none",
                operator=self.name,
                at=at,
            )
        self._change(new, at)

    def _compile(self, granule: int) -> Callable[[Batch], Batch]:
        return lambda batch: [
            (first, last, row)
            for start, end, row in batch
            if (first := start + -start % granule) < (last := end if end == FOREVER else end + -end % granule)
        ]

    def progress(self) -> Time:
        """The next multiple of the granule at or after the input's progress."""
        reached = self.reached[0]
        return reached if reached in (BEGINNING, FOREVER) else reached + -reached % self.setting


RUNNING: Running = {
    facts.GRANULARITY: lambda node: Granularity(operator_of(node, logical.Granularity).granule),
}
