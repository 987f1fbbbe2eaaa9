"""Joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import running_operator
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import compile_pair, compile_row, join_keys
from midstream.plans.expressions.operands import Operand, col
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Element, Time
from midstream.testing import elements
from operator_cases.base import PLAIN, SMALL, UNKNOWN, Case, Histories, any_row, source, valid

HASHED = {
    "hash-join": (0, 1),
    "hash-list-join": (0,),
    "list-hash-join": (1,),
    "hash-join-queued": (0, 1),
}
"""The ports that keep their elements in a hash table."""

LENGTH = 4
"""For how long the elements behind a window are valid."""


@dataclass(frozen=True)
class JoinCase(Case):
    """An element is kept while a later one of the other side can meet it; a pair while it waits."""

    behind_windows: tuple[int, ...] = ()
    """The ports of which the operator is told that their ends are ordered."""
    ranged: tuple[Operand, Operand] | None = None
    """What a band join orders its sides by."""

    def operator(self) -> Operator:
        inputs = [
            stream(f"s{port}", child.schema).window(LENGTH).node if port in self.behind_windows else child
            for port, child in enumerate(self.node.inputs)
        ]
        return running_operator(Node(self.node.operator, tuple(inputs)))

    @cached_property
    def streams(self) -> st.SearchStrategy[dict[str, list[Element]]]:
        one = elements(self.payloads, max_size=10)
        if self.behind_windows:
            one = one.map(lambda stream: [(start, start + LENGTH, row) for start, _, row in stream])
        return st.fixed_dictionaries(dict.fromkeys(self.sources, one))

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        kept = sum(
            self.keeps(port, e[2])
            for port, history in enumerate(histories)
            for e in valid(history, reached[1 - port])
        )
        waiting = sum(
            max(l[0], r[0]) > min(reached) and min(l[1], r[1]) > max(l[0], r[0])
            for l in histories[0]  # noqa: E741
            for r in histories[1]
            if self.joins(l[2], r[2])
        )
        assert size == kept + waiting

    def joins(self, left: Any, right: Any) -> bool:
        """Whether two payloads make a pair."""
        return self._holds(left, right) is True

    @cached_property
    def _holds(self) -> Callable[[Any, Any], Any]:
        return compile_pair(self.plan.root.operator.condition, *self._sides)

    def keeps(self, port: int, payload: Any) -> bool:
        """Whether an element may find a partner at all: an unknown key finds none."""
        if self.ranged is not None:
            key = compile_row(self.ranged[port].expression, self._sides[port])(payload)
            return key is not None and key == key
        if port not in HASHED.get(self.implementation, ()):
            return True
        keys, _ = join_keys(self.plan.root.operator.condition, *self._sides)
        return all(payload[self._sides[port].index(key[port])] is not None for key in keys)

    @cached_property
    def _sides(self) -> tuple[Schema, ...]:
        return tuple(child.schema for child in self.node.inputs)


class QueuedCase(JoinCase):
    """What starts after the least progress waits; the others are kept while one that waits, or one to come,
    can meet them. No pair ever waits."""

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        waiting = [[e for e in history if e[0] > min(reached)] for history in histories]
        first = [min([e[0] for e in early], default=reached[port]) for port, early in enumerate(waiting)]
        kept = sum(
            self.keeps(port, e[2])
            for port, history in enumerate(histories)
            for e in valid(history, first[1 - port])
            if e[0] <= min(reached)
        )
        assert size == kept + sum(map(len, waiting))


def _join(key: str, on: Operand | list[tuple[str, str]] | None, columns: Sequence[str] | None = None) -> Plan:
    left, right = source(0, key, key, "0"), source(1, key, key, "1")
    return left.join(right, on=on, columns=columns).plan()


CHOSEN = ["v1", "k0", "k1"]
BOTH = [("k0", "k1"), ("v0", "v1")]

EQUI = {
    "one key": (_join("integer", [("k0", "k1")]), PLAIN),
    "two keys": (_join("integer", BOTH), PLAIN),
    "a residual condition": (_join("integer", col("k0").eq(col("k1")) & (col("v0") < col("v1"))), PLAIN),
    "a condition that may be unknown": (
        _join("integer?", col("k0").eq(col("k1")) & (col("v0") <= col("v1"))),
        UNKNOWN,
    ),
    "a key that may be unknown": (_join("integer?", [("k0", "k1")], CHOSEN), UNKNOWN),
    "two keys that may be unknown": (_join("integer?", BOTH), UNKNOWN),
    "columns chosen and reordered": (_join("integer", [("k1", "k0")], CHOSEN), PLAIN),
    "no columns": (_join("integer", [("k0", "k1")], []), PLAIN),
    "keys with roles exchanged": (_join("integer", [("k0", "v1")]), PLAIN),
    "a filtering equality on one side": (
        _join("integer", col("k0").eq(col("k1")) & col("k0").eq(col("v0"))),
        PLAIN,
    ),
}
THETA = {
    "no condition": (_join("integer", None), PLAIN),
    "an inequality": (_join("integer", col("k0") < col("k1"), CHOSEN), PLAIN),
    "alternatives that may be unknown": (
        _join("integer?", col("k0").eq(col("k1")) | col("v1").is_null()),
        UNKNOWN,
    ),
}

FLOATS = [0.1, 0.2, 0.3, 0.30000000000000004, -0.1, 0, 1, 1e16, 1.7e308, -1.7e308]
TENTHS = any_row(FLOATS, FLOATS)
WORDS = any_row(["", "a", "ab", "b"], map(str, SMALL))
FAR = any_row([-(2**70), -1, 0, 1, 2, 3, 2**53, 2**53 + 1, 2**70], SMALL)

K0, K1, V0, V1 = col("k0"), col("k1"), col("v0"), col("v1")
KEYS = (K0, K1)

RANGES = {
    "less": (_join("integer", K0 < K1, CHOSEN), PLAIN, KEYS),
    "less or equal, written from the right": (_join("integer", K1 >= K0), PLAIN, KEYS),
    "greater": (_join("integer", K0 > K1), PLAIN, KEYS),
    "greater or equal of unknowns": (_join("integer?", K0 >= K1), UNKNOWN, KEYS),
    "a band": (_join("integer", (K1 - 1 <= K0) & (K0 <= K1 + 1)), PLAIN, KEYS),
    "a band open at both ends, and more": (
        _join("integer", (K1 - 1 < K0) & (K0 < 2 + K1) & (V0 < V1)),
        PLAIN,
        KEYS,
    ),
    "a band of unknowns": (_join("integer?", (K1 - 1 <= K0) & (K0 - 1 <= K1)), UNKNOWN, KEYS),
    "a band with two lower ends": (
        _join("integer", (K1 < K0) & (K1 - 1 <= K0) & (K0 <= K1 + 1)),
        PLAIN,
        KEYS,
    ),
    "a band of large numbers": (
        _join("integer", (K1 - 1 <= K0) & (K0 <= K1 + 1)),
        FAR,
        KEYS,
    ),
    "a band of floats": (_join("float", (K1 - 0.2 <= K0) & (K0 <= K1 + 0.1)), TENTHS, KEYS),
    "a float beside large numbers": (
        _join("integer", (K0 + 0.5 < K1) & (K1 < K0 + 2.5)),
        FAR,
        KEYS,
    ),
    "differences that are no numbers": (
        _join("float", (K0 - V0 < K1) & (K1 <= V0)),
        TENTHS,
        (K0 - V0, K1),
    ),
    "sums on both sides": (_join("integer", K0 + V0 <= K1 - V1), PLAIN, (K0 + V0, K1 - V1)),
    "a quotient that may be unknown": (_join("integer", K0 / V0 < K1), PLAIN, (K0 / V0, K1)),
    "words": (_join("string", K0 <= K1), WORDS, KEYS),
    "two ranges, of which one is a band": (
        _join("integer", (V0 < V1) & (K1 <= K0) & (K0 <= K1 + 1)),
        PLAIN,
        KEYS,
    ),
    "an equality besides": (_join("integer", K0.eq(K1) & (V0 < V1)), PLAIN, (V0, V1)),
}

SOME = {
    title: EQUI[title]
    for title in ("one key", "a condition that may be unknown", "two keys that may be unknown", "no columns")
}
"""For the joins that are put together of the parts of others."""

KINDS = {
    "hash-join": (JoinCase, EQUI),
    "nested-loops-join": (JoinCase, EQUI | THETA),
    "hash-list-join": (JoinCase, SOME),
    "list-hash-join": (JoinCase, SOME),
    "hash-join-queued": (QueuedCase, SOME),
    "nested-loops-join-queued": (QueuedCase, SOME | THETA),
}

BEHIND = ("one key", "two keys that may be unknown", "an inequality")
"""Also tried behind windows."""


def cases() -> list[Case]:
    """The cases."""
    return [
        *(
            kind(f"{name} with {title}", name, plan, payloads)
            for name, (kind, suitable) in KINDS.items()
            for title, (plan, payloads) in suitable.items()
        ),
        *(
            JoinCase(f"band-join with {title}", "band-join", plan, payloads, ranged=ranged)
            for title, (plan, payloads, ranged) in RANGES.items()
        ),
        *_cases_behind_windows(),
    ]


def _cases_behind_windows() -> list[Case]:
    """Ends that never decrease let state be a queue."""
    found: list[Case] = []
    for behind, titles in (((0, 1), BEHIND), ((0,), BEHIND[:1]), ((1,), BEHIND[:1])):
        where = f"behind windows {behind}"
        windowed = {"lengths": st.just(LENGTH), "behind_windows": behind}
        found += [
            kind(f"{name} with {title} {where}", name, *suitable[title], **windowed)
            for name, (kind, suitable) in KINDS.items()
            for title in titles
            if title in suitable
        ]
        plan, payloads, ranged = RANGES["a band of unknowns"]
        title = f"band-join with a band of unknowns {where}"
        found.append(JoinCase(title, "band-join", plan, payloads, ranged=ranged, **windowed))
    return found
