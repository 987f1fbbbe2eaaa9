"""The queries of the Stream Query Repository as scripts: q1.sql to q11.sql, in its numbering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from midstream.engine import Engine
from midstream.plans.sql.catalog import Catalog, Query
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Element
from midstream.plans.values.units import MILLISECONDS, TimeUnit
from midstream.scenarios.streams.nexmark.streams import batches, dol_to_euro, generated, lasting
from midstream.scenarios.streams.nexmark.workload import (
    AuctionEvent,
    AuctionWorkload,
)

SCRIPTS: Mapping[int, Path] = {number: Path(__file__).with_name(f"q{number}.sql") for number in range(1, 12)}
"""The files by number."""

SLOW_AUCTIONS = AuctionWorkload(
    seed=2,
    step=(60, 5_000),
    initial_persons=6,
    initial_auctions=6,
    person_probability=0.3,
    bids_per_round=(0, 8),
    categories=12,
    raise_by=(1, 3),
)
"""A workload of few events over many days, so that windows of hours and of days are not empty."""


def auction_catalog(unit: TimeUnit | None = MILLISECONDS) -> Catalog:
    """A catalog that knows DolToEuro, the function of the first query.

    >>> (query,) = auction_catalog().execute(SCRIPTS[1].read_text(encoding="utf-8"))
    >>> query.plan.schema.names
    ('itemID', 'bid_price', 'bidderID')
    """
    catalog = Catalog(unit)
    catalog.add_function("DolToEuro", dol_to_euro, Type.FLOAT, total=True)
    return catalog


def run_script(
    script: str,
    events: Sequence[AuctionEvent],
    sink: Callable[[list[Element]], object] = lambda results: None,
    batch_size: int = 1000,
) -> tuple[Query, Engine]:
    """Run a script over generated events; returns its only query, and the engine, which is still open."""
    catalog = auction_catalog()
    (query,) = catalog.execute(script)
    relations = {
        name: lasting(stream, schema, events)
        for name, (stream, schema) in generated(catalog.relations).items()
    }
    engine = Engine(query.plan, sink, relations=relations)
    streams = {name: each for name, each in generated(catalog.streams).items() if name in engine.streams}
    for name, batch in batches(streams, events, batch_size):
        engine.push(name, batch)
    return query, engine
