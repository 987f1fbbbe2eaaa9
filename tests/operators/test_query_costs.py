"""What a query costs does not depend on how many others run.

Operations are counted, not seconds: calls of functions, comparisons and hashes of nodes among them.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial

import pytest

from midstream.benchmarks.queries import query
from midstream.engine import Engine
from midstream.operators.compile import routes
from midstream.operators.compile.switch import is_compiled
from midstream.plans.algebra.plan import Node
from midstream.plans.values.streams import BEGINNING, Element

FEW, MANY = 20, 240

SHAPES = range(5)
"""What is measured is done for a query of each shape."""

GROWTH = 1.03
"""How much more may be done where more queries run: what caches hold differs a little, and so does how many
sections a function has already. One look at each query would be too much."""


def calls(work: Callable[[], object]) -> int:
    """Calls of functions while something runs."""
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    gc.collect()
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return made


class Crowd:
    """An engine with so many queries, of which the last of each shape are looked at."""

    def __init__(self, others: int, *, is_shared: bool) -> None:
        self.is_shared = is_shared
        self.engine = Engine()
        for number in range(others):
            self.add(number)
        self.first = others
        self.push()

    def add(self, number: int) -> None:
        self.engine.add(query(number, is_shared=self.is_shared)[0], name=str(number))

    def migrate(self, number: int) -> None:
        self.engine.migrate(query(number, is_shared=self.is_shared)[1], query=str(number))

    def finish(self, number: int) -> None:
        """Migrations end when what came before them has expired. Elements of shared streams are for all."""
        if not self.is_shared:
            for source in self.engine.query(str(number)).plan.sources:
                self.engine.push(source.stream, [element(self.engine, source.stream)])
                self.engine.advance(source.stream, 200)
                self.engine.push(source.stream, [element(self.engine, source.stream)])
            assert not self.engine.query(str(number)).is_exchanged

    def remove(self, number: int) -> None:
        self.engine.remove(str(number))

    def each(self, work: Callable[[int], object]) -> int:
        """The calls of doing something for a query of each shape."""
        return calls(lambda: [work(self.first + shape) for shape in SHAPES])

    def push(self) -> None:
        """An element on every stream."""
        for name in self.engine.streams:
            self.engine.push(name, [element(self.engine, name)])


def element(engine: Engine, name: str) -> Element:
    """The next one."""
    progress = engine.progress(name)
    time = 1 if progress == BEGINNING else int(progress) + 1
    return time, time + 1, (time % 7, time)


@pytest.mark.parametrize("is_shared", [pytest.param(False, marks=pytest.mark.slow), True])
def test_to_add_migrate_and_remove_a_query_costs_what_that_query_costs(is_shared: bool) -> None:
    done = {}
    for others in (FEW, MANY):
        crowd = Crowd(others, is_shared=is_shared)
        # Once before, for the caches.
        steps = (crowd.add, crowd.migrate, crowd.finish, crowd.remove)
        for work in steps:
            crowd.each(work)
        done[others] = [crowd.each(work) for work in steps]
    growth = [many / few for few, many in zip(done[FEW], done[MANY], strict=True)]
    assert max(growth) <= GROWTH, done


def test_an_element_and_a_heartbeat_cost_what_the_queries_over_their_stream_do() -> None:
    done = {}
    for others in (FEW, MANY):
        crowd = Crowd(others, is_shared=False)
        engine, (name, *_) = crowd.engine, crowd.engine.streams
        one, batch = [(100, 101, (1, 1))], [(101, 102, (1, 1)), (102, 103, (1, 1))]
        engine.push(name, [(10, 11, (1, 1)), (11, 12, (1, 1))])
        engine.advance(name, 12)
        done[others] = (
            calls(partial(engine.push, name, one)),
            calls(partial(engine.push, name, batch)),
            calls(partial(engine.advance, name, 200)),
        )
    assert done[FEW] == done[MANY]


@pytest.mark.skipif(not is_compiled(), reason="MIDSTREAM_COMPILE=0: nothing is compiled")
def test_the_way_of_a_stream_is_not_compiled_again_for_each_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled between two elements, as queries over one stream are added one by one, is bounded."""
    compiled: list[int] = []
    define = routes.define

    def counted(source: str, name: str, names: dict[str, object], title: str) -> object:
        compiled.append(len(source))
        return define(source, name, names, title)

    monkeypatch.setattr(routes, "define", counted)
    crowd = Crowd(0, is_shared=True)
    most = []
    for number in range(120):
        crowd.add(number)
        compiled.clear()
        crowd.push()
        most.append(sum(compiled))
    assert max(most[60:]) <= 1.5 * max(most[:60])


def test_nodes_are_found_without_comparing_what_is_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes that are equal and not one are compared level by level. Of what runs there is one."""
    crowd = Crowd(FEW, is_shared=True)
    compared = 0
    equal = Node.__eq__

    def counted(node: Node, other: object) -> bool:
        nonlocal compared
        compared += node is not other
        return equal(node, other)

    monkeypatch.setattr(Node, "__eq__", counted)
    crowd.engine.add(query(3, is_shared=True)[0], name="again")
    nodes = len(crowd.engine.query("again").physical.nodes)
    assert crowd.engine.query("again").physical.root is crowd.engine.query("3").physical.root
    assert compared <= 20 * nodes
