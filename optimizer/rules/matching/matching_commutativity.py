"""Let semi-joins and anti-joins of the same rows change places.

    op(p, minus(q, S, L), R)  =  minus(q, op(p, S, R), L)        for op and minus semi-joins or anti-joins

Why      Each operator keeps rows of S by its own look-up, whatever the other one does.
Gain     The operator that keeps fewer rows, or is cheaper, can come first.
Source   ours, by (8.16) and erratum 5
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import swapped
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Matching

MATCHING_COMMUTATIVITY = Rule(
    name="matching-commutativity",
    equation="op(minus(S, L), R) = minus(op(S, R), L)",
    shape=Shape(Matching, Shape(Matching)),
    match=first_input,
    rewrite=swapped,
)
