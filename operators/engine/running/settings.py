"""The settings of a query's levers: what a result was computed with."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, logical, longest_validity
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Time

History = tuple[tuple[Time, Any], ...]
"""The settings of a lever with the instants from which they hold, in order of time."""


class LeverSettings:
    """The settings of the levers of one query, by the logical nodes of its plan (thesis, 21.4.3).

    State    An entry for each adjustment.
    """

    def __init__(self) -> None:
        self._changes: dict[Node, list[tuple[Time, Any]]] = {}
        """By lever that has been adjusted, its settings."""

    def adjust(self, plan: Plan, moved: Mapping[Node, Node], at: int) -> None:
        """Take note that levers of a plan have other nodes, and some of them another setting from `at` on.

        That replaces earlier requests for that instant or later.
        """
        for old in filter(is_lever, plan.nodes):
            new = moved[old]
            settings = self._changes.pop(old, [(BEGINNING, _setting(old))])
            if logical(old) != logical(new):
                del settings[bisect_left(settings, at, key=START) :]
                settings.append((at, _setting(new)))
            if len(settings) > 1:
                self._changes[new] = settings

    def of(self, plan: Plan) -> dict[Node, History]:
        """All settings so far of the levers of a query's plan, future ones included."""
        levers = filter(is_lever, plan.nodes)
        return {lever: tuple(self._changes.get(lever, [(BEGINNING, _setting(lever))])) for lever in levers}

    def between(self, plan: Plan, start: Time, end: Time) -> dict[Node, History]:
        """The settings of elements that can be valid from `start` up to, not including, `end`."""
        return {
            lever: tuple(
                entry
                for entry, after in pairwise([*settings, (FOREVER, None)])
                if entry[0] < end and after[0] + validity(lever, entry[1]) > start
            )
            for lever, settings in self.of(plan).items()
        }


def complete_at(lever: Node, history: Iterable[tuple[Time, Any]], at: Time) -> Time:
    """The instant from which on nothing is valid that came with an earlier setting than that from `at` on.

    And if later elements are valid for longer than earlier ones, the first ones of these end then.
    """
    ends = [
        min(after[0], at) + validity(lever, setting)
        for (_, setting), after in pairwise([*history, (FOREVER, None)])
    ]
    return max(ends)


def validity(lever: Node, setting: Any) -> Time:
    """The most chronons for which an element is valid behind a lever with a setting."""
    operator = logical(lever)
    assert isinstance(operator, Adjustable)
    fixed: Adjustable = replace(operator, **{operator.lever: setting}, bounds=None)  # type: ignore[type-var]
    return fixed.longest_validity([longest_validity(child) for child in lever.inputs])


def _setting(lever: Node) -> Any:
    operator = logical(lever)
    assert isinstance(operator, Adjustable)
    return operator.setting
