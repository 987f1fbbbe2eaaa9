"""Random drawing of rows by a hash, so that every process draws the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from midstream.plans.expressions.expressions import Apply, Col, Expression
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.schema import Schema, Type
from midstream.plans.values.stable_hash import limit, seed_of, stable_hash


@dataclass(frozen=True, slots=True)
class Drawn:
    """Decides by a hash whether a row is drawn: a share of all rows, different for each seed.

    Equal rows are drawn together. The choice does not depend on the interpreter's hash seed.

    >>> drawn = Drawn("left", 0.2)
    >>> sum(drawn(i, "x") for i in range(10_000)), drawn(1.0) == drawn(1)
    (2005, True)
    """

    seed: str
    share: float
    _limit: float = field(init=False, repr=False, compare=False)
    _seed: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ArgumentError(f"sample: found the share {self.share}, expected one above 0 and up to 1")
        object.__setattr__(self, "_limit", limit(self.share))
        object.__setattr__(self, "_seed", seed_of(self.seed))

    def __call__(self, *values: Any) -> bool:
        return stable_hash(values, self._seed) < self._limit


def drawn(schema: Schema, seed: str, share: float) -> Expression:
    """The condition that a row with these columns is drawn."""
    columns, name = tuple(map(Col, schema.names)), f"drawn {share:g}"
    return Apply(Drawn(seed, share), columns, Type.BOOLEAN, name=name, strict=False, is_total=True)
