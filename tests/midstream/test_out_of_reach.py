"""For a running query the optimizer chooses plans that some strategy can migrate to, and tells of better ones
that none can."""

from __future__ import annotations

import random

import midstream as ms
from midstream.optimizer import LATENCY, Milliseconds
from midstream.optimizer.rules import JOINS, RULES

WITH_JOINS = (*RULES, *JOINS)

ITEMS = ms.stream("items", id="integer", kind="integer", intervals=True).unique("id")
BIDS = ms.stream("bids", item="integer", bidder="integer", price="integer").references(
    [("item", "id")], ITEMS
)
PEOPLE = ms.stream("people", person="integer")
NOW = BIDS.window(1)
DEAR = ms.col("price") > 90
WANTED = ["item", "bidder", "price"]
OF_KNOWN_ITEMS = (
    NOW.join(PEOPLE.window(60), on=[("bidder", "person")])
    .join(ITEMS, on=[("item", "id")], columns=WANTED)
    .filter(DEAR)
)
"""Of items nothing is wanted, and each bid has one: nobody need read them, unless they are being read."""

Batch = tuple[str, list[tuple[int, int, tuple[int, ...]]]]


def batches(first: int, until: int) -> list[Batch]:
    rng = random.Random(first)
    found: list[Batch] = []
    for t in range(first, until):
        if t % 50 == 0:
            found.append(("items", [(t, t + 50, (i, i % 3)) for i in range(10)]))
        found.append(("bids", [(t, t + 1, (rng.randrange(10), rng.randrange(50), rng.randrange(100)))]))
        found.append(("people", [(t, t + 1, (rng.randrange(50),))]))
    return found


def fed(engine: ms.Engine, rows: list[Batch]) -> None:
    for name, batch in rows:
        if name in engine.streams:
            engine.push(name, batch)


def running(query: ms.Stream, rows: list[Batch]) -> ms.Engine:
    engine = ms.Engine(query)
    fed(engine, rows)
    return engine


def test_a_plan_that_reads_fewer_streams_is_told_and_not_chosen() -> None:
    """By the same rules, a plan that does not run yet leaves items out."""
    engine = running(OF_KNOWN_ITEMS, batches(0, 200))
    choice = engine.optimize(rules=WITH_JOINS)
    unread = ms.optimize(OF_KNOWN_ITEMS, engine.statistics(), rules=WITH_JOINS)
    assert {source.stream for source in unread.plan.sources} == {"bids", "people"}
    assert unread.out_of_reach is None
    assert choice.out_of_reach is not None
    assert choice.out_of_reach.plan == unread.plan
    assert choice.out_of_reach.cost == unread.cost
    assert "only the old plan has source items" in choice.out_of_reach.reason
    assert unread.cost.total < choice.cost.total < choice.original_cost.total / 2
    assert not choice.is_complete
    assert str(choice).endswith(f"; {choice.out_of_reach}")
    assert engine.obstacle(unread.plan) == choice.out_of_reach.reason
    assert engine.obstacle(choice.plan) is None


def test_what_is_chosen_is_migrated_to_with_its_proof() -> None:
    results: list[list] = [[], []]
    engines = [ms.Engine(OF_KNOWN_ITEMS, sink.extend) for sink in results]
    for engine in engines:
        fed(engine, batches(0, 200))
    choice = engines[0].optimize(rules=WITH_JOINS)
    assert choice.is_better
    transition = engines[0].migrate(choice, "auto")
    assert list(choice.plans)[-1] == choice.plan
    for engine in engines:
        fed(engine, batches(200, 400))
        engine.close()
    assert ms.report(transition).phase == "done"
    assert len(results[0]) > 10
    assert ms.plans.normal_form(results[0]) == ms.plans.normal_form(results[1])


def test_a_search_in_slices_finds_the_same() -> None:
    engine = running(OF_KNOWN_ITEMS, batches(0, 200))
    expected = engine.optimize(rules=WITH_JOINS)
    search = engine.optimize(rules=WITH_JOINS, budget=30_000)
    while not search.is_done:
        engine.advance("people", engine.progress("people") + 1)
    assert search.choice.plan == expected.plan
    assert search.choice.out_of_reach is not None
    late = engine.optimize(rules=WITH_JOINS, budget=Milliseconds(60_000)).finish()
    assert (late.plan, late.cost) == (expected.plan, engine.optimize(rules=WITH_JOINS).cost)
    assert engine.optimize(rules=WITH_JOINS, budget=Milliseconds(1e-6)).finish().plan == OF_KNOWN_ITEMS.plan()


def test_whole_plans_are_told_too() -> None:
    """By an objective that is no sum over operators."""
    engine = running(OF_KNOWN_ITEMS, batches(0, 200))
    choice = engine.optimize(rules=WITH_JOINS, objective=LATENCY)
    assert choice.out_of_reach is not None
    assert engine.obstacle(choice.plan) is None
    best = LATENCY.of(choice.out_of_reach.cost)
    assert best < LATENCY.of(choice.cost) <= LATENCY.of(choice.original_cost)


S = ms.stream("people", person="integer", age="integer")


def people(until: int) -> list[Batch]:
    rng = random.Random(4)
    return [("people", [(t, t + 1, (rng.randrange(9), rng.randrange(99)))]) for t in range(until)]


def test_what_nothing_that_ends_can_reach_stays_as_it_is() -> None:
    """A duplicate elimination over a window without an end cannot be exchanged any more."""
    engine = running(S.window(None).distinct().filter(ms.col("age") > 90), people(500))
    choice = engine.optimize()
    assert not choice.is_better
    assert choice.out_of_reach is not None
    assert choice.out_of_reach.cost.total < choice.cost.total
    assert choice.steps == ()
    assert str(choice).startswith(f"{choice.cost.total:.4g} µs per chronon; a plan of ")
    assert "valid for ever" in choice.out_of_reach.reason
    unpushed = ms.Engine(S.window(None).distinct().filter(ms.col("age") > 90))
    assert unpushed.obstacle(choice.out_of_reach.plan) is None, "nothing is valid for ever yet"


def test_the_reasons_of_the_most_general_strategies_are_told() -> None:
    told = running(S.window(9).distinct(), people(50)).obstacle(S.window(10).distinct())
    assert told is not None
    assert told.startswith(
        "no strategy is applicable: genmig: the plans differ below or between their windows"
    )
    assert "; swap: the windows on the way to the output out differ" in told


def test_one_query_that_must_stay_does_not_keep_the_others() -> None:
    engine = ms.Engine()
    engine.add(S.window(None).distinct().filter(ms.col("age") > 90), name="for ever")
    engine.add(S.window(60).distinct().filter(ms.col("age") > 80), name="for a while")
    fed(engine, people(500))
    choices = engine.optimize_all()
    stays, moves = choices["for ever"], choices["for a while"]
    assert not stays.is_better
    assert moves.is_better
    assert moves.rules == ("filter-below-distinct",)
    assert stays.out_of_reach is not None
    assert stays.out_of_reach.reason.startswith("for ever: no strategy is applicable")
    assert stays.out_of_reach.plan != stays.plan
    engine.migrate(moves, query="for a while")


def test_several_outputs_are_optimized_together() -> None:
    """As by `ms.optimize`: what both have is paid once."""
    few, dear = (S.window(60).distinct().filter(ms.col("age") > n) for n in (95, 90))
    plan = ms.Plan({"few": few.node, "dear": dear.node})
    engine = ms.Engine(plan)
    fed(engine, people(300))
    assert engine.optimize() == ms.optimize(plan, engine.statistics())
    assert engine.optimize().considered == ms.optimize(plan, engine.statistics()).considered
