"""Random drawing of rows by a hash, so that every process draws the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from midstream.plans.expressions.expressions import Apply, Col, Expression
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.schema import Schema, Type

BITS = 64


@dataclass(frozen=True, slots=True)
class Drawn:
    """Decides by a hash whether a row is drawn: a share of all rows, different for each seed.

    Equal rows are drawn together. The choice does not depend on the interpreter's hash seed.

    >>> drawn = Drawn("left", 0.2)
    >>> sum(drawn(i, "x") for i in range(10_000)), drawn(1.0) == drawn(1)
    (1994, True)
    """

    seed: str
    share: float
    _bound: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ArgumentError(f"sample: found the share {self.share}, expected one above 0 and up to 1")
        object.__setattr__(self, "_bound", round(self.share * (1 << BITS)))

    def __call__(self, *values: Any) -> bool:
        # Equal numbers have one hash, whatever their type; hashes of numbers are not randomised.
        known = [hash(value) if isinstance(value, int | float) else value for value in values]
        text = f"{self.seed} {known!r}".encode(errors="surrogatepass")
        return int.from_bytes(blake2b(text, digest_size=BITS // 8).digest()) < self._bound


def drawn(schema: Schema, seed: str, share: float) -> Expression:
    """The condition that a row with these columns is drawn."""
    columns, name = tuple(map(Col, schema.names)), f"drawn {share:g}"
    return Apply(Drawn(seed, share), columns, Type.BOOLEAN, name=name, strict=False, is_total=True)
