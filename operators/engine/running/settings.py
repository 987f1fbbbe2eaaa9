"""The settings of a query's levers: what a result was computed with."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, takewhile
from typing import Any

from midstream.operators.base.setting import WithSetting
from midstream.operators.engine.running.bounds import LeverBounds, kind, shown_bounds
from midstream.operators.engine.running.renaming import Renaming
from midstream.plans.algebra.operators import Adjustable
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import (
    is_lever,
    lever_of,
    levers_of,
    logical,
    logical_node,
    longest_validity,
)
from midstream.plans.algebra.serialise import plan_from_json, plan_to_json
from midstream.plans.values.artefacts import Header, artefact_text, parsed, read_artefact
from midstream.plans.values.errors import PlanError
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Time

History = tuple[tuple[Time, Any], ...]
"""The settings of a lever with the instants from which they hold, in order of time."""


HEADER: Header = {"midstream_settings": 1}

WINDOWS = 100
"""The default time for which settings stay on record, in windows: the largest that a query has had."""

CHANGES = 1000
"""The default number of settings on record of levers that count rows."""


@dataclass(frozen=True)
class _LeverInFile:
    lever: dict[str, Any]
    """The plan of the lever."""
    settings: list[tuple[int | None, int | float]]
    """The settings with the instants from which they hold; None is the beginning."""


@dataclass(frozen=True)
class _File:
    levers: list[_LeverInFile]
    remembered_from: int | None = None
    """The instant before which the settings of results have been forgotten; None if nothing has."""


class LeverSettings:
    """The bounds and the settings of the levers of one query (thesis, 21.4.2 and 21.4.3).

    Levers are the logical nodes of the query's plan as it runs. There they may show wider bounds than the
    query declares, as other queries share them.

    State    An entry for each adjustment, until it is forgotten.
    Cost     O(log entries) for a change; amortised O(1) to forget one.
    """

    def __init__(self) -> None:
        self._changes: dict[Node, list[tuple[Time, Any]]] = {}
        """By lever that has been adjusted, its settings."""
        self._declared: dict[Node, LeverBounds] = {}
        """By lever, the bounds that the query declares, if its plan shows others."""
        self.remembered_from: Time = BEGINNING
        """The instant before which the settings of results have been forgotten."""
        self._longest: Time = 0
        """The longest validity, if it has an end, behind a lever that has been adjusted, with any setting."""

    def bounds(self, lever: Node) -> LeverBounds:
        """The bounds that the query declares for a lever."""
        return self._declared.get(lever) or shown_bounds(lever)

    def declare(self, bounds: Mapping[Node, LeverBounds]) -> None:
        """Take note of the bounds that the query declares for levers of its plan."""
        for lever, declared in bounds.items():
            self._declared.pop(lever, None)
            if declared != shown_bounds(lever):
                self._declared[lever] = declared

    def declared(self, plan: Plan) -> dict[Node, Adjustable]:
        """The levers of a plan that show other bounds than the query declares, as it declares them."""
        levers = (lever for lever in levers_of(plan) if lever in self._declared) if self._declared else ()
        return {lever: lever_of(lever).with_bounds(self._declared[lever]) for lever in levers}

    def rename(self, plan: Plan, moved: Mapping[Node, Node]) -> None:
        """Go on with the levers of a plan under other nodes."""
        nodes = {old: new for old in filter(is_lever, plan.nodes) if (new := moved[old]) is not old}
        levers = {logical_node(old): logical_node(new) for old, new in nodes.items()}
        bounds = {new: self.bounds(old) for old, new in levers.items()}
        changes = {new: self._changes.pop(old) for old, new in levers.items() if old in self._changes}
        for old in levers:
            self._declared.pop(old, None)
        self._changes |= changes
        self.declare(bounds)

    def follow(self, before: Plan, plan: Plan) -> None:
        """Go on with the levers of another plan of the query, which may stand elsewhere in it."""
        if not self._declared or before == plan:
            return
        for lever in levers_of(plan):
            for past, bounds in tuple(self._declared.items()):
                if logical(past) == logical(lever) and kind(past) == kind(lever):
                    self._declared[lever] = bounds
        for lever in self._declared.keys() - set(levers_of(plan)):
            del self._declared[lever]

    def change(self, lever: Node, setting: Any, at: int) -> None:
        """Take note that a lever has another setting from `at` on.

        That replaces earlier requests for that instant or later.
        """
        settings = self._changes.pop(lever, [(BEGINNING, lever_of(lever).setting)])
        del settings[bisect_left(settings, at, key=START) :]
        if not settings or settings[-1][1] != setting:
            settings.append((at, setting))
        if len(settings) > 1 or settings[0][0] != BEGINNING:
            self._changes[lever] = settings
        lasting = (validity(lever, value) for _, value in settings[-2:])
        self._longest = max([self._longest, *(one for one in lasting if one != FOREVER)])

    def forget(self, plan: Plan, before: Time) -> None:
        """Forget the settings that no result valid at `before` or later was computed with."""
        for lever in levers_of(plan):
            settings = self._changes.get(lever, [])
            ends = (after + validity(lever, value) for (_, value), (after, _) in pairwise(settings))
            del settings[: sum(1 for _ in takewhile(lambda end: end <= before, ends))]
        self.remembered_from = max(before, self.remembered_from)

    def forget_old(self, plan: Plan, progress: Time, remember: Time | None) -> None:
        """Forget the settings of results that ended more than some chronons before a progress.

        By default that is `WINDOWS` times the longest validity. Behind a lever that counts rows, nobody knows
        when these end; then the last `CHANGES` settings stay.
        """
        before = progress - (WINDOWS * self._longest if remember is None else remember)
        if before > self.remembered_from:
            self.forget(plan, before)
        if remember is not None:
            return
        for lever in levers_of(plan):
            settings = self._changes.get(lever, [])
            if len(settings) > CHANGES and validity(lever, settings[0][1]) == FOREVER:
                del settings[:-CHANGES]
                self.remembered_from = max(self.remembered_from, settings[0][0])

    def dump(self, plan: Plan) -> str:
        """The settings of the levers of a query's plan, as text; see `load`."""
        own = Renaming(self.declared(plan), {})
        levers = [
            _LeverInFile(
                plan_to_json(Plan(own.node(lever))), [(_finite(at), setting) for at, setting in history]
            )
            for lever, history in self.of(plan).items()
        ]
        forgotten = {} if self.remembered_from == BEGINNING else {"remembered_from": self.remembered_from}
        return artefact_text(HEADER, {"levers": levers, **forgotten})

    def load(self, text: str | bytes, plan: Plan) -> None:
        """Take the settings of the levers of a plan from a text of `dump`.

        Raises   ArtefactError or PlanFormatError where it is no such text; PlanError where the plan has other
                 levers, or another last setting of one.
        """
        file = read_artefact(parsed(text), HEADER, _File)
        running = Renaming(self.declared(plan), {})
        of_plan = {running.node(lever): lever for lever in levers_of(plan)}
        histories = {plan_from_json(lever.lever).root: lever.settings for lever in file.levers}
        wanted = list(of_plan)
        for lever, history in histories.items():
            if lever not in wanted:
                found = ", ".join(str(logical(one)) for one in wanted) or "none"
                raise PlanError(f"found settings of {logical(lever)}, but the query's levers are: {found}")
            last = lever_of(lever).setting
            is_from_beginning = bool(history) and (history[0][0] is None or file.remembered_from is not None)
            if not is_from_beginning or history[-1][1] != last:
                raise PlanError(
                    f"found the settings {history!r} of {logical(lever)}, expected them from the beginning "
                    f"to {last}"
                )
        for lever, history in histories.items():
            if len(history) > 1:
                self._changes[of_plan[lever]] = [
                    (BEGINNING if at is None else at, setting) for at, setting in history
                ]
        if file.remembered_from is not None:
            self.remembered_from = file.remembered_from

    def of(self, plan: Plan) -> dict[Node, History]:
        """All settings so far of the levers of a query's plan, future ones included."""
        return {
            lever: tuple(self._changes.get(lever, [(BEGINNING, lever_of(lever).setting)]))
            for lever in levers_of(plan)
        }

    def between(self, plan: Plan, start: Time, end: Time) -> dict[Node, History]:
        """By lever, the settings of elements that can be valid from `start` up to, not including, `end`.

        Raises   PlanError where those of an earlier `start` have been forgotten.
        """
        if start < self.remembered_from:
            raise PlanError(
                f"found results from {start} on, expected {self.remembered_from} or later: earlier settings "
                "have been forgotten"
            )
        return {
            lever: tuple(
                entry
                for entry, after in pairwise([*settings, (FOREVER, None)])
                if entry[0] < end and after[0] + validity(lever, entry[1]) > start
            )
            for lever, settings in self.of(plan).items()
        }


def complete_at(lever: Node, operator: WithSetting) -> Time:
    """The instant from which on nothing is valid behind a running lever that came before its last change.

    FOREVER where rows are counted, as it depends on later rows.
    """
    return operator.setting.complete_at(partial(validity, lever))


def validity(lever: Node, setting: Any) -> Time:
    """The most chronons for which an element is valid behind a lever with a setting."""
    fixed = lever_of(lever).with_bounds(None).with_setting(setting)
    return fixed.longest_validity([longest_validity(child) for child in lever.inputs])


def _finite(at: Time) -> int | None:
    return None if at == BEGINNING else int(at)
