"""The policies of a scenario, with their options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any

from midstream.autopilot.costs.policies import Policy
from midstream.autopilot.settings import BALANCED, NAMED, Settings
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.schema import suggest
from midstream.scenarios.trials.policies.case import Case
from midstream.scenarios.trials.policies.items import ITEMS
from midstream.scenarios.trials.policies.policy import How
from midstream.scenarios.trials.simulator.scenario_spec import PolicySpec

CLAIRVOYANT = "clairvoyant"
LAST_BEST = "repeat last best"
"""This policy needs no prices, so it works for all plans."""
ENGINE_PILOT = "engine autopilot"
"""By this policy the engine decides itself, so it works for all plans."""

FOR_ALL_PLANS = LAST_BEST, ENGINE_PILOT

OWN_PARAMETERS = 3
"""The case; the first order, and the strategy, which the scenario names by keys of their own."""


def known_policies() -> tuple[str, ...]:
    """The names that a scenario may have."""
    return (CLAIRVOYANT, ENGINE_PILOT, *ITEMS)


@dataclass(frozen=True)
class ScenarioPolicy:
    """A policy with its options.

    name        the name of its runs
    kind        the policy's own name
    strategies  the strategies by which it may migrate
    start       the plan that runs first; None for the one from which it costs most
    """

    name: str
    kind: str
    strategies: Sequence[How]
    start: str | None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: PolicySpec) -> ScenarioPolicy:
        """The policy that a scenario describes.

        Raises   ValueError, saying what was found and expected, for settings that the policy does not have.
        """
        strategies: Sequence[How] = ("genmig",) if spec.strategy == "genmig" else ("genmig", "moving-states")
        known = _parameters(spec.name)
        settings = _of_autopilot(spec.settings) if known == [AUTOPILOT] else _by_name(spec.settings, known)
        return cls(spec.called or spec.name, spec.name, strategies, spec.start, settings)

    @property
    def how(self) -> How:
        """The strategy of a policy that knows only one; a policy that compares also uses a cheaper GenMig."""
        return self.strategies[-1]

    def policy(self, case: Case, start: int) -> Policy:
        """The policy for one run that begins with an order."""
        return ITEMS[self.kind](case, start, self.how, **self.settings)


def _parameters(name: str) -> list[str]:
    if name == ENGINE_PILOT:
        return [AUTOPILOT]
    return [] if name == CLAIRVOYANT else [*signature(ITEMS[name]).parameters][OWN_PARAMETERS:]


AUTOPILOT = "settings"
"""The only parameter of policies that have the settings of an autopilot."""


def _of_autopilot(given: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Settings by the name of a whole set, or the balanced settings with changes."""
    if isinstance(given, str):
        if given not in NAMED:
            raise ValueError(f"found {given}, expected one of {', '.join(NAMED)}{suggest(given, NAMED)}")
        return {AUTOPILOT: NAMED[given]}
    _by_name(given, [one.name for one in fields(Settings)])
    try:
        return {AUTOPILOT: replace(BALANCED, **given)}
    except ArgumentError as error:
        raise ValueError(str(error)) from error


def _by_name(given: Mapping[str, Any] | str, known: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(given, str):
        raise ValueError(f"found {given}, expected settings by name")
    for name in given:
        if name not in known:
            others = f"one of {', '.join(known)}{suggest(name, known)}" if known else "none"
            raise ValueError(f"found setting {name}, expected {others}")
    return given
