"""Let a filter or a projection and a time window change places.

    filter(p, window(S))   =  window(filter(p, S))
    project(f, window(S))  =  window(project(f, S))

Why      A window sums snapshots; a filter and a projection treat each row in the same way at any time.
Gain     Below: the window, and a queue in front of it, get fewer or shorter elements. Above: queries with
         other filters and projections share the window.
Source   thesis, (10.8) and (10.9)

They also hold for windows with a slide, and for any size that is set while they run.
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import swapped
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import Filter, Project, TimeWindow

ROWS_BELOW_TIME_WINDOW = Rule(
    name="rows-below-time-window",
    equation="filter(p, window(S)) = window(filter(p, S)); the same of a projection",
    shape=Shape((Filter, Project), Shape(TimeWindow)),
    match=first_input,
    rewrite=swapped,
)

ROWS_ABOVE_TIME_WINDOW = Rule(
    name="rows-above-time-window",
    equation="window(filter(p, S)) = filter(p, window(S)); the same of a projection",
    shape=Shape(TimeWindow, Shape((Filter, Project))),
    match=first_input,
    rewrite=swapped,
)
