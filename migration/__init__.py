"""Migration: fork, fuse, and the strategies that replace a running plan.

STRATEGIES       all strategies, by name; `find_strategy` returns one
Migration        the exchange of a part of a running plan
Transition       a query on its way to another plan, as `Engine.migrate` returns it
Prediction       the expected duration, state and work of a migration
MigrationReport  the facts of a migration that is over, as `midstream.report` returns them
"""

from midstream.migration.auto import Prediction
from midstream.migration.machine import Migration
from midstream.migration.report import MigrationReport
from midstream.migration.strategies import STRATEGIES, find_strategy
from midstream.migration.transition import Transition

__all__ = ["STRATEGIES", "Migration", "MigrationReport", "Prediction", "Transition", "find_strategy"]
