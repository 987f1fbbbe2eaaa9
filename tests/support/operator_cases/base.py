"""What the suites ask of an operator under test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import running_operator
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.specification import meaning, snapshots, specified
from midstream.plans.values.snapshots import NormalForm, snapshot
from midstream.plans.values.streams import FOREVER, Element, Time
from midstream.testing import elements


def any_row(*columns: Iterable[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Rows of any values of the columns: drawn at once, as hypothesis takes the same time for each value."""
    return st.sampled_from(tuple(product(*columns)))


SMALL = (0, 1, 2)
MAYBE = (None, None, None, *SMALL)
PLAIN = any_row(SMALL, SMALL)
UNKNOWN = any_row(MAYBE, MAYBE)

Histories = Sequence[Sequence[Element]]
"""Per port, the elements that have arrived."""


def source(number: int, key: str = "integer", value: str = "integer", suffix: str = "") -> Stream:
    """A stream of intervals with two columns."""
    return stream(f"s{number}", {f"k{suffix}": key, f"v{suffix}": value}, intervals=True)


@dataclass(frozen=True)
class Case:
    """An operator over sources, as a plan; what its inputs may hold; and models of how far it must be, and of
    what it may keep. A family of operators with other models has a class of its own."""

    name: str
    implementation: str
    plan: Plan
    payloads: st.SearchStrategy[Any]
    is_eager: bool = True
    """Whether a result leaves as soon as it is known and no earlier one can come, be its end known or not."""
    gaps: st.SearchStrategy[int] = st.sampled_from((0, 0, 1, 1, 2, 4))  # noqa: RUF009
    """By how much an element starts later than the one before."""
    lengths: st.SearchStrategy[Time] = st.sampled_from((1, 1, 2, 3, 5, 8, FOREVER))  # noqa: RUF009
    """For how long an element is valid."""
    period: int = 1
    """Moving the input by multiples of this moves the output."""
    heeds_time: bool = False
    """Whether moving the input in time makes other results, as of a sample."""
    heeds_heartbeats: bool = False
    """Whether how far the progress came before the end shows in how results are cut, though not in what they
    mean."""
    node: Node = field(init=False)

    def __post_init__(self) -> None:
        root = self.plan.root
        node = Node(Physical(self.implementation, logical(root)), root.inputs)
        object.__setattr__(self, "node", node)

    @property
    def sources(self) -> tuple[str, ...]:
        """The stream of each port."""
        return tuple(child.operator.stream for child in self.node.inputs)

    @property
    def has_chronons(self) -> bool:
        """Whether the input must be a chronon stream."""
        return implementation_of(self.node).needs_chronons

    def operator(self) -> Operator:
        """A new one, with empty state."""
        return running_operator(self.node)

    @cached_property
    def streams(self) -> st.SearchStrategy[dict[str, list[Element]]]:
        """Complete inputs."""
        one = elements(self.payloads, chronons=self.has_chronons, max_size=10)
        return st.fixed_dictionaries(dict.fromkeys(self.sources, one))

    def specified(self, histories: Histories) -> NormalForm:
        """What the operator must give on complete inputs."""
        return specified(self.plan, dict(zip(self.sources, histories, strict=True)))

    @cached_property
    def _meaning(self) -> Callable[..., Counter]:
        return meaning(self.plan.root)

    def snapshot(self, histories: Histories, instant: Time) -> Counter:
        """What the operator must give at one instant, which depends on nothing later."""
        if logical(self.node).is_snapshot_reducible:
            return self._meaning(*(snapshot(history, instant) for history in histories))
        past = [[e for e in history if e[0] <= instant] for history in histories]
        known = snapshots(self.plan, dict(zip(self.sources, past, strict=True)))
        if instant in known:
            return known[instant]
        return known[max(known)] if instant > max(known) else Counter()

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        """How far the operator must be: a lower progress would be true as well, and would delay results for
        ever."""
        return min(reached)

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        """Assert that no more is kept than may be of use. By default nothing may."""
        assert size == 0

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        """Assert that each kept element may still meet a later one, or waits for its turn."""
        assert all(end > min(operator.reached) for _, end, _ in kept)

    def __str__(self) -> str:
        return self.name


def valid(history: Sequence[Element], since: Time) -> list[Element]:
    """The elements that end after a time."""
    return [element for element in history if element[1] > since]
