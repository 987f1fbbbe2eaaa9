"""Granularity conversion of interval streams."""

from __future__ import annotations

from midstream.operators.base.running import Running, operator_of
from midstream.operators.base.setting import Setting, WithSetting
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Time


class Granularity(WithSetting):
    """Round starts and ends up to multiples of `granule` chronons.

        granularity(g, S)@t  =  S@T,        T the last multiple of g up to t

    An element that is valid at no multiple of g is dropped.

    If the granule changes, elements keep the granule in force at their start (thesis, 21.3.2):

        output@t  =  before@T + after@T',      T and T' the last multiples of the old and the new granule

    where `before` are the elements that start before the change, and `after` the others. So at every multiple
    of both granules the output equals the input, on either side of the change (thesis, Lemma 20.1), and
    before the change nothing differs from the old granularity. In between, an element that bridges the change
    ends as the old granularity rounds it. The thesis defines it so, and it cannot be otherwise: when the
    change is requested, the element may be out already.

    The new granule may be a multiple of the old one. Any other, such as a finer one, may begin only at a
    multiple of the old one; otherwise an element that starts later would come out earlier.

    Output   Ordered by start.
    Cost     O(1) per element.
    Source   thesis, Algorithm 24

    >>> granularity = Granularity(2)
    >>> granularity.push(0, [(1, 8, "c"), (5, 11, "a"), (9, 10, "a")])
    [(2, 8, 'c'), (6, 12, 'a')]
    >>> granularity.progress()
    10
    >>> granularity = Granularity(10)
    >>> granularity.change(5, at=15)
    Traceback (most recent call last):
        ...
    midstream.plans.values.errors.PlanError: ... from granule 10 to 5 at 15, expected one at a ...
    >>> granularity.change(5, at=20)
    >>> granularity.push(0, [(11, 38, "a"), (21, 38, "b")])
    [(20, 40, 'a'), (25, 40, 'b')]
    """

    def __init__(self, granule: int) -> None:
        super().__init__()
        self.setting: Setting[int] = Setting(granule)

    def earliest(self, value: int) -> tuple[Time, int]:
        """The first instant at which another granule may begin: multiples of the old one, unless of it."""
        first, _ = super().earliest(value)
        old = self.setting.at(first)
        return first, old if value % old else 1

    def require_change(self, value: int, at: int) -> None:
        """Refuse a granule that is no multiple of the old one, except at a multiple of that."""
        super().require_change(value, at)
        old = self.setting.before(at)
        if value % old and at % old:
            raise PlanError(
                f"{self.name}: found a change from granule {old} to {value} at {at}, expected one at a "
                f"multiple of {old}, as {value} is none",
                operator=self.name,
                at=at,
            )

    def _process(self, port: int, batch: Batch) -> Batch:
        return [
            (first, last, row)
            for granule, part in self.setting.parts(batch, self.reached[0])
            for start, end, row in part
            if (first := start + -start % granule) < (last := end if end == FOREVER else end + -end % granule)
        ]

    def progress(self) -> Time:
        """The next multiple of the granule at or after the input's progress."""
        reached = self.reached[0]
        return reached if reached in (BEGINNING, FOREVER) else reached + -reached % self.setting.at(reached)


RUNNING: Running = {
    facts.GRANULARITY: lambda node: Granularity(operator_of(node, logical.Granularity).granule),
}
