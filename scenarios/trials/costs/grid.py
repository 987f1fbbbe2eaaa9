"""Queries and settings for which the cost model is compared with measurements.

They are all stateful operators over a grid of rates, windows, granules and numbers of values, and the plans
of the thesis' Table 24.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from midstream.operators.engine.running.planner import physical_plan
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.expressions.aggregates import avg, count, max_
from midstream.scenarios.trials.costs.plan_shapes import TABLE_24_1, Shape
from midstream.scenarios.trials.costs.streams import PoissonStream

LONG = 2000
"""The approximate number of elements of a stream that are measured."""


@dataclass(frozen=True)
class Setting:
    """A point of the grid.

    s, t       distances of the elements of two streams, in chronons
    window     of the first stream, in chronons; the window of the second one is half as long
    granule    of a granularity conversion above the windows; 1 for none
    values     the number of different values in the columns of both
    elements   the approximate number of elements of a stream that are measured
    """

    s: float
    t: float
    window: int
    granule: int
    values: int
    elements: int = LONG

    @property
    def streams(self) -> Mapping[str, PoissonStream]:
        """The streams by name; their second column has few values."""
        return {
            "s": PoissonStream(self.s, (self.values, 4)),
            "t": PoissonStream(self.t, (self.values, 4)),
            "u": PoissonStream(1.3 * self.s, (self.values, 4)),
            "v": PoissonStream(0.8 * self.t, (self.values, 4)),
        }

    @property
    def since(self) -> int:
        """An instant at which all windows are full."""
        return int(4 * self.window + 20 * max(self.s, self.t))

    @property
    def until(self) -> int:
        """The end of the run."""
        return self.since + int(self.elements * math.sqrt(self.s * self.t))

    def inputs(self) -> tuple[Stream, Stream]:
        """Two streams with windows."""
        found = []
        for name, size, columns in (("s", self.window, "xy"), ("t", self.window // 2, "zw")):
            windowed = _source(name, columns).window(size)
            found.append(windowed.granularity(self.granule) if self.granule > 1 else windowed)
        return found[0], found[1]


def _source(name: str, columns: Iterable[str]) -> Stream:
    return stream(name, {column: "integer" for column in columns})


SETTINGS = tuple(
    Setting(s, t, window, granule, values)
    for s, t in product((3.0, 12.0), (5.0, 20.0))
    for window in (80, 400)
    for granule, values in ((1, 5), (10, 50), (1, 50))
)
SMALL = (Setting(3.0, 5.0, 80, 1, 5), Setting(12.0, 5.0, 400, 10, 50), Setting(3.0, 20.0, 400, 1, 50))
"""The settings of a quick look."""

Query = Callable[[Setting], Stream]


def _by(implementation: str, query: Query) -> Query:
    """A query with a certain implementation of its outermost operator."""

    def named(setting: Setting) -> Stream:
        node = query(setting).node
        return Stream(Node(Physical(implementation, logical(node)), node.inputs))

    return named


def _equal(setting: Setting) -> Stream:
    s, t = setting.inputs()
    return s.join(t, on=[("x", "z")])


def _near(setting: Setting) -> Stream:
    s, t = setting.inputs()
    return s.join(t, on=(s["x"] >= t["z"] - 1) & (s["x"] <= t["z"] + 1))


def _sum(setting: Setting) -> Stream:
    s, t = setting.inputs()
    return s.join(t, on=(s["x"] + t["z"]).eq(setting.values))


def _both(operation: str) -> Query:
    def query(setting: Setting) -> Stream:
        s, t = setting.inputs()
        found: Stream = getattr(s, operation)(t.rename({"z": "x", "w": "y"}))
        return found

    return query


def _matching(operation: str, columns: int = 1) -> Query:
    def query(setting: Setting) -> Stream:
        s, t = setting.inputs()
        found: Stream = getattr(s, operation)(t, on=[("x", "z"), ("y", "w")][:columns])
        return found

    return query


def _counted(setting: Setting) -> int:
    return max(1, int(setting.window / setting.s / 8))


QUERIES: dict[str, Query] = {
    "filter": lambda at: (s := at.inputs()[0]).filter(s["x"] < at.values // 3),
    "map": lambda at: (s := at.inputs()[0]).select("y", z=s["x"] + 1),
    "time-window": lambda at: _source("s", "xy").window(at.window),
    "hash-join": _equal,
    "band-join": _near,
    "nested-loops-join": _sum,
    "hash-list-join": _by("hash-list-join", _equal),
    "list-hash-join": _by("list-hash-join", _equal),
    "hash-join-queued": _by("hash-join-queued", _equal),
    "nested-loops-join-queued": _by("nested-loops-join-queued", _sum),
    "hash-semi-join": _matching("semi_join", 2),
    "hash-anti-join": _matching("anti_join", 2),
    "nested-loops-semi-join": _by("nested-loops-semi-join", _matching("semi_join", 2)),
    "nested-loops-anti-join": _by("nested-loops-anti-join", _matching("anti_join", 2)),
    "difference": _both("difference"),
    "strict-difference": _both("strict_difference"),
    "intersection": _both("intersection"),
    "max-union": _both("max_union"),
    "union": _both("union"),
    "distinct": lambda at: at.inputs()[0].distinct(),
    "distinct, few values": lambda at: at.inputs()[0].select("y").distinct(),
    "aggregate": lambda at: at.inputs()[0].aggregate(n=count(), most=max_("x")),
    "aggregate, few groups": lambda at: at.inputs()[0].group_by("y").aggregate(n=count(), a=avg("x")),
    "aggregate, floats": lambda at: (s := at.inputs()[0]).aggregate(a=avg(s["x"] * 0.37)),
    "aggregate, floats in groups": lambda at: (
        (s := at.inputs()[0]).group_by("y").aggregate(a=avg(s["x"] * 0.37))
    ),
    "aggregate, groups": lambda at: at.inputs()[0].group_by("x").aggregate(n=count()),
    "aggregate, many groups": lambda at: at.inputs()[0].group_by("x", "y").aggregate(n=count()),
    "time-window, slide": lambda at: _source("s", "xy").window(at.window, slide=at.window // 4),
    "count-window": lambda at: _source("s", "xy").last(_counted(at), ties="arrival"),
    "count-window, slide": lambda at: _source("s", "xy").last(_counted(at), slide=3, ties="arrival"),
    "partitioned-window": lambda at: _source("s", "xy").last(_counted(at), by=["y"], ties="arrival"),
    "partitioned-window, values": lambda at: _source("s", "xy").last(2, by=["x"], ties="arrival"),
    "partitioned-window, delay": lambda at: _source("s", "xy").last(
        2, by=["x"], ties="arrival", delay=at.window // 4
    ),
    "partitioned-window, slide": lambda at: _source("s", "xy").last(
        _counted(at), by=["y"], slide=3, ties="arrival"
    ),
    "granularity": lambda at: _source("s", "xy").granularity(10),
    "sample": lambda at: _source("s", "xy").sample(0.3),
    "istream": lambda at: at.inputs()[0].select("y").istream(),
    "dstream": lambda at: at.inputs()[0].select("y").dstream(),
    "split": lambda at: at.inputs()[0].split(at.window // 3),
    "coalesce": lambda at: at.inputs()[0].split(at.window // 8).coalesce(at.window // 2),
    "coalesce, by chance": lambda at: at.inputs()[0].select("y").coalesce(2 * at.window),
    "signed-hash-join": _by("signed-hash-join", _equal),
    "signed-nested-loops-join": _by("signed-nested-loops-join", _sum),
    "signed-semi-join": _by("signed-semi-join", _matching("semi_join", 2)),
    "signed-anti-join": _by("signed-anti-join", _matching("anti_join", 2)),
    "signed-difference": _by("signed-difference", _both("difference")),
    "signed-intersection": _by("signed-intersection", _both("intersection")),
    "signed-distinct": _by("signed-distinct", lambda at: at.inputs()[0].distinct()),
    "signed-aggregate": _by("signed-aggregate", lambda at: at.inputs()[0].group_by("y").aggregate(n=count())),
}


@dataclass(frozen=True)
class _PartsAt:
    """The parts of a plan of Table 24.1 at a point of the grid; all windows have the same size."""

    setting: Setting

    def window(self, stream: int) -> Stream:
        name = "stuv"[stream]
        return _source(name, [f"{name}{column}" for column in "xy"]).window(self.setting.window)

    def aggregate(self, stream: int) -> Stream:
        rows = self.window(stream).granularity(max(2, self.setting.granule))
        return rows.aggregate(**{rows.schema.names[0]: count()})

    def join(self, left: Stream, right: Stream) -> Stream:
        """Join on the first columns."""
        return left.join(right, on=[(left.schema.names[0], right.schema.names[0])])

    def join_aggregate(self, aggregate: Stream, other: Stream) -> Stream:
        """Every pair: counts seldom equal anything."""
        return aggregate.join(other)


def _row(shape: Shape) -> Query:
    return lambda setting: shape.build(_PartsAt(setting))


TABLE = {name: _row(shape) for name, shape in TABLE_24_1.items()}
"""The plans of the thesis' Table 24.1."""


def plan_at(query: Query, setting: Setting) -> Plan:
    """The physical plan of a query at a point of the grid."""
    return physical_plan(query(setting).plan())
