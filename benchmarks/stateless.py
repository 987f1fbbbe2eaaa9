"""Filter and map, written by hand."""

from __future__ import annotations

from collections.abc import Iterable

from midstream.benchmarks.item import Chunk, Emit, Tagged


def filter_map_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """Keep even values and double them."""
    for (batch,) in chunks:
        emit([(start, end, (key, value * 2)) for start, end, (key, value) in batch if value % 2 == 0])


def filter_map_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `filter_map_batches`, one element at a time."""
    for _, (start, end, (key, value)) in feed:
        if value % 2 == 0:
            emit((start, end, (key, value * 2)))
