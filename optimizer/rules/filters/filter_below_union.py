"""Push a filter below a union.

    filter(p, union(A, .., Z))  =  union(filter(p, A), .., filter(p, Z))

Why      A row of a union is a row of one of its inputs, unchanged.
Gain     The union merges fewer elements; in each input the filter can move on.
Source   thesis, (10.5)
"""

from __future__ import annotations

from midstream.optimizer.rules.filters.filtered import all_parts, filtered_below
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, Union

FILTER_BELOW_UNION = Rule(
    name="filter-below-union",
    equation="filter(p, union(L, R)) = union(filter(p, L), filter(p, R))",
    shape=Shape(Filter, Shape(Union)),
    match=all_parts,
    rewrite=filtered_below,
)
