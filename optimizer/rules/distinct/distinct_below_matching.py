"""Let duplicate elimination change places with an operator that keeps or drops whole rows.

    distinct(op(L, R))  =  op(distinct(L), R)        for op a semi-join, an anti-join or a strict difference

Why      Of equal rows of L all are kept or none, so duplicates can be eliminated before.
Gain     Below: each row is looked up once. Above: duplicates are sought only among the kept rows.
Guard    An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.5), (8.14), (8.16) and erratum 5

A difference keeps a row that L has twice and R once, but distinct(L) has no row left then.
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import swapped
from midstream.optimizer.rules.distinct.distinct_in_matching import LOOKS_UP
from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart, tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct

DISTINCT_BELOW_MATCHING = Rule(
    name="distinct-below-matching",
    equation="distinct(op(L, R)) = op(distinct(L), R)",
    shape=Shape(Distinct, Shape(LOOKS_UP)),
    match=first_input,
    guards=(below_tells_no_equal_rows_apart,),
    rewrite=swapped,
)

DISTINCT_ABOVE_MATCHING = Rule(
    name="distinct-above-matching",
    equation="op(distinct(L), R) = distinct(op(L, R))",
    shape=Shape(LOOKS_UP, Shape(Distinct)),
    match=first_input,
    guards=(tells_no_equal_rows_apart,),
    rewrite=swapped,
)
