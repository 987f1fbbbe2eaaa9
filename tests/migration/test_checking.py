"""A plan takes the place of another by proof, or on the caller's word."""

from __future__ import annotations

import re
from typing import Any

import pytest
from wrong_changes import WRONG

import midstream as ms
from midstream.migration.machine import Phase
from midstream.plans.values.streams import chronons

S = ms.stream("s", x="integer").window(9)
x = ms.col("x")
OLD, WRONG_PLAN = S.filter(x > 3), S.filter(x > 4)
IMPLIED = S.filter(x > 3).filter((x > 1) | (x * x > 1000))
"""It means the same as OLD, which neither the normal form nor the search can tell."""
ROWS = list(chronons([(t, (t % 7,)) for t in range(2000)]))
AT = 700


class Run:
    """An engine that gets its elements one by one."""

    def __init__(self, query: ms.Stream = OLD) -> None:
        self.results: list[Any] = []
        self.engine = ms.Engine(query.plan(), self.results.extend)
        self.rest = list(ROWS)

    def push(self, number: int) -> None:
        """That many elements."""
        for _ in range(number):
            self.engine.push("s", [self.rest.pop(0)])

    def close(self) -> None:
        """All the others, and the end; the results must be those without migration."""
        self.push(len(self.rest))
        self.engine.close()
        assert ms.equivalent(self.results, ms.run(OLD.plan(), {"s": ROWS}))


def test_what_is_proved_begins_at_once() -> None:
    run = Run()
    run.push(AT)
    migration = run.engine.migrate(S.filter(~(x <= 3)), replace_all=True)
    assert migration.phase is Phase.MOVING
    assert migration.equivalence
    assert ms.report(migration).equivalence == "proved: both have the same normal form"
    run.close()
    assert migration.phase is Phase.DONE


def test_what_is_not_proved_is_checked_while_elements_flow_and_refused_when_refuted() -> None:
    run = Run()
    run.push(AT)
    migration = run.engine.migrate(WRONG_PLAN)
    assert (migration.phase, migration.split, migration.parts) == (Phase.CHECKING, ms.BEGINNING, ())
    before = run.engine.query().physical
    run.push(1000)
    assert migration.phase is Phase.REFUSED
    assert migration.equivalence is not None and migration.equivalence.answer is ms.Answer.REFUTED
    assert "the plans do not mean the same: a search found an input of 1 element" in migration.reason
    assert "engine.replace(plan, at=T)" in migration.reason
    assert ms.report(migration).equivalence == f"refuted: {migration.equivalence.reason}"
    assert run.engine.query().physical is before
    run.close()


def test_what_stays_unknown_is_refused_unless_the_caller_vouches() -> None:
    run = Run()
    run.push(AT)
    refused = run.engine.migrate(IMPLIED)
    accepted = run.engine.migrate(IMPLIED, unproved="accept")
    run.push(1200)
    assert refused.phase is Phase.REFUSED
    assert 'say unproved="accept", on the command line --accept-unproved' in refused.reason
    assert accepted.phase in (Phase.MOVING, Phase.DONE)
    assert (ms.report(accepted).equivalence or "").startswith("unknown, accepted: ")
    run.close()
    assert accepted.phase is Phase.DONE


def test_who_waits_knows_at_once() -> None:
    run = Run()
    run.push(AT)
    with pytest.raises(ms.MigrationRefused, match="do not mean the same") as caught:
        run.engine.migrate(WRONG_PLAN, wait=True)
    assert caught.value.equivalence.counterexample.size == 1  # type: ignore[attr-defined]
    with pytest.raises(ms.MigrationRefused, match="it is unknown whether"):
        run.engine.migrate(IMPLIED, wait=True)
    assert run.engine.migrate(IMPLIED, wait=True, unproved="accept").phase is Phase.MOVING
    run.close()


@pytest.mark.parametrize("plans", [(OLD, WRONG_PLAN), (WRONG_PLAN, OLD)])
def test_the_counter_example_names_the_plans_whatever_their_order_in_the_answer(plans: Any) -> None:
    with pytest.raises(
        ms.MigrationRefused, match=r"old  \(4,\)  \[─+\)\nnew  nothing|new  nothing\nold  \(4,\)"
    ):
        Run().engine.migrate(WRONG_PLAN, proof=ms.equivalent(*plans))


def test_a_refuted_plan_is_refused_though_the_caller_vouches() -> None:
    run = Run()
    with pytest.raises(ms.MigrationRefused, match="do not mean the same"):
        run.engine.migrate(WRONG_PLAN, wait=True, unproved="accept")


def test_what_is_being_checked_can_be_aborted() -> None:
    run = Run()
    run.push(AT)
    migration = run.engine.migrate(IMPLIED, unproved="accept")
    run.push(5)
    migration.abort("not needed any more")
    assert (migration.phase, migration.reason) == (Phase.ABORTED, "not needed any more")
    run.push(1)
    assert not run.engine._feed._under_way
    run.close()


def test_the_end_of_all_streams_ends_the_check() -> None:
    run = Run()
    run.push(AT)
    migration = run.engine.migrate(IMPLIED, unproved="accept")
    run.engine.close()
    assert migration.phase is Phase.ABORTED
    assert "all streams ended before it was known" in migration.reason


def test_after_the_end_the_answer_comes_at_once() -> None:
    run = Run()
    run.engine.close()
    with pytest.raises(ms.MigrationRefused, match="do not mean the same"):
        run.engine.migrate(WRONG_PLAN)


