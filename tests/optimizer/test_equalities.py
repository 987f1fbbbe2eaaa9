"""However equalities are written, the fewest that say the same are asked for."""

from __future__ import annotations

from itertools import permutations

import pytest

from midstream.optimizer import Sample
from midstream.optimizer.cost.column_facts import Facts, equated, input_facts, paired
from midstream.optimizer.cost.equalities import least_equalities
from midstream.plans.values.schema import Schema


def facts_of(*names: str) -> Facts:
    """Facts about columns of one sample."""
    schema = Schema.of(**dict.fromkeys(names, "integer"))
    return input_facts(schema, Sample(schema, [(1,) * len(names), (2,) * len(names)]), {})


FACTS = paired(paired(facts_of("a1", "a2"), facts_of("b1", "b2")), facts_of("c"))


def least(*pairs: tuple[str, str], facts: Facts = FACTS) -> list[str]:
    return [str(part) for part in least_equalities(pairs, facts)]


@pytest.mark.parametrize(
    "pairs",
    [
        *permutations([("a1", "b1"), ("a2", "b1"), ("b1", "c")]),
        [("a1", "b1"), ("a2", "b1"), ("a1", "c")],
        [("c", "a2"), ("b1", "a1"), ("a1", "a2")],
        [("a1", "a2"), ("a1", "b1"), ("a2", "b1"), ("b1", "c"), ("a2", "c")],
    ],
)
def test_all_ways_to_write_a_class_come_out_as_one(pairs: list[tuple[str, str]]) -> None:
    assert least(*pairs) == ["a1 = a2", "a1 = b1", "a1 = c"]


def test_columns_of_one_sample_come_first() -> None:
    assert least(("a1", "b1"), ("a1", "b2")) == ["b1 = b2", "a1 = b1"]


def test_classes_stay_apart() -> None:
    assert least(("a1", "b1"), ("b2", "a2")) == ["a1 = b1", "a2 = b2"]


def test_what_is_known_already_is_not_asked_again() -> None:
    known = equated("a1", "b1", FACTS)
    assert least(("a1", "b1"), facts=known) == []
    assert least(("b1", "c"), facts=known) == ["a1 = c"]
    assert least(("a2", "b1"), facts=known) == ["a1 = a2"]
    assert least(("b1", "c"), ("a1", "c"), facts=known) == ["a1 = c"]


def test_an_equality_of_a_column_with_itself_is_asked() -> None:
    """It says that the column is known."""
    assert least(("a1", "a1")) == ["a1 = a1"]


def test_columns_without_a_sample_come_from_nowhere_in_common() -> None:
    schema = Schema.of(p="integer", q="integer")
    known = {**FACTS, **input_facts(schema, None, {"p": {1: 1.0}, "q": {1: 1.0}})}
    assert least(("p", "q"), ("q", "a1"), facts=known) == ["a1 = p", "a1 = q"]


def test_columns_of_which_nothing_is_known_say_that_others_are_equal() -> None:
    assert least(("nothing", "a1"), ("nothing", "a2")) == ["a1 = a2", "a1 = nothing"]
    assert least(("nothing", "no more")) == ["no more = nothing"]
