"""Rules that move windows need their guards, each at least for one plan.

That they hold is drawn in test_rules; but in few plans there, so that a guard that is gone may not be missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from random import Random

import pytest

from midstream.optimizer.rules import WINDOWS, Rule, apply, flat
from midstream.optimizer.rules.rule import Guard
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.operators import Granularity, TimeWindow
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.snapshots import NormalForm
from midstream.plans.values.streams import Element, Time

RULES = {rule.name: rule for rule in flat(WINDOWS)}
S = stream("s", x="integer?", y="integer")
T = stream("t", x="integer?", y="integer")


def groups(rows: Stream, *, ties: str = "arrival") -> Stream:
    """A window for each x."""
    return rows.last(1, by=["x"], ties=ties)  # type: ignore[arg-type]


NEEDED: list[tuple[str, str, Stream]] = [
    ("now-window", "is_of_one_chronon", S.window(2)),
    ("now-window", "advances_by_one", S.window(1, slide=2)),
    ("windows-merging", "advance_by_one", S.window(1, slide=2).window(2).distinct()),
    ("istream-of-unbounded", "is_unbounded", S.window(2).istream()),
    ("istream-of-unbounded", "advances_by_one", S.window(None, slide=2).istream()),
    ("filter-below-partitioned-window", "reads_keys_only", groups(S).filter(col("y") > 0)),
    ("filter-below-partitioned-window", "has_no_ties", groups(S, ties="error").filter(col("x") > 0)),
    ("filter-above-partitioned-window", "read_keys_only", groups(S.filter(col("y") > 0))),
    ("filter-above-partitioned-window", "had_no_ties", groups(S.filter(col("x") > 0), ties="error")),
    ("projection-below-partitioned-window", "keeps_keys", groups(S).select(x=col("x") * 0)),
    ("projection-below-partitioned-window", "keeps_keys", groups(S).select("y", x=col("y"))),
    ("projection-above-partitioned-window", "reads_keys", groups(S.select("y", x=col("x") * 0))),
    ("time-window-above-union", "are_equal", S.window(2).union(T.window(3))),
    ("time-window-above-union", "are_equal", S.window(2).union(T.window(2, slide=2))),
    ("granularity-above-reducible", "is_on_all_inputs", S.window(2).granularity(2).union(T.window(2))),
    ("granularity-above-reducible", "is_on_all_inputs",
     S.window(2).granularity(2).union(T.window(2).granularity(4))),
]  # fmt: skip

PAYLOADS = [(None, 0), (0, 0), (0, 1), (1, 1)]
SAMPLES = 100


def small_streams(plan: Plan) -> Iterator[dict[str, list[Element]]]:
    """Every stream of at most two elements in the first five chronons, where there is one; and samples of
    three, and of several streams."""
    lengths = {source.stream: [1, 3] if source.intervals else [1] for source in plan.sources}
    elements = {
        name: [(t, t + length, e) for t, length, e in product(range(5), some, PAYLOADS)]
        for name, some in lengths.items()
    }
    if len(elements) == 1:
        ((name, those),) = elements.items()
        for n in range(3):
            yield from ({name: list(chosen)} for chosen in combinations_with_replacement(those, n))
    random = Random(1)
    for _ in range(SAMPLES):
        yield {name: sorted(random.choices(those, k=3), key=starts) for name, those in elements.items()}


def starts(element: Element) -> Time:
    """When an element starts; rows of one instant stay in the order in which they arrive."""
    return element[0]


def meaning(plan: Plan, streams: Mapping[str, Sequence[Element]]) -> NormalForm | str:
    """What a plan means, or which error it raises."""
    try:
        return specified(plan, streams)
    except MidstreamError as error:
        return type(error).__name__


def differences(rule: Rule, plan: Plan) -> Iterator[dict[str, list[Element]]]:
    """The small streams on which what the rule makes of a plan differs from it."""
    rewritten = [Plan(found) for found in apply(rule, plan.root)]
    assert rewritten, f"{rule.name} does nothing"
    for streams in small_streams(plan):
        wanted = meaning(plan, streams)
        if any(meaning(found, streams) != wanted for found in rewritten):
            yield streams


def named(guard: Guard) -> str:
    """The name of a guard."""
    return guard.__name__


@pytest.mark.parametrize(
    ("name", "guard", "rows"), NEEDED, ids=[f"{name}-{g}-{i}" for i, (name, g, _) in enumerate(NEEDED)]
)
def test_without_a_guard_some_small_stream_tells_the_sides_apart(name: str, guard: str, rows: Stream) -> None:
    rule, plan = RULES[name], rows.plan()
    assert not list(apply(rule, plan.root)), "the guard lets it pass"
    unguarded = replace(rule, guards=tuple(g for g in rule.guards if named(g) != guard))
    try:
        found = next(differences(unguarded, plan), None)
    except MidstreamError:
        return  # the other side cannot be made
    assert found is not None


def test_every_guard_is_tried() -> None:
    assert {(n, g) for n, g, _ in NEEDED} == {(r.name, named(g)) for r in RULES.values() for g in r.guards}


def test_windows_whose_size_may_change_stay() -> None:
    for name, rows in [
        ("now-window", S.apply(TimeWindow(1, bounds=(1, 9)))),
        ("windows-merging", S.window(2).apply(TimeWindow(2, bounds=(1, 9))).distinct()),
        ("windows-merging", S.apply(TimeWindow(2, bounds=(1, 9))).window(2).distinct()),
        ("granularities-merging", S.granularity(2).apply(Granularity(4, bounds=(2, 8)))),
        ("granularities-merging", S.apply(Granularity(2, bounds=(2, 8))).granularity(4)),
    ]:
        assert not list(apply(RULES[name], rows.plan().root)), name
