"""What was measured of a running plan prices plans in which windows stand elsewhere as runs of these show."""

from __future__ import annotations

import random

import pytest

import midstream as ms
from midstream.arrivals import interleave
from midstream.operators.engine.measuring.metadata import Metadata
from midstream.optimizer import price
from midstream.optimizer.rules import RULES, WINDOWS
from midstream.plans.algebra.properties import logical_node
from midstream.plans.values.streams import Element, chronons

Streams = dict[str, list[Element]]

S = ms.stream("s", x="integer", y="integer")
T = ms.stream("t", z="integer")
U = ms.stream("u", x="integer", y="integer")
LOW = ms.col("x") < 12
RARE = ms.col("x") == 7
SUM = {"x": ms.col("x"), "both": ms.col("x") + ms.col("y")}


def poisson(seed: int, d: float, *values: int, until: int = 60_000) -> list[Element]:
    rng, time, rows = random.Random(seed), 0.0, []
    while (time := time + rng.expovariate(1 / d)) < until:
        rows.append((int(time), tuple(rng.randrange(n) for n in values)))
    return list(chronons(rows))


STREAMS: Streams = {"s": poisson(1, 10, 40, 5), "t": poisson(2, 25, 40), "u": poisson(3, 30, 40, 5)}
SELDOM: Streams = {**STREAMS, "s": poisson(4, 1, 1500, 5)}


def joined(s: ms.Stream) -> ms.Stream:
    return s.join(T.window(1500), on=[("x", "z")])


REWRITES = {
    "filter moved below": (joined(S.window(500).filter(LOW)), joined(S.filter(LOW).window(500)), STREAMS),
    "filter moved above": (joined(S.filter(LOW).window(500)), joined(S.window(500).filter(LOW)), STREAMS),
    "projection moved below": (
        joined(S.window(500).select(**SUM)),
        joined(S.select(**SUM).window(500)),
        STREAMS,
    ),
    "projection moved above": (
        joined(S.select(**SUM).window(500)),
        joined(S.window(500).select(**SUM)),
        STREAMS,
    ),
    "filter and projection moved above": (
        joined(S.filter(LOW).select("x").window(500)),
        joined(S.window(500).filter(LOW).select("x")),
        STREAMS,
    ),
    "window that advances by 50": (
        joined(S.filter(LOW).window(500, slide=50)),
        joined(S.window(500, slide=50).filter(LOW)),
        STREAMS,
    ),
    "window moved below a union": (
        joined(S.union(U).window(500).filter(LOW)),
        joined(S.filter(LOW).window(500).union(U.filter(LOW).window(500))),
        STREAMS,
    ),
    "window moved above a union": (
        joined(S.filter(LOW).window(500).union(U.filter(LOW).window(500))),
        joined(S.union(U).window(500).filter(LOW)),
        STREAMS,
    ),
    "rare rows, filtered above": (
        joined(S.filter(RARE).window(500)),
        joined(S.window(500).filter(RARE)),
        SELDOM,
    ),
}


def run(query: ms.Stream, streams: Streams) -> tuple[ms.Engine, dict[ms.plans.Node, Metadata]]:
    """An engine that has run a query, and what was measured of its operators."""
    engine = ms.Engine(query)
    with engine.watch() as measured:
        for name, batch in interleave(streams):
            if name in engine.streams:
                engine.push(name, batch)
        return engine, {logical_node(one.node): one for one in measured()}


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewritten_plan_costs_what_its_run_tells(name: str) -> None:
    running, rewritten, streams = REWRITES[name]
    nearly = 0.25 if streams is SELDOM else 0.1
    assert ms.equivalent(running, rewritten).answer.name == "PROVED"
    statistics = run(running, streams)[0].statistics()
    other, measured = run(rewritten, streams)
    predicted = price(rewritten, statistics)
    assert predicted.total == pytest.approx(price(rewritten, other.statistics()).total, rel=0.03)
    assert predicted.operators.keys() == measured.keys()
    for node, estimate in predicted.operators.items():
        assert estimate.rate == pytest.approx(measured[node].output_rate, rel=nearly), node.operator
        assert estimate.l == pytest.approx(measured[node].l, rel=nearly), node.operator
    before, after = (price(plan, statistics).operators[plan.node] for plan in (running, rewritten))
    assert (after.rate, after.valid) == pytest.approx((before.rate, before.valid), rel=0.02)


def test_a_share_of_one_stream_is_not_that_of_another() -> None:
    """Column x of U is filtered too, above the window, and there half of the rows are not rare."""
    often = U.window(500).filter(RARE)
    query = joined(S.filter(RARE).window(500)).select("y").join(often.select(v=ms.col("y")), on=[("y", "v")])
    halved = chronons((start, (7 if i % 2 else 8, 1)) for i, start in enumerate(range(0, 60_000, 30)))
    streams = {**SELDOM, "u": list(halved)}
    statistics = run(query, streams)[0].statistics()
    assert price(often, statistics).operators[often.node].rate == pytest.approx(1 / 60, rel=0.05)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (S.window(500).filter(LOW), S.filter(LOW).window(500)),
        (S.filter(LOW).window(500), S.window(500).filter(LOW)),
    ],
    ids=["filter moved below", "filter moved above"],
)
def test_what_was_measured_survives_a_migration(before: ms.Stream, after: ms.Stream) -> None:
    """A window that has shown nothing yet is not taken for an empty one."""
    engine, _ = run(before, STREAMS)
    known = engine.statistics()
    engine.migrate(after, "swap")
    assert engine.statistics().streams == known.streams
    engine.push("s", chronons([(60_000 + t, (t % 40, 0)) for t in range(0, 60_000, 10)]))
    assert engine.statistics().stream(S.node).d == pytest.approx(10.0)


def test_windows_of_a_running_query_move_where_that_costs_less() -> None:
    """Fewer rows go through the window, as what was measured above it tells; so it pays to filter first."""
    engine, _ = run(S.window(500).filter(LOW), STREAMS)
    choice = engine.optimize(rules=(*RULES, *WINDOWS))
    assert choice.plan == S.filter(LOW).window(500).plan()
    engine.migrate(choice, "swap")
    assert not engine.optimize(rules=(*RULES, *WINDOWS)).is_better
