"""What the simulator wants to know of a migration."""

from __future__ import annotations

from collections.abc import Iterator

from midstream.engine import Engine, host_of
from midstream.migration.machine import Phase
from midstream.migration.transition import Transition
from midstream.operators.base.operator import Operator
from midstream.operators.engine.guest import Guest
from midstream.operators.engine.plan_box import PlanBox
from midstream.operators.engine.queries import lowest
from midstream.plans.algebra.properties import above
from midstream.plans.values.streams import Element

_UNDER_WAY = (Phase.MOVING, Phase.DRAINING)


def is_over(migration: Transition) -> bool:
    """Whether nothing more will happen."""
    return migration.phase not in (*_UNDER_WAY, Phase.QUEUED)


def sizes(migration: Transition) -> tuple[int, int, int]:
    """The state of the old boxes, of the new ones, and what is held between them, in elements."""
    parts = [part for part in migration.parts if part.phase in _UNDER_WAY]
    old = sum(part.old.size() for part in parts if part.old is not None)
    return old, sum(part.new.size() for part in parts), sum(part.held() for part in parts)


def operators(engine: Engine, migration: Transition | None) -> list[Operator]:
    """The operators above the windows of an engine's query, in both boxes of each part that is exchanged."""
    found = running(engine)
    for part in () if migration is None else migration.parts:
        for box in (part.old, part.new):
            if isinstance(box, PlanBox):
                found += box.operators().values()
    return [operator for operator in found if not isinstance(operator, Guest)]


def running(engine: Engine) -> list[Operator]:
    """The operators that run above the windows of an engine's query; one for each part that is exchanged."""
    host = host_of(engine)
    physical = host.query().physical
    nodes = above(physical, lowest(physical, host.shared()))
    return [host.operators[node] for node in nodes if node in host.operators]


def kept_elements(engine: Engine) -> Iterator[Element]:
    """The elements that operators keep."""
    return (element for operator in host_of(engine).operators.values() for element in operator.state())
