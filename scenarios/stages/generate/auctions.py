"""The generated auctions as tables of Arrow, for files that executors write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from midstream.plans.values.schema import Schema
from midstream.scenarios.spark.arrow_schemas import ARROW_TYPES
from midstream.scenarios.stages.generate.tables import sorted_table
from midstream.scenarios.streams.nexmark.generator import BLOCK, AuctionBlocks
from midstream.scenarios.streams.nexmark.workload import (
    SCHEMAS,
    AuctionWorkload,
)

TOGETHER = 16
"""The number of blocks made at once: far more than the blocks that must be made again for them."""


def _rates(workload: AuctionWorkload) -> dict[str, float]:
    """The average number of elements of each stream in a round."""
    auctions, bids = sum(workload.auctions_per_round) / 2, sum(workload.bids_per_round) / 2
    persons = workload.person_probability
    return {"person": persons, "auction": auctions, "bid": bids, "closed_auction": auctions}


@dataclass(frozen=True)
class AuctionCells:
    """A workload of auctions in so many blocks of rounds, which are the cells."""

    workload: AuctionWorkload
    cells: int

    @classmethod
    def of(cls, workload: AuctionWorkload, events: int) -> AuctionCells:
        """Cells for at least so many events, on average."""
        rounds = events / sum(_rates(workload).values())
        return cls(workload, max(1, -(-int(rounds) // BLOCK)))

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The columns of the four streams."""
        return SCHEMAS

    @property
    def expected(self) -> Mapping[str, float]:
        """The average number of elements of each stream, about."""
        rounds = self.cells * BLOCK
        return {name: rounds * rate for name, rate in _rates(self.workload).items()}

    def tables(self, first: int, end: int) -> Iterator[tuple[str, pa.Table]]:
        """The elements of some cells by stream, in canonical order: columns start and payload."""
        blocks = AuctionBlocks(self.workload)
        for block in range(first, end, TOGETHER):
            for made in blocks.columns(block, min(block + TOGETHER, end)):
                types = {column.name: ARROW_TYPES[column.type] for column in SCHEMAS[made.stream]}
                payload = {name: pa.array(column, types[name]) for name, column in made.payload.items()}
                yield made.stream, sorted_table(made.time, payload)