def test_a_query_that_is_removed_meanwhile_is_not_migrated() -> None:
    run = Run()
    run.engine.add(S.plan(), name="other")
    run.push(AT)
    migration = run.engine.migrate(IMPLIED, query="query", unproved="accept")
    run.engine.remove("query")
    run.push(1000)
    assert (migration.phase, migration.reason) == (Phase.REFUSED, "query query has been removed")


def test_heartbeats_and_ends_go_on_with_the_check_too() -> None:
    run = Run(ms.stream("t", x="integer").window(9).union(OLD))
    wrong = run.engine.migrate(ms.stream("t", x="integer").window(9).union(WRONG_PLAN))
    for t in range(500):
        run.engine.advance("s", t)
    assert wrong.phase is Phase.REFUSED
    wrong = run.engine.migrate(ms.stream("t", x="integer").window(9).union(WRONG_PLAN))
    run.engine.end("t")
    assert wrong.phase in (Phase.CHECKING, Phase.REFUSED)


def test_an_answer_given_before_is_taken() -> None:
    run = Run()
    run.push(AT)
    proof = ms.equivalent(OLD, S.filter(~(x <= 3)))
    assert run.engine.migrate(S.filter(~(x <= 3)), proof=proof, replace_all=True).phase is Phase.MOVING
    run.close()


@pytest.mark.parametrize(
    "proof", [ms.equivalent(OLD, OLD), ms.equivalent(S, S.distinct().distinct()), ms.equivalent([], [])]
)
def test_a_proof_of_something_else_proves_nothing(proof: ms.Equivalence) -> None:
    with pytest.raises(ms.MigrationRefused, match="the proof is about other plans"):
        Run().engine.migrate(WRONG_PLAN, proof=proof)


def test_a_choice_carries_the_rules_that_led_to_it() -> None:
    late = S.union(S).filter(x > 3)
    engine = ms.Engine(late)
    engine.push("s", ROWS[:100])
    choice = engine.optimize()
    assert choice.rules == ("filter-below-union",)
    migration = engine.migrate(choice)
    assert ms.report(migration).equivalence == "proved: derived by filter-below-union"


def test_what_cannot_be_done_is_said_first() -> None:
    with pytest.raises(ms.MigrationRefused, match="output has the columns"):
        Run().engine.migrate(S.select(z=x))
    with pytest.raises(ms.MigrationRefused, match="unproved 'yes', expected refuse or accept"):
        Run().engine.migrate(OLD, unproved="yes")


def test_pushes_are_held_up_by_one_input_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements go on between two steps of a derivation, and between two inputs of the search."""
    from midstream.plans.equivalence import refutation

    tried: list[object] = []
    draw = refutation.SmallInputs.draw

    def counted(self: Any, random: Any) -> Any:
        tried.append(random)
        return draw(self, random)

    monkeypatch.setattr(refutation.SmallInputs, "draw", counted)
    run = Run()
    run.push(AT)
    run.engine.migrate(IMPLIED, unproved="accept")
    assert len(tried) <= 1
    run.push(10)
    assert len(tried) <= 11
    run.push(90)
    assert 0 < len(tried) <= 101


@pytest.mark.parametrize("strategy", ms.migration.STRATEGIES)
@pytest.mark.parametrize("name", WRONG)
def test_every_strategy_refuses_wrong_changes(name: str, strategy: str) -> None:
    old, new = WRONG[name]
    engine = ms.Engine(old)
    if strategy == "moving-states":
        engine.keep_log()
    with pytest.raises(ms.MigrationRefused):
        engine.migrate(new, strategy, wait=True)
    assert engine.plan == old.plan()


A, B = (ms.stream(name, k="integer", v="integer").alias(name).window(9) for name in "ab")
JOINED, TURNED = A.join(B, on=[("a.k", "b.k")]), B.join(A, on=[("b.k", "a.k")])


@pytest.mark.parametrize(
    "refuse",
    [
        lambda old, new: ms.Engine(old).migrate(new),
        lambda old, new: ms.Engine(old).predict_migration(new),
        lambda old, new: old.union(new),
        lambda old, new: old.difference(new),
        lambda old, new: old.intersection(new),
    ],
    ids=["migrate", "predict", "union", "difference", "intersection"],
)
def test_columns_in_another_order_are_put_right_as_the_message_says(refuse: Any) -> None:
    with pytest.raises(ms.MidstreamError, match="the same columns in another order: end the ") as caught:
        refuse(JOINED, TURNED)
    advice = re.search(r"\.select\((.*)\)$", str(caught.value))
    assert advice is not None
    mended = TURNED.select(*(name.strip('"') for name in advice[1].split(", ")))
    refuse(JOINED, mended)


def test_a_comparison_tells_of_the_order_too() -> None:
    answer = ms.equivalent(JOINED, TURNED)
    assert answer.reason.endswith('end the other with .select("a.k", "a.v", "b.k", "b.v")')


@pytest.mark.parametrize(
    "other",
    [
        TURNED.select("b.k", "b.v", "a.k"),
        TURNED.rename({"a.k": "k"}),
        TURNED.select("b.k", "b.v", "a.k", **{"a.v": ms.lit("x")}),
    ],
    ids=["fewer", "other names", "other types"],
)
def test_other_columns_get_no_advice_on_their_order(other: ms.Stream) -> None:
    with pytest.raises(ms.MigrationRefused, match="has the columns") as caught:
        ms.Engine(JOINED).migrate(other)
    assert "order" not in str(caught.value)
