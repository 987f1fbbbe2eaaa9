"""A function that raises for some rows is asked of no row that its query keeps away from it.

a plan raises nothing on an input  =>  what rules, the optimizer and a migration make of it raises nothing
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
from guarded_plans import GuardedPlans, rewritten
from hypothesis import settings

from midstream.arrivals import interleave
from midstream.engine import Engine
from midstream.optimizer import Sample, Statistics, StreamStatistics, optimize
from midstream.optimizer.search.proving import equivalent
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.small_inputs import SmallInputs, Trial
from midstream.plans.equivalence.trials import are_close
from midstream.plans.values.errors import MidstreamError, MigrationRefused
from midstream.plans.values.snapshots import NormalForm, normal_form
from midstream.plans.values.streams import Element

CASES = int(os.environ.get("MIDSTREAM_GUARDED_PLANS") or max(24, settings.default.max_examples))
"""How many plans are drawn; each is tried on some inputs on which it raises nothing as written."""
INPUTS = 3
REWRITTEN = 16
"""How many plans rules make of each at most."""

BATCHES = 8
"""In how many parts the tests divide the plans."""


def outcome(plan: Plan, streams: Trial, other: Plan | None = None, at: int = 0) -> NormalForm | str:
    """What a plan gives, migrated to another one after some batches; or what it raises."""
    results: list[Element] = []
    engine = Engine(plan, results.extend)
    try:
        for number, (name, batch) in enumerate(
            interleave({source.stream: streams.get(source.stream, []) for source in plan.sources})
        ):
            if number == at and other is not None:
                engine.migrate(other)
            engine.push(name, batch)
        engine.close()
    except MigrationRefused:
        raise
    except MidstreamError as error:
        return f"raises {error}"
    return normal_form(results)


def statistics_of(plan: Plan, random: Random) -> Statistics:
    streams = {}
    for node in plan.nodes:
        if not node.operator.is_snapshot_reducible:  # type: ignore[union-attr]
            rows = [tuple(random.choice((0, 1, 2, 3)) for _ in node.schema) for _ in range(6)]
            streams[node] = StreamStatistics(
                random.choice((1, 20)), random.choice((1, 90)), sample=Sample(node.schema, rows)
            )
    return Statistics(streams)


def sources_of(plan: Plan) -> set[str]:
    return {source.stream for source in plan.sources}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_raises_that_does_not_raise_as_written(batch: int) -> None:
    """Every rule in every place, one after the other; the optimizer; and a migration to some of these."""
    compared: Counter[str] = Counter()
    for number in range(batch, CASES, BATCHES):
        random = Random(number)
        plan = GuardedPlans(random).draw()
        inputs = SmallInputs([plan])
        written = [(streams, outcome(plan, streams)) for streams in (inputs.draw(random) for _ in range(9))]
        quiet = [(streams, gave) for streams, gave in written if not isinstance(gave, str)][:INPUTS]
        if not quiet:
            continue
        others = list(rewritten(plan, random, REWRITTEN))
        others.append(("optimize", optimize(plan, statistics_of(plan, random)).plan))
        for name, other in others:
            for streams, expected in quiet:
                gave = outcome(other, streams)
                assert not isinstance(gave, str), f"{name}: {gave}\n{plan}\n{other}\n{streams}"
                assert are_close(gave, expected), f"{name}\n{plan}\n{other}\n{streams}"
                compared["rewritten"] += 1
        for name, other in [others[-1], *random.sample(others, min(3, len(others)))]:
            if sources_of(other) != sources_of(plan):
                continue  # a migration changes no inputs
            for streams, expected in quiet:
                at = random.randint(0, max(1, sum(map(len, streams.values())) - 1))
                try:
                    gave = outcome(plan, streams, other, at)
                except MigrationRefused:
                    compared["refused"] += 1
                    continue
                assert not isinstance(gave, str), f"migrated, {name}: {gave}\n{plan}\n{other}\n{streams}"
                assert are_close(gave, expected), f"migrated, {name}\n{plan}\n{other}\n{streams}"
                compared["migrated"] += 1
    print(dict(compared))
    assert compared["rewritten"] > 20 * CASES / BATCHES, compared
    assert compared["migrated"] > CASES / BATCHES, compared


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_plans_that_are_proved_the_same_raise_on_the_same_inputs(batch: int) -> None:
    proved = 0
    for number in range(batch, CASES, BATCHES):
        random = Random(number)
        plan = GuardedPlans(random).draw()
        for name, other in rewritten(plan, random, 4):
            if not equivalent(plan, other, steps=0):
                continue
            proved += 1
            inputs = SmallInputs([plan, other])
            for _ in range(5):
                streams = inputs.draw(random)
                one, two = (isinstance(outcome(each, streams), str) for each in (plan, other))
                assert one == two, f"{name}\n{plan}\n{other}\n{streams}"
    assert proved > CASES / BATCHES / 2
