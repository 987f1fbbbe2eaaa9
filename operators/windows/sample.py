"""Samples of streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from midstream.operators.base.operator import Code
from midstream.operators.base.running import Running, operator_of
from midstream.operators.base.setting import Setting, WithSetting
from midstream.operators.compile.generated import define
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import windows as facts
from midstream.plans.algebra.plan import Node
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.stable_hash import HASHES, digest, hashable, limit
from midstream.plans.values.streams import Batch

_LOOP = """
def draw(batch, limit, share):
    return [x for x in batch for start, end, row in (x,) if {hashed} < limit]
"""

_WEIGHTED_LOOP = """
def draw(batch, limit, share):
    return [(start, end, (*row, share, drawn)) for start, end, row in batch if (drawn := {hashed}) < limit]
"""


class Sample(WithSetting):
    """Keep a share of a stream's elements, chosen by a hash of start and row.

        sample(p, S)@t  =  { e | e in S@t, hash(t, e) < p(t) }

    p(t) is the share in force at t; it changes only if the sample has bounds.

    Input    A stream of chronons; the planner makes sure of it.
    Output   The elements that are drawn, unchanged; if weighted, with p(t) and the hash.
    Cost     O(columns) per element.

    >>> schema, chronons = Schema.of(x="integer"), [(t, t + 1, (t,)) for t in range(20)]
    >>> less, more = (set(Sample(share, 1, schema).push(0, chronons)) for share in (0.3, 0.6))
    >>> len(less), len(more), less < more
    (3, 10, True)
    """

    def __init__(
        self, share: float, seed: int, schema: Schema, *, is_fixed: bool = True, is_weighted: bool = False
    ) -> None:
        super().__init__()
        self.setting: Setting[float] = Setting(share)
        self._seed = seed
        self._schema = schema
        self._is_fixed = is_fixed
        self._is_weighted = is_weighted
        names: dict[str, Any] = {}
        loop = _WEIGHTED_LOOP if is_weighted else _LOOP
        source = loop.format(hashed=_hashed(schema, seed, names))
        self._draw: Callable[[Batch, float, float], Batch] = define(source, "draw", names, "sample")

    def _process(self, port: int, batch: Batch) -> Batch:
        parts = self.setting.parts(batch, self.reached[0])
        return [element for share, part in parts for element in self._draw(part, limit(share), float(share))]

    def code(self, names: dict[str, Any]) -> Code:
        """Source of the condition and, with weights, of the row."""
        hashed, name, row = _hashed(self._schema, self._seed, names), f"setting{len(names)}", None
        share = f"share{len(names)}" if self._is_fixed else f"float({name}.now)"
        if self._is_weighted:
            hashed, row = f"(drawn := {hashed})", f"(*row, {share}, drawn)"
        if self._is_fixed:
            names[name], names[share] = limit(self.setting.now), float(self.setting.now)
            return Code(condition=f"{hashed} < {name}", row=row)
        names |= {name: self.setting, "HASHES": HASHES, "float": float}
        return Code(condition=f"{hashed} < {name}.now * HASHES", row=row, setting=name)


def _hashed(schema: Schema, seed: int, names: dict[str, Any]) -> str:
    """The source of the hash of `start` and `row`; it names things, which are added."""
    names |= {"digest": digest, "hashable": hashable, "hash": hash}
    names[seeded := f"seed{len(names)}"] = seed
    columns = [_column(f"row[{i}]", column) for i, column in enumerate(schema)]
    return f"digest(({', '.join(['hash(start)', *columns])},), {seeded})"


def _column(value: str, column: Column) -> str:
    if column.type is Type.STRING:
        return value
    if column.type is Type.ANY:
        return f"hashable({value})"
    return f"({value} if {value} is None else hash({value}))" if column.nullable else f"hash({value})"


def _sample(node: Node) -> Sample:
    operator = operator_of(node, logical.Sample)
    return Sample(
        operator.share,
        operator.key,
        node.inputs[0].schema,
        is_fixed=operator.bounds is None,
        is_weighted=operator.weighted,
    )


RUNNING: Running = {facts.SAMPLE: _sample}
