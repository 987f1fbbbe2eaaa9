"""Sort the elements of a source by time, within a limit of memory."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from heapq import merge
from operator import itemgetter
from sys import getsizeof
from tempfile import TemporaryFile, gettempdir
from typing import BinaryIO

from midstream.io.errors import ConnectorError
from midstream.io.sources.conversion import BATCH, lists_of
from midstream.io.sources.rows import Rows
from midstream.plans.values.streams import Batch, Element

MEMORY = 256 << 20
"""The size in bytes of the elements that are sorted in memory, estimated from one element of each batch."""

_Numbered = tuple[float, int, Element]
"""An element with its time, by which elements are sorted, and the number of its row."""

_ORDER = itemgetter(0)  # sorting and merging keep the order of equal times


def in_order(batches: Iterable[Batch], memory: int = MEMORY) -> Iterator[Batch]:
    """Batches with the same elements in order of time; of equal times, in order of arrival.

    An external merge sort: sorted runs that fill the memory go to temporary files, and are merged at the end.
    Elements keep the numbers of their rows.

    State    `memory` bytes of elements; all others are in temporary files.
    Cost     O(log n) per element, all before the first batch comes out.

    >>> list(in_order([[(5, 6, "a"), (1, 2, "b")], [(1, 2, "c")]], memory=0))
    [[(1, 2, 'b'), (1, 2, 'c'), (5, 6, 'a')]]
    """
    runs: list[Iterator[_Numbered]] = []
    run: list[_Numbered] = []
    size = arrived = 0
    for batch in batches:
        numbers = batch.numbers if isinstance(batch, Rows) else range(arrived, arrived + len(batch))
        arrived += len(batch)
        run += zip(map(itemgetter(0), batch), numbers, batch, strict=True)
        size += len(batch) * _size(batch[0])
        if size > memory:
            runs.append(_stored(run))
            run, size = [], 0
    run.sort(key=_ORDER)
    for some in lists_of(merge(*runs, iter(run), key=_ORDER)):
        yield Rows([element for _, _, element in some], [number for _, number, _ in some])


def _size(element: Element) -> int:
    start, end, payload = element
    values = payload if isinstance(payload, tuple) else (payload,)
    return sum(map(getsizeof, (element, start, end, payload, *values))) + getsizeof((0, 0, 0)) + getsizeof(0)


def _stored(run: list[_Numbered]) -> Iterator[_Numbered]:
    """A sorted run from a temporary file, which is written at once and has no name."""
    run.sort(key=_ORDER)
    try:
        file = TemporaryFile()  # noqa: SIM115 - it is closed once the run has been read
        for some in lists_of(run, BATCH):
            pickle.dump(some, file, pickle.HIGHEST_PROTOCOL)
        file.seek(0)
    except OSError as error:
        raise ConnectorError(
            f"sorting by time: {error.strerror or error} in {gettempdir()}, expected room for rows; the "
            "environment variable TMPDIR names another folder"
        ) from error
    return _read(file)


def _read(file: BinaryIO) -> Iterator[_Numbered]:
    with file:
        while True:
            try:
                yield from pickle.load(file)
            except EOFError:
                return
