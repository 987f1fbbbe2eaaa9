"""The settings of a query's levers: what a result was computed with."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_lever, logical, longest_validity
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.values.artefacts import Header, artefact_text, parsed, read_artefact
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Time

History = tuple[tuple[Time, Any], ...]
"""The settings of a lever with the instants from which they hold, in order of time."""


HEADER: Header = {"midstream_settings": 1}


@dataclass(frozen=True)
class _LeverInFile:
    lever: dict[str, Any]
    """The plan of the lever."""
    settings: list[tuple[int | None, int | float]]
    """The settings with the instants from which they hold; None is the beginning."""


@dataclass(frozen=True)
class _File:
    levers: list[_LeverInFile]


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

    def dump(self, plan: Plan) -> str:
        """The settings of the levers of a query's plan, as text; see `load`."""
        levers = [
            _LeverInFile(plan_to_json(Plan(lever)), [(_finite(at), setting) for at, setting in history])
            for lever, history in self.of(plan).items()
        ]
        return artefact_text(HEADER, {"levers": levers})

    def load(self, text: str | bytes, plan: Plan) -> None:
        """Take the settings of the levers of a plan from a text of `dump`.

        Raises   ArtefactError or PlanFormatError where it is no such text; PlanError where the plan has other
                 levers, or another last setting of one.
        """
        file = read_artefact(parsed(text), HEADER, _File)
        histories = {plan_from_json(lever.lever).root: lever.settings for lever in file.levers}
        wanted = list(filter(is_lever, plan.nodes))
        for lever, history in histories.items():
            if lever not in wanted:
                found = ", ".join(str(logical(one)) for one in wanted) or "none"
                raise PlanError(f"found settings of {logical(lever)}, but the query's levers are: {found}")
            if not history or history[0][0] is not None or history[-1][1] != _setting(lever):
                raise PlanError(
                    f"found the settings {history!r} of {logical(lever)}, expected them from the beginning "
                    f"to {_setting(lever)}"
                )
        for lever, history in histories.items():
            if len(history) > 1:
                self._changes[lever] = [(BEGINNING if at is None else at, setting) for at, setting in history]

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


def _finite(at: Time) -> int | None:
    return None if at == BEGINNING else int(at)
