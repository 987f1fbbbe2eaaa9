"""How many different rows there are, as far as one can know."""

from __future__ import annotations

import math
import random

import pytest

from midstream.optimizer import Sample
from midstream.optimizer.cost.column_facts import (
    Facts,
    agreement,
    combinations,
    equated,
    input_facts,
    paired,
    selected_facts,
)
from midstream.plans.values.schema import Schema

LEFT = Schema.of(a="integer", b="integer")
RIGHT = Schema.of(c="integer", d="integer")


def facts_of(schema: Schema, rows: list[tuple[int, ...]]) -> Facts:
    return input_facts(schema, Sample(schema, rows), {})


PAIRS = [(a, b) for a in range(4) for b in range(5)] * 2


def test_columns_of_one_sample_are_counted_together() -> None:
    correlated = facts_of(LEFT, [(i % 6, i % 6 // 2) for i in range(60)])
    assert combinations(["a"], correlated) == 6
    assert combinations(["b"], correlated) == 3
    assert combinations(["a", "b"], correlated) == 6


def test_columns_of_different_samples_are_independent() -> None:
    both = paired(facts_of(LEFT, PAIRS), facts_of(RIGHT, PAIRS))
    assert combinations(["a", "c"], both) == 16
    assert combinations(["a", "b", "c", "d"], both) == 400


def test_equal_columns_are_counted_once() -> None:
    """With a = c, the 20 rows of the left side go each with the 5 rows of the right that have its value."""
    both = equated("a", "c", paired(facts_of(LEFT, PAIRS), facts_of(RIGHT, PAIRS)))
    assert combinations(["a", "c"], both) == 4
    assert combinations(["a", "b", "c"], both) == 20
    assert combinations(["a", "b", "c", "d"], both) == 100


def test_two_columns_agree_as_often_as_they_have_equal_values() -> None:
    one, other = {1: 0.5, 2: 0.3, 3: 0.2}, {2: 0.25, 3: 0.5, 4: 0.25}
    share, joint = agreement(one, other)
    assert share == 0.3 * 0.25 + 0.2 * 0.5
    assert joint == {2: 0.3 * 0.25 / share, 3: 0.2 * 0.5 / share}
    assert agreement(other, one) == (share, joint)
    assert agreement(one, {5: 1.0}) == (0.0, {})


def test_only_values_that_found_a_partner_count() -> None:
    both = equated("a", "c", paired(facts_of(LEFT, PAIRS), facts_of(RIGHT, [(2, 0), (3, 0), (9, 0)])))
    assert combinations(["a"], both) == 2


def test_known_distributions_count_their_values() -> None:
    known = input_facts(LEFT, None, {"a": {1: 0.5, 2: 0.5}, "b": dict.fromkeys(range(10), 0.1)})
    assert combinations(["a", "b"], known) == 20


def test_nothing_known_is_infinitely_many() -> None:
    assert combinations(["a"], {}) == math.inf
    assert combinations([], {}) == 1


def test_a_small_sample_tells_of_values_that_it_does_not_hold() -> None:
    """500 draws of 1000 values, all equally likely, show about 400 different ones; there must be more."""
    rng = random.Random(3)
    rows = [(rng.randrange(1000), 0) for _ in range(500)]
    assert len(set(rows)) < 420
    assert combinations(["a"], facts_of(LEFT, rows)) == pytest.approx(1000, rel=0.25)


def test_columns_that_are_gone_are_no_longer_equal_to_any() -> None:
    both = equated("a", "c", paired(facts_of(LEFT, PAIRS), facts_of(RIGHT, PAIRS)))
    assert both["a"].equals == {"a", "c"}
    assert selected_facts(["c", "d"], both)["c"].equals == {"c"}
