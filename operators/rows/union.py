"""Union of interval streams."""

from __future__ import annotations

from midstream.operators.base.merge import Merge
from midstream.operators.base.running import Running
from midstream.plans.algebra.implementations import rows as facts


class Union(Merge):
    """Merge streams into one that is ordered.

        union(S1, .., Sn)@t  =  S1@t + .. + Sn@t        (multiplicities add up)

    Input    Two or more ports, each ordered by start; one may run ahead of the others.
    State    The elements that start after the least progress of all ports.
    Cost     O(log n) for an element that must wait, else O(1).
    Source   thesis, Algorithm 4

    >>> union = Union(2)
    >>> union.push(0, [(1, 8, "c"), (5, 11, "a")])
    []
    >>> union.push(1, [(3, 9, "d")])
    [(1, 8, 'c'), (3, 9, 'd')]
    """


RUNNING: Running = {
    facts.UNION: lambda node: Union(len(node.inputs)),
}
