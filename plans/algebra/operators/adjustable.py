"""Operators with a setting that can change while queries run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from midstream.plans.algebra.operators.base import Logical
from midstream.plans.algebra.operators.checks import Bounds


class Adjustable(Logical):
    """An operator with a lever: a setting that can change at run time, if it has bounds (thesis, 21.2).

    Without bounds the setting is fixed.
    """

    __slots__ = ()

    lever: ClassVar[str]
    """The name of the parameter that is the setting."""
    declaration: ClassVar[str]
    """The ways to declare bounds, for messages."""

    bounds: Bounds | None
    """The least and the greatest setting; None where it is fixed."""

    @property
    def setting(self) -> Any:
        """The setting from the last change on."""
        return getattr(self, self.lever)

    @property
    def forms(self) -> Sequence[Self]:
        """The operators that have one lever with this one, itself among them."""
        return (self,)

    def with_setting(self, setting: Any) -> Self:
        """The operator with another setting.

        Raises   PlanError for one that is invalid or out of bounds.
        """
        changed: Self = replace(self, **{self.lever: setting})  # type: ignore[type-var]
        return changed

    def with_bounds(self, bounds: tuple[float, float] | None) -> Self:
        """The operator with other bounds, between which its setting must be."""
        changed: Self = replace(self, bounds=bounds)  # type: ignore[type-var]
        return changed

    def at_fraction(self, fraction: float, below: int = 1) -> Any:
        """The setting at a fraction of the bounds: 0 is the cheapest, 1 the best (thesis, 23.3.2).

        It is a multiple of `below`, the granule of the input, if one is within the bounds.
        """
        assert self.bounds is not None
        least, most = self.bounds
        wished = least + fraction * (most - least)
        return min(max(round(wished / below), -(-least // below)), most // below) * below or below
