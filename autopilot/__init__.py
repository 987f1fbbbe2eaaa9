"""The autopilot: it decides when a query moves to which plan, and accounts for the costs.

Autopilot           weighs plans at instants; `Engine.autopilot` makes one for a query
Settings            its readiness to change plans: BALANCED, CAREFUL and EAGER are ready-made
Decision            a decision to move or to stay, with its reasons
Advisor, Advice     the protocol of an object that knows plans and their costs, and its answer
Forecast            the expected cost of a plan, a part of an Advice
advice_of_costs     an Advice from the cost of each plan
KeyCounts           an advisor that counts the keys of joins
"""

from midstream.autopilot.advice import Advice, Advisor, Forecast, advice_of_costs
from midstream.autopilot.autopilot import Autopilot
from midstream.autopilot.decision import Decision
from midstream.autopilot.key_counts import KeyCounts
from midstream.autopilot.settings import BALANCED, CAREFUL, EAGER, Settings

__all__ = [
    "BALANCED",
    "CAREFUL",
    "EAGER",
    "Advice",
    "Advisor",
    "Autopilot",
    "Decision",
    "Forecast",
    "KeyCounts",
    "Settings",
    "advice_of_costs",
]
