"""Push a filter below a difference, an intersection or a max-union.

    filter(p, difference(L, R))  =  difference(filter(p, L), filter(p, R))        and so for the other
        operators on two multisets, if p is the same of equal rows

Why      How often a row comes out depends on how often each input has it. The inputs keep the rows for which
         p is true as often as before, and none of the others.
Gain     Fewer rows are looked up and kept, on both sides.
Guard    The rows 1 and 1.0 are equal, so one cancels the other. A condition that distinguishes them, as
         their texts do, may keep one and drop the other.
Source   thesis, section 10.3.1, by (8.6) and (8.12) to (8.14)
"""

from __future__ import annotations

from midstream.optimizer.rules.filters.filter_below_distinct import match, tells_no_equal_rows_apart
from midstream.optimizer.rules.filters.filtered import filtered_below
from midstream.optimizer.rules.measures import filtering
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Difference, Filter, Intersection, MaxUnion, StrictDifference

FILTER_BELOW_MULTISETS = Rule(
    name="filter-below-multisets",
    equation="filter(p, difference(L, R)) = difference(filter(p, L), filter(p, R))",
    shape=Shape(Filter, Shape((Difference, StrictDifference, Intersection, MaxUnion))),
    match=match,
    guards=(tells_no_equal_rows_apart,),
    rewrite=filtered_below,
    measure=filtering,
)
