"""What people write by hand: rewrites are proved, or known not to be yet; changes of meaning never are."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from time import process_time
from typing import Any

import pytest
from legitimate_changes import PROVED, UNKNOWN
from wrong_changes import WRONG

from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.specification import specified
from midstream.plans.equivalence.prover import same_meaning
from midstream.plans.values.errors import TieError
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.snapshots import compare
from midstream.plans.values.streams import BEGINNING, FOREVER, Element

MOST_SECONDS = 0.005
"""How long a proof may take."""

VALUES: Mapping[Type, tuple[Any, ...]] = {
    Type.INTEGER: tuple(range(7)),
    Type.FLOAT: (0.0, 0.1, 0.5, 1.0, 2, 2.5),
    Type.STRING: ("", "a", "A", "b"),
    Type.BOOLEAN: (False, True),
}


def inputs(one: Plan, other: Plan, random: Random) -> dict[str, list[Element]]:
    """Few rows for two plans, at different instants, so that they can be counted."""

    def row(columns: Schema) -> tuple[Any, ...]:
        return tuple(
            None if column.nullable and random.random() < 0.3 else random.choice(VALUES[column.type])
            for column in columns
        )

    found = {}
    for source in {*one.sources, *other.sources}:
        times = sorted(random.sample(range(12), random.randint(0, 5)))
        found[source.stream] = [(t, t + 1, row(source.columns)) for t in times]
    for relation in {*one.relations, *other.relations}:
        rows = [row(relation.columns) for _ in range(random.randint(0, 4))]
        found[relation.relation] = [(BEGINNING, FOREVER, e) for e in rows]
    return found


def are_told_apart(one: Stream, other: Stream, tries: int) -> bool:
    """Whether some inputs have different results."""
    plans, random = (one.plan(), other.plan()), Random(1)
    for _ in range(tries):
        streams = inputs(*plans, random)
        try:
            left, right = (specified(plan, streams) for plan in plans)
        except TieError:
            continue
        if not compare(left, right):
            return True
    return False


def test_there_are_enough() -> None:
    assert len(WRONG) >= 40
    assert len(PROVED) >= 35
    assert len(PROVED) + len(UNKNOWN) >= 44


@pytest.mark.parametrize(("old", "new"), WRONG.values(), ids=WRONG)
def test_a_wrong_change_is_never_proved(old: Stream, new: Stream) -> None:
    assert not same_meaning(old.node, new.node)
    assert not same_meaning(new.node, old.node)
    assert are_told_apart(old, new, tries=600)


@pytest.mark.parametrize(("old", "new"), PROVED.values(), ids=PROVED)
def test_a_legitimate_change_is_proved(old: Stream, new: Stream) -> None:
    assert same_meaning(old.node, new.node)
    assert same_meaning(new.node, old.node)
    assert not are_told_apart(old, new, tries=30)


@pytest.mark.parametrize(("old", "new", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_another_legitimate_change_is_not_proved_yet(old: Stream, new: Stream, reason: str) -> None:
    assert not same_meaning(old.node, new.node), f"proved now, though {reason}"
    assert not are_told_apart(old, new, tries=30)


@pytest.mark.parametrize(("old", "new"), PROVED.values(), ids=PROVED)
def test_a_proof_is_fast(old: Stream, new: Stream) -> None:
    """The best of some, in time of this process."""

    def seconds() -> float:
        begin = process_time()
        same_meaning(old.node, new.node)
        return process_time() - begin

    assert min(seconds() for _ in range(5)) < MOST_SECONDS
