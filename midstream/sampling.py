"""A sampler that runs beside a query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from midstream.engine import Engine
from midstream.optimizer import Statistics
from midstream.optimizer.sampling.intervals import CONFIDENCE, Interval
from midstream.optimizer.sampling.sampler import SHARE, Sampler
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.arguments import require


class Sampling:
    """Selectivities of a running query's conditions, from its sampler plan, which runs beside it."""

    def __init__(self, engine: Engine, query: str | None, sampler: Sampler, name: str) -> None:
        self._engine, self._query, self._sampler, self._name = engine, query, sampler, name

    def selectivities(self, confidence: float = CONFIDENCE) -> Mapping[Expression, Interval]:
        """The selectivities so far, by condition, with intervals."""
        return self._sampler.selectivities(confidence)

    def statistics(self) -> Statistics:
        """The engine's statistics of the query's inputs, with the sampled selectivities."""
        return self._sampler.statistics(self._engine.statistics(self._query))

    def forget(self, chronons: int) -> None:
        """Drop samples from before the last `chronons`."""
        self._sampler.forget(self._engine.progress() - chronons)

    def stop(self) -> None:
        """Stop sampling; the selectivities so far stay."""
        self._engine.remove(self._name)


def sample(
    engine: Engine, query: str | None = None, *, share: float = SHARE, seed: int = 0, name: str = "sampler"
) -> Sampling:
    """Start to sample the inputs of a query's joins, by default of the first query.

    >>> import midstream as ms
    >>> bids = ms.stream("bids", id="integer", price="float").window(60)
    >>> asks = ms.stream("asks", id="integer", limit="float").window(60)
    >>> engine = ms.Engine(bids.join(asks.rename({"id": "ask"}), on=ms.col("price") >= ms.col("limit")))
    >>> sampling = ms.sample(engine, share=0.5)
    >>> for time in range(300):
    ...     engine.push("bids", [(time, time + 1, (time, float(time * 7 % 10)))])
    ...     engine.push("asks", [(time, time + 1, (time, float(time * 3 % 10)))])
    >>> for condition, interval in sampling.selectivities().items():
    ...     print(condition, interval)
    price >= limit 0.596 (0.531 to 0.649)
    """
    require("sample", engine, Engine, "an engine")
    require("sample: share", share, (int, float), "a share above 0 and up to 1")
    require("sample: seed", seed, int, "a number")
    sampler = Sampler(engine.query(query).plan, share, seed)
    engine.add(sampler.plan, None, name)
    for output in sampler.plan.outputs:
        engine.subscribe(partial(sampler.take, output), output, name)
    return Sampling(engine, query, sampler, name)
