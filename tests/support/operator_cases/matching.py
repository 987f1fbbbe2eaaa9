"""Semi-joins and anti-joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.expressions import TRUE, Expression, compile_pair, join_keys
from midstream.plans.expressions.operands import col
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Element, Time
from operator_cases.base import PLAIN, UNKNOWN, Case, Histories, source, valid


class SemiJoinCase(Case):
    """Valid left elements are kept. Of the right side the covered keys are, if equality is all that is asked
    for; else the valid elements."""

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        assert size <= self.kept(histories, min(reached))

    def kept(self, histories: Histories, least: Time) -> int:
        """How many elements may be kept, results apart."""
        waiting = sum(e[0] > least for history in histories for e in history)
        lefts, rights = (
            [self.key(port, e[2]) for e in valid(history, least) if e[0] <= least]
            for port, history in enumerate(histories)
        )
        known = [key for key in rights if None not in key]
        by_key = self.is_hashed and self._split[1] == TRUE
        return waiting + sum(None not in key for key in lefts) + len(set(known) if by_key else known)

    @property
    def is_hashed(self) -> bool:
        """Whether unknown keys are known to match nothing."""
        return self.implementation.startswith("hash")

    def key(self, port: int, payload: Any) -> tuple[Any, ...]:
        """What a payload is found by."""
        keys = self._split[0] if self.is_hashed else []
        return tuple(payload[self._sides[port].index(key[port])] for key in keys)

    def matches(self, left: Any, right: Any) -> bool:
        """Whether two payloads satisfy the condition."""
        return self._holds(left, right) is True

    @cached_property
    def _holds(self) -> Callable[[Any, Any], Any]:
        return compile_pair(self.plan.root.operator.condition, *self._sides)

    @cached_property
    def _split(self) -> tuple[list[tuple[str, str]], Expression]:
        return join_keys(self.plan.root.operator.condition, *self._sides)

    @cached_property
    def _sides(self) -> tuple[Schema, ...]:
        return tuple(child.schema for child in self.node.inputs)


class AntiJoinCase(SemiJoinCase):
    """The uncovered part of a left element leaves when it and all that start earlier have closed: where the
    element ends or a match starts, but without waiting for a match that can no longer come."""

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        least = min(reached)
        quiet = min((e[0] for e in histories[1] if e[0] > least), default=reached[1])
        return min([least, *(since for since, end in self.uncovered(histories, least) if end > quiet)])

    def uncovered(self, histories: Histories, least: Time) -> list[tuple[Time, Time]]:
        """Since when, and until when at most, a left element that may find a match has none."""
        rights = [e for e in histories[1] if e[0] <= least]
        found = []
        for start, end, payload in histories[0]:
            since = max([start, *(e[1] for e in rights if self.matches(payload, e[2]))])
            if since < least and None not in self.key(0, payload):
                found.append((since, end))
        return found

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        first, least = self.progress(histories, reached), min(reached)
        segments = sum(
            1 + sum(self.matches(e[2], r[2]) for r in histories[1] if r[1] >= first)
            for e in valid(histories[0], first)
            if e[0] <= least
        )
        ending = len({e[2] for e in histories[1] if e[1] == least})
        assert size <= self.kept(histories, least) + segments + ending

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        # A closed segment may wait behind an open one, and a cover that ends may be extended at that instant.
        assert all(end >= operator.progress() for _, end, _ in kept)


def cases() -> list[Case]:
    """The cases."""

    def plan(name: str, type_: str, on: Expression | list[tuple[str, str]] | None) -> Plan:
        left, right = source(0, type_, type_, "0"), source(1, type_, type_, "1")
        return getattr(left, name)(right, on=on).plan()

    equal = col("k0").eq(col("k1"))
    equi = {
        "one key": ("integer", [("k0", "k1")], PLAIN),
        "one key that may be unknown": ("integer?", [("k0", "k1")], UNKNOWN),
        "two keys": ("integer", [("k0", "v1"), ("v0", "k1")], PLAIN),
        "two keys that may be unknown": ("integer?", [("k0", "k1"), ("v0", "v1")], UNKNOWN),
        "a residual condition": ("integer", equal & (col("v0") < col("v1")), PLAIN),
        "a residual condition that may be unknown": ("integer?", equal & (col("v0") <= col("v1")), UNKNOWN),
    }
    theta = {
        "no condition": ("integer", None, PLAIN),
        "an inequality": ("integer", col("k0") < col("k1"), PLAIN),
        "alternatives that may be unknown": ("integer?", equal | col("v1").is_null(), UNKNOWN),
    }
    return [
        kind(f"{name} with {title}", name, plan(method, type_, on), payloads, is_eager=kind is SemiJoinCase)
        for kind, method, way in (
            (SemiJoinCase, "semi_join", "semi-join"),
            (AntiJoinCase, "anti_join", "anti-join"),
        )
        for name, suitable in ((f"hash-{way}", equi), (f"nested-loops-{way}", equi | theta))
        for title, (type_, on, payloads) in suitable.items()
    ]
