"""Boxes: the contract by which another engine runs and migrates plans of its own.

    from midstream import boxes
    from midstream.migration import find_strategy

    migration, results = boxes.migrate_box(old, new, find_strategy("genmig"), max_ends, reached)

Box                     the protocol of everything that runs: a running plan, an operator, a migration
PlanBox                 a plan of Midstream as a Box
migrate_box             starts a migration from one Box to another
settled                 the Box that runs once a migration is over
max_end                 the largest end timestamp in the state of a Box
state_size, StateSize   the elements and bytes that a Box keeps

`midstream.testing.check_box` tests a Box of yours.
"""

from midstream.migration.migrate import migrate_box
from midstream.operators.base.box import Box, StateSize, max_end, settled, state_size
from midstream.operators.engine.running.plan_box import PlanBox

__all__ = ["Box", "PlanBox", "StateSize", "max_end", "migrate_box", "settled", "state_size"]
