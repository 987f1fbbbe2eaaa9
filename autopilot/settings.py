"""The readiness of an autopilot to change plans: three named settings, one of them for all streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from midstream.plans.values.artefacts import ArtefactError, Header, artefact_text, parsed, read_artefact
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.finite import is_finite

LEAST_BUDGET = 1e-9
"""The smallest share of a query's time that deciding may be given."""

HEADER: Header = {"format": "midstream-autopilot", "version": 1}


@dataclass(frozen=True, slots=True)
class Settings:
    """The readiness to change plans; times are in windows, that is, multiples of the validity of an element.

    horizon        the time for which a situation is expected to last, before anything is known
    doubt          the number of standard deviations by which a saving may be less than it seems
    least_saving   the share of the running plan's cost over the horizon that must be left of a saving, less
    doubt and the cost of the move
    guard          the share by which the total cost may exceed that of the best plan if it had run all the
                   time; beyond it, only moves to that plan are made
    memory         the largest state of all plans together during a migration, in the advisor's unit of state;
                   None for no bound
    looks          the number of looks per window, at instants of application time
    half_life      the time after which an element counts half
    budget         the share of the query's processor time that deciding may take; None where deciding is
    taken to cost nothing

    >>> Settings.loads('{"format": "midstream-autopilot", "version": 1, "doubt": 2}').doubt
    2.0
    """

    horizon: float = 8.0
    doubt: float = 0.5
    least_saving: float = 0.05
    guard: float = 0.1
    memory: float | None = None
    looks: int = 8
    half_life: float = 2.0
    budget: float | None = 0.05

    def __post_init__(self) -> None:
        """Raises ArgumentError for values out of range."""
        for name in ("horizon", "half_life", "looks"):
            _require(name, getattr(self, name), "a number greater than 0", above=0)
        for name in ("doubt", "least_saving", "guard"):
            _require(name, getattr(self, name), "a number of 0 or more")
        if self.budget is not None:
            _require("budget", self.budget, "None or a number greater than 0", above=0)
            if self.budget < LEAST_BUDGET:
                raise ArgumentError(f"settings: budget: found {self.budget}, expected {LEAST_BUDGET} or more")
        if self.memory is not None:
            _require("memory", self.memory, "None or a number of 0 or more")
        if not isinstance(self.looks, int):
            raise ArgumentError(f"settings: looks: found {self.looks!r}, expected a whole number")

    @property
    def unbounded(self) -> Settings:
        """These settings without a budget, for runs that count results, or stand for dearer ones."""
        return replace(self, budget=None)

    def dumps(self) -> str:
        """JSON that `loads` reads."""
        return artefact_text(HEADER, self)

    @classmethod
    def loads(cls, text: str) -> Settings:
        """Settings from JSON; fields that it does not name are as in `BALANCED`.

        Raises   ArgumentError for anything else.
        """
        try:
            return read_artefact(parsed(text), HEADER, cls)
        except ArtefactError as error:
            raise ArgumentError(f"settings: {error}") from error


def _require(name: str, found: object, expected: str, above: float | None = None) -> None:
    is_number = isinstance(found, int | float) and not isinstance(found, bool) and is_finite(found)
    if not is_number or found < 0 or found == above:  # type: ignore[operator]
        raise ArgumentError(f"settings: {name}: found {found!r}, expected {expected}")


BALANCED = Settings()
"""The settings for all streams of which nothing special is known."""

CAREFUL = Settings(doubt=2.0, least_saving=0.2, guard=0.05)
"""Settings that move only where there is much to save, and little doubt."""

EAGER = Settings(horizon=16.0, doubt=0.0, least_saving=0.02, guard=0.2)
"""Settings that move for small savings, too."""

NAMED: Mapping[str, Settings] = {"careful": CAREFUL, "balanced": BALANCED, "eager": EAGER}
