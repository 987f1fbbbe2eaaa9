"""Let a projection and a count window change places.

    project(f, window(rows N, S))  =  window(rows N, project(f, S))

Why      A projection changes neither the time nor the number of rows, and the window depends on nothing else.
Gain     Below: smaller rows in the window. Above: it can be shared.
Source   thesis, (10.11)

A filter changes the number of rows, so the equation does not hold for filters.
"""

from __future__ import annotations

from midstream.optimizer.rules.changing_places import swapped
from midstream.optimizer.rules.readings import first_input
from midstream.optimizer.rules.rule import Rule, Shape
from midstream.plans.algebra.operators import CountWindow, Project

PROJECTION_BELOW_COUNT_WINDOW = Rule(
    name="projection-below-count-window",
    equation="project(f, count window(S)) = count window(project(f, S))",
    shape=Shape(Project, Shape(CountWindow)),
    match=first_input,
    rewrite=swapped,
)

PROJECTION_ABOVE_COUNT_WINDOW = Rule(
    name="projection-above-count-window",
    equation="count window(project(f, S)) = project(f, count window(S))",
    shape=Shape(CountWindow, Shape(Project)),
    match=first_input,
    rewrite=swapped,
)
