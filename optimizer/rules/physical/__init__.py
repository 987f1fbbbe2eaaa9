"""Rules that choose implementations; they change no snapshot."""

from midstream.optimizer.rules.physical.implementation import IMPLEMENTATION
from midstream.optimizer.rules.rule import Rule

IMPLEMENTATIONS: tuple[Rule, ...] = (IMPLEMENTATION,)
"""Rules that write the choice into the plan."""

__all__ = ["IMPLEMENTATIONS"]
