"""Facts about the columns of a projection and of a union."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from midstream.optimizer.cost.column_facts import Facts, in_sample, input_facts
from midstream.optimizer.statistics import Distribution, Sample
from midstream.plans.expressions.expressions import Col, Expression, compile_rows
from midstream.plans.values.schema import Schema


def projected(columns: Sequence[tuple[str, Expression]], schema: Schema, facts: Facts) -> Facts:
    """Facts about computed columns if one sample has all inputs, else about columns that stay unchanged."""
    mapped = _mapped([expression for _, expression in columns], schema, facts)
    if mapped is not None:
        return input_facts(schema, mapped, {})
    names = [(name, e.name) for name, e in columns if isinstance(e, Col) and e.name in facts]
    return {
        name: replace(facts[old], equals=frozenset(n for n, other in names if other in facts[old].equals))
        for name, old in names
    }


def united(schema: Schema, inputs: Iterable[tuple[float, Facts]]) -> Facts:
    """Facts about a union of inputs, each with its rate.

    If each input has a sample, the samples are mixed in proportion to the rates; else the distributions of
    the columns are.
    """
    inputs = [(rate, facts) for rate, facts in inputs if rate]
    total = math.fsum(rate for rate, _ in inputs)
    if not inputs or math.isinf(total):
        return {}
    columns = [Col(name) for name in schema.names]
    samples = [
        (rate, sample) for rate, facts in inputs if (sample := _mapped(columns, schema, facts)) is not None
    ]
    if len(samples) == len(inputs):
        return input_facts(schema, mixed(schema, samples), {})
    shares = [(rate / total, facts) for rate, facts in inputs]
    known = [name for name in schema.names if all(name in facts for _, facts in shares)]
    return input_facts(schema, None, {name: _mixture(name, shares) for name in known})


def mixed(schema: Schema, samples: Sequence[tuple[float, Sample]]) -> Sample:
    """Rows of all samples, as many of each as correspond to its weight."""
    densest = max(weight / len(sample.rows) for weight, sample in samples)
    return Sample(
        schema, [row for weight, one in samples for row in spread(one.rows, math.ceil(weight / densest))]
    )


def spread(rows: Sequence[Any], count: int) -> list[Any]:
    """`count` of some rows, at equal distances; all rows if there are no more than that."""
    return [rows[i * len(rows) // count] for i in range(count)] if count < len(rows) else list(rows)


def _mixture(name: str, shares: Sequence[tuple[float, Facts]]) -> Distribution:
    mixture: dict[Any, float] = {}
    for share, facts in shares:
        for value, p in facts[name].distribution.items():
            mixture[value] = mixture.get(value, 0.0) + share * p
    return mixture


def _mapped(expressions: Sequence[Expression], schema: Schema, facts: Facts) -> Sample | None:
    """The rows that expressions compute from a sample; None unless one unchanged sample has all inputs."""
    read = [facts.get(name) for e in expressions for name in e.columns()]
    samples = {
        id(known.sample): known.sample for known in read if known is not None and known.override is None
    }
    sample = next(iter(samples.values()), None)
    if (
        sample is None
        or len(samples) > 1
        or any(known is None or known.override is not None for known in read)
    ):
        return None
    compute = compile_rows([in_sample(e, facts) for e in expressions], sample.schema)
    try:
        return Sample(schema, [compute(row) for row in sample.rows])
    except Exception:
        # A callable may fail on rows that it never meets in the plan, because they find no partner.
        return None
