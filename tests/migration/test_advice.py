"""What a refusal names instead is not refused as well."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import midstream as ms
from midstream.plans.algebra.builder import Stream
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.streams import Element
from midstream.testing import verdict

A, B = ms.stream("a", x="integer", y="integer"), ms.stream("b", z="integer")
LARGE = ms.col("y") > 1


def counted(stream: Stream) -> Stream:
    return stream.window(5).group_by("x").aggregate(n=ms.count())


PLANS = {
    "a filter through a window below a join": (
        A.window(9).filter(LARGE).join(B.window(7), on=[("x", "z")]),
        A.filter(LARGE).window(9).join(B.window(7), on=[("x", "z")]),
    ),
    "a filter through a window below a grouping": (
        A.window(9).filter(LARGE).group_by("x").aggregate(n=ms.count()),
        A.filter(LARGE).window(9).group_by("x").aggregate(n=ms.count()),
    ),
    "a join below another window": (
        counted(A.window(9).join(B.window(7), on=[("x", "z")]).filter(LARGE)),
        counted(A.window(9).filter(LARGE).join(B.window(7), on=[("x", "z")])),
    ),
    "a filter through a window": (A.window(9).filter(LARGE), A.filter(LARGE).window(9)),
    "a filter through a join": (
        A.window(9).join(B.window(7), on=[("x", "z")]).filter(LARGE),
        A.window(9).filter(LARGE).join(B.window(7), on=[("x", "z")]),
    ),
}


@pytest.mark.parametrize("strategy", ["swap", "genmig", "auto"])
@pytest.mark.parametrize("name", PLANS)
def test_what_is_named_instead_can_be_done(name: str, strategy: str) -> None:
    old, new = (stream.plan() for stream in PLANS[name])
    ways: dict[str, Callable[[ms.Engine], object]] = {
        "by swap": lambda engine: engine.migrate(new, "swap"),
        "use genmig": lambda engine: engine.migrate(new, "genmig"),
        "engine.replace": lambda engine: engine.replace(new),
    }
    arrivals = [
        ("ab"[t % 2], (t, t + 1, (t // 2 % 3, t % 4) if t % 2 == 0 else (t // 2 % 3,))) for t in range(60)
    ]
    expected = ms.plans.specified(old, {s: [e for at, e in arrivals if at == s] for s in old_streams(old)})
    engine = ms.Engine(old)
    try:
        engine.migrate(new, strategy)
        return
    except MigrationRefused as refusal:
        named = [way for words, way in ways.items() if words in str(refusal)]
        assert named, refusal
    for way in named:
        results: list[Element] = []
        engine = ms.Engine(old, results.extend)
        for number, (stream, element) in enumerate(arrivals):
            if number == 30:
                way(engine)
            if stream in engine.streams:
                engine.push(stream, [element])
        engine.close()
        assert verdict(expected, results)


def old_streams(plan: ms.Plan) -> list[str]:
    return [source.stream for source in plan.sources]
