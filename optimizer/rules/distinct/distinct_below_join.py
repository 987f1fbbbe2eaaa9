"""Push duplicate elimination below a join, or pull it up again.

    distinct(join(L, R))  =  join(distinct(L), distinct(R))        if the join keeps different pairs different

Why      A pair occurs as often as the product of its halves' multiplicities: exactly once if each half occurs
         once.
Gain     Below: the join pairs each half once. Above: fewer elements to look up if the join is selective.
Guard    If the join drops a column that does not follow from the others, two different halves make one
         pair: distinct(join) returns it once, the other side twice.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   thesis, (10.6), for products; Example 28.1
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import above_each, below_each
from midstream.optimizer.rules.duplicates import has_no_duplicates, keeps_rows_apart
from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart, tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Join

DISTINCT_BELOW_JOIN = Rule(
    name="distinct-below-join",
    equation="distinct(join(L, R)) = join(distinct(L), distinct(R))",
    shape=Shape(Distinct, Shape(Join)),
    match=first_input,
    guards=(keeps_rows_apart, below_tells_no_equal_rows_apart),
    rewrite=below_each,
)

DISTINCT_ABOVE_JOIN = Rule(
    name="distinct-above-join",
    equation="join(distinct(L), distinct(R)) = distinct(join(L, R))",
    shape=Shape(Join, each=Shape(Distinct)),
    match=first_input,
    guards=(has_no_duplicates, tells_no_equal_rows_apart),
    rewrite=above_each,
)
