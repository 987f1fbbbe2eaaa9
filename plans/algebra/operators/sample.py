"""Samples of streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from midstream.plans.algebra.operators.adjustable import Adjustable
from midstream.plans.algebra.operators.base import History, OverTime, PartOfInput, Schemas, Snapshot
from midstream.plans.algebra.operators.checks import unusual
from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Column, Schema, Type, unused
from midstream.plans.values.stable_hash import limit, seed_of, stable_hash
from midstream.plans.values.streams import Payload, Time


class Weights(NamedTuple):
    """The columns that a weighted sample adds to its rows."""

    share: str
    """The name of the share in force when the row came."""
    draw: str
    """The name of the row's hash: equal for rows that are drawn together."""


@dataclass(frozen=True, slots=True)
class Sample(Adjustable, PartOfInput, OverTime):
    """At an instant, the rows of a stream whose hash, together with the instant, is below a share of all.

    Equal rows of one instant are drawn together. A smaller share gives a part of a larger one, and everyone
    who draws draws the same. Samples of other streams, and with another `seed`, are independent.

    It stands directly above a stream of chronons: the hash is of the whole row, as it came. With `bounds`,
    the share can change at run time, from the smallest to the largest. A weighted sample adds two columns,
    from which sums over the stream can be estimated; what is known of the other columns stays known.
    """

    name = "sample"
    symbol = "ς"
    formulas = "sample"
    is_stateless = True
    cell = 1
    reach = 0
    sees_one_instant = True
    lever = "share"
    declaration = "sample(…, bounds=(least, greatest)), or SAMPLE(MIN … %, MAX … %) in SQL"

    stream: str
    """The stream below."""
    share: float
    seed: int = 0
    bounds: tuple[float, float] | None = None  # type: ignore[assignment]
    weighted: bool = False

    def __post_init__(self) -> None:
        for share in (self.share, *(self.bounds or ())):
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
                raise PlanError(f"sample: found a share of {share!r}, expected one above 0 and up to 1")
        if self.bounds is not None and not self.bounds[0] <= self.share <= self.bounds[1]:
            least, most = map(percent, self.bounds)
            raise PlanError(f"found a sample of {percent(self.share)}, expected one from {least} to {most}")
        if type(self.seed) is not int:
            raise PlanError(f"sample: found the seed {self.seed!r}, expected an integer")

    @property
    def forms(self) -> Sequence[Self]:
        """With and without weights it is one sample of the stream."""
        return [replace(self, weighted=weighted) for weighted in (self.weighted, not self.weighted)]

    def schema(self, inputs: Schemas) -> Schema:
        """The input's columns, with those of the weights behind."""
        if not self.weighted:
            return inputs[0]
        share, draw = self.weights(inputs[0])
        return inputs[0].concat(Schema((Column(share, Type.FLOAT), Column(draw, Type.INTEGER))))

    @staticmethod
    def weights(rows: Schema) -> Weights:
        """The columns that it adds to rows, if it is weighted."""
        share = unused("share", rows.names)
        return Weights(share, unused("draw", rows.names))

    def granule_above(self, below: int) -> int:
        """Rows come at instants of the stream."""
        return below

    def at_fraction(self, fraction: float, below: int = 1) -> float:
        """The share at a fraction of the bounds."""
        assert self.bounds is not None
        least, most = self.bounds
        return least + fraction * (most - least)

    def snapshot(self, history: History, instant: int) -> Snapshot:
        of_row = self.of_row()
        return Counter({made: n for e, n in history.at(instant).items() for made in of_row(instant, e)})

    @property
    def key(self) -> int:
        """The seed of its hash."""
        return seed_of(self.seed, self.stream)

    def of_row(self) -> Callable[[int, Payload], Sequence[Payload]]:
        """The function from a row of an instant to the row in the sample; to none if it is not drawn."""
        most, seed, share = limit(self.share), self.key, float(self.share)

        def of_row(instant: int, row: Payload) -> Sequence[Payload]:
            draw = stable_hash((instant, *row), seed)
            if draw >= most:
                return ()
            return [(*row, share, draw) if self.weighted else row]

        return of_row

    def remembers_until(self, end: Time) -> Time:
        return end

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """All: without one, it would draw other rows."""
        return [frozenset(inputs[0].names)]

    def to_json(self) -> dict[str, Any]:
        rest = {} if self.seed == 0 else {"seed": self.seed}
        weights = {"weighted": True} if self.weighted else {}
        bounds = unusual(bounds=self.bounds)
        return {"stream": self.stream, "share": self.share, **rest, **bounds, **weights}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        bounds = data.get("bounds")
        shares = None if bounds is None else (bounds[0], bounds[1])
        weighted = data.get("weighted", False)
        if type(weighted) is not bool:
            raise PlanError(f"sample: found weighted = {weighted!r}, expected true or false")
        return cls(str(data["stream"]), data["share"], data.get("seed", 0), shares, weighted)

    def __str__(self) -> str:
        seed = "" if self.seed == 0 else f" seed {self.seed}"
        between = "" if self.bounds is None else " (from {} to {})".format(*map(percent, self.bounds))
        weights = " with weights" if self.weighted else ""
        return f"sample {percent(self.share)}{seed}{between}{weights}"


def percent(share: float) -> str:
    """A share as text.

    >>> percent(0.125)
    '12.5 %'
    """
    return f"{100 * share:.12g} %"
