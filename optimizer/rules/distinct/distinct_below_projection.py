"""Let duplicate elimination change places with a projection that keeps different rows different.

    distinct(project(S))  =  project(distinct(S))        if the projection keeps a key of distinct(S)

Why      Rows that agree on a key are the same row, so each output row comes from one input row only.
Gain     Below: fewer rows to compute. Above: smaller rows to keep.
Guard    A projection that drops a column makes one row of different ones: once above, often below.
         An expression that distinguishes 0.0 from -0.0, which are equal, is evaluated on one of them only.
Source   ours, by (8.2) and (8.5)
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import swapped
from midstream.optimizer.rules.duplicates import has_no_duplicates, keeps_rows_apart
from midstream.optimizer.rules.faithful import below_tells_no_equal_rows_apart, tells_no_equal_rows_apart
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct, Project

DISTINCT_BELOW_PROJECTION = Rule(
    name="distinct-below-projection",
    equation="distinct(project(S)) = project(distinct(S))",
    shape=Shape(Distinct, Shape(Project)),
    match=first_input,
    guards=(keeps_rows_apart, below_tells_no_equal_rows_apart),
    rewrite=swapped,
)

DISTINCT_ABOVE_PROJECTION = Rule(
    name="distinct-above-projection",
    equation="project(distinct(S)) = distinct(project(S))",
    shape=Shape(Project, Shape(Distinct)),
    match=first_input,
    guards=(has_no_duplicates, tells_no_equal_rows_apart),
    rewrite=swapped,
)
