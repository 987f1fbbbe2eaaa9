"""Values that hypothesis strategies draw from a seed alone, and the search for smaller ones.

Hypothesis has no public way to draw one value from a seed, or to shrink a value that it did not find itself.
Only this file uses its internals.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

from hypothesis import Phase, find, settings
from hypothesis.control import BuildContext
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample, StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")

KEY = b"what was drawn"
SECONDARY = KEY + b".secondary"
"""The key under which hypothesis stores values that are not shrunk yet."""


def drawn(strategy: SearchStrategy[Value], seed: int) -> Value | None:
    """The value that a strategy draws with a seed, equal in every process; None where it gives up.

    It depends on the version of hypothesis.

    >>> from hypothesis import strategies as st
    >>> drawn(st.integers(0, 9), 4) == drawn(st.integers(0, 9), 4)
    True
    >>> len({drawn(st.integers(0, 9), seed) for seed in range(99)})
    10
    """
    found = _drawn(strategy, seed)
    return None if found is None else found[0]


def smallest(
    strategy: SearchStrategy[Value], seed: int, fails: Callable[[Value], bool], tries: int = 2_000
) -> Value | None:
    """The simplest value for which `fails` is true, starting from the value of a seed.

    None if the seed gives no value, or `fails` is false for it.

    >>> from hypothesis import strategies as st
    >>> smallest(st.integers(5, 9), 4, lambda number: number % 2 == 1 or number > 5)
    5
    """
    found = _drawn(strategy, seed)
    if found is None:
        return None
    database = InMemoryExampleDatabase()
    database.save(SECONDARY, found[1])
    chosen = settings(
        max_examples=tries, database=database, phases=(Phase.reuse, Phase.shrink), deadline=None
    )
    try:
        return find(strategy, fails, settings=chosen, database_key=KEY)
    except NoSuchExample:
        return None


def _drawn(strategy: SearchStrategy[Value], seed: int) -> tuple[Value, bytes] | None:
    """A value, and the choices that lead to it."""
    data = ConjectureData(random=Random(seed))
    try:
        with BuildContext(data, is_final=False, wrapped_test=_drawn):
            value = data.draw(strategy)
    except (StopTest, UnsatisfiedAssumption):
        return None
    return value, choices_to_bytes(data.choices)
