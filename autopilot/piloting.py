"""The parts of an engine's autopilot: statistics while streams flow, an advisor, and a decider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from midstream.autopilot.advice import Advisor
from midstream.autopilot.advising import ByOptimizer
from midstream.autopilot.looks import Looks
from midstream.autopilot.parts import PilotParts, pilot_parts
from midstream.autopilot.settings import NAMED, Settings
from midstream.migration.migrate import obstacle
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.running.queries import RunningQuery
from midstream.optimizer import Objective, Statistics
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_node
from midstream.plans.values.arguments import wrong
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.schema import suggest

LONGEST = 1 << 16
"""The largest number of letters of a settings file: a device without an end is not read to its end."""


def parts_for(
    host: Host,
    query: RunningQuery,
    looks: Looks,
    *,
    advisor: Advisor[Plan, Statistics] | None,
    objective: Objective,
    settings: Settings,
) -> PilotParts:
    """The parts of the autopilot of a query of an engine."""
    if advisor is None:
        advisor = ByOptimizer(
            objective,
            obstacle=lambda plan: obstacle(host, plan, query.name),
            beside=lambda: _shared(host, query),
        )
    relations = Statistics.from_observations(host.observe_relations(query.plan)).streams
    return pilot_parts(query.plan, looks, advisor, settings, constant=relations)


def settings_of(source: Any) -> Settings:
    """Settings from a name or a file; settings are returned as they are.

    Raises   ArgumentError where there are none.

    >>> settings_of("careful").doubt
    2.0
    """
    if isinstance(source, Settings):
        return source
    if isinstance(source, str) and source in NAMED:
        return NAMED[source]
    expected = f"{', '.join(NAMED)}, settings, or a file of them"
    if not isinstance(source, str | Path):
        raise wrong("autopilot: settings", source, expected)
    try:
        with open(source, encoding="utf-8") as file:
            text = file.read(LONGEST + 1)
    except OSError as error:
        why = suggest(str(source), NAMED) or f", which cannot be read: {error.strerror or error}"
        raise ArgumentError(f"autopilot: settings: found {source}{why};  expected {expected}") from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"autopilot: settings: {source} is no text; expected {expected}") from error
    if len(text) > LONGEST:
        raise ArgumentError(f"autopilot: settings: {source} is too long for settings; expected {expected}")
    try:
        return Settings.loads(text)
    except ArgumentError as error:
        raise ArgumentError(f"autopilot: {source}: {error}") from error


def _shared(host: Host, query: RunningQuery) -> frozenset[Node]:
    """The logical nodes of a query's running operators that other queries use as well."""
    shared = host.shared(query.name)
    return frozenset(logical_node(node) for node in query.physical.nodes if node in shared)
