"""Let a filter or a projection and a time window change places.

    filter(p, window(S))   =  window(filter(p, S))
    project(f, window(S))  =  window(project(f, S))

Why      A window sums snapshots; a filter and a projection do with each row the same, whenever it is there.
Gain     Below: the window gets fewer, or shorter, elements, and a queue in front of it too. Above: queries
         that want other rows share the window.
Source   thesis, (10.8) and (10.9)

They hold for windows with a slide, and whatever size is set while they run.
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
