"""Leave out a duplicate elimination over rows without duplicates.

    distinct(S)  =  S        if S has no duplicates

Why      Two equal rows would agree on a key.
Gain     One operator with state less; two duplicate eliminations become one.
Guard    Without a known key, S may have a row twice.
Source   ours, by (8.5)
"""

from __future__ import annotations

from midstream.optimizer.rules.duplicates import is_of_a_set
from midstream.optimizer.rules.measures import operators
from midstream.optimizer.rules.readings import as_matched, first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Distinct

DISTINCT_REMOVAL = Rule(
    name="distinct-removal",
    equation="distinct(S) = S",
    shape=Shape(Distinct),
    match=first_input,
    guards=(is_of_a_set,),
    rewrite=as_matched,
    measure=operators,
)
