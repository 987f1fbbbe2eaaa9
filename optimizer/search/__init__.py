"""The search for the best of all equivalent plans: apply rules to a plan, and compare the results.

This is the door of the room: other rooms import these names from here, and no module of it.
"""

from midstream.optimizer.search.alternative_plans import alternatives
from midstream.optimizer.search.budget import QUICK_STEPS, STEPS, Budget, Milliseconds, Steps
from midstream.optimizer.search.choice import Choice, Search
from midstream.optimizer.search.common_part import CommonPart, added_part, common_parts, labelled
from midstream.optimizer.search.enumeration import enumerate_plans, neighbours, with_linked_joins
from midstream.optimizer.search.optimizing import optimize, search_for
from midstream.optimizer.search.proving import PROVING, equivalent, prove
from midstream.optimizer.search.reach import Obstacle
from midstream.optimizer.search.several_cheapest import Sides
from midstream.optimizer.search.simplifying import link
from midstream.optimizer.search.together import SearchTogether, apart, part_of

__all__ = [
    "PROVING",
    "QUICK_STEPS",
    "STEPS",
    "Budget",
    "Choice",
    "CommonPart",
    "Milliseconds",
    "Obstacle",
    "Search",
    "SearchTogether",
    "Sides",
    "Steps",
    "added_part",
    "alternatives",
    "apart",
    "common_parts",
    "enumerate_plans",
    "equivalent",
    "labelled",
    "link",
    "neighbours",
    "optimize",
    "part_of",
    "prove",
    "search_for",
    "with_linked_joins",
]
