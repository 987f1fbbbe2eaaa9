"""What tests look at inside of an engine, and users cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from midstream.engine import Engine
from midstream.operators.compile import inlets
from midstream.operators.engine.graph.host import Host
from midstream.operators.engine.graph.query_graph import QueryGraph
from midstream.operators.engine.measuring import watching
from midstream.operators.engine.running.base import Base
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.engine.running.queries import lowest
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import Time


def host_of(engine: Engine) -> Host:
    """The host of its migrations."""
    return engine._host


def graph_of(engine: Engine) -> QueryGraph:
    """Its query graph."""
    return engine._graph


def base_of(engine: Engine) -> Base:
    """The operators of all queries."""
    return graph_of(engine).base


def inputs_of(engine: Engine, query: str | None = None) -> tuple[Node, ...]:
    """The running nodes where the exchangeable part of a query begins, each of several that mean the same."""
    host = host_of(engine)
    return lowest(host.query(query).physical, host.shared(query))


def box_of(engine: Engine, query: str | None = None) -> PlanBox:
    """The exchangeable part of a query, as a Box to be looked at."""
    roots = tuple(host_of(engine).query(query).physical.outputs.values())
    return host_of(engine).running_box(roots, inputs_of(engine, query))


def input_progress(engine: Engine, query: str | None = None) -> list[Time]:
    """The progress of each input of a query's exchangeable part."""
    return [base_of(engine).progress_of(node) for node in inputs_of(engine, query)]


def input_max_ends(engine: Engine, query: str | None = None) -> list[Time]:
    """The largest end timestamp seen on each input of a query's exchangeable part."""
    return [host_of(engine).max_end(node) for node in inputs_of(engine, query)]


@contextmanager
def full_marks(number: int) -> Iterator[None]:
    """Let watchers that gather get elements as soon as so many have come."""
    with patch.object(watching, "FULL", number), patch.object(inlets, "FULL", number):
        yield
