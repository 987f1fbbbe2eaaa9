"""Windowed joins, written by hand.

All streams have equal windows, so the element that starts first also ends first; and later arrivals start
later. A programmer uses both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from midstream.benchmarks.item import Chunk, Emit, Tagged
from midstream.plans.values.streams import START, Batch, Element, Time


def join_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """Pairs of equal first columns, a batch of each side at a time.

    The left batch meets the right side as it was, the right batch the left side with the new batch. A batch
    is dropped as a whole when its last element has ended.
    """
    lefts: dict[Any, Batch] = {}
    rights: dict[Any, Batch] = {}
    ages: deque[tuple[Time, Batch, Batch]] = deque()
    for chunk in chunks:
        left, right = ([(start, start + window, row) for start, _, row in batch] for batch in chunk)
        out = [
            (start, end2, row + row2)
            for start, _, row in left
            if row[0] in rights
            for _, end2, row2 in rights[row[0]]
            if end2 > start
        ]
        _keep(left, lefts)
        out += [
            (start, end2, row2 + row) if start2 <= start else (start2, end, row2 + row)
            for start, end, row in right
            if row[0] in lefts
            for start2, end2, row2 in lefts[row[0]]
            if end2 > start and start2 < end
        ]
        _keep(right, rights)
        out.sort(key=START)
        emit(out)
        now = max(batch[-1][0] for batch in (left, right) if batch)
        ages.append((now + window, left, right))
        while ages[0][0] <= now:
            _, old_left, old_right = ages.popleft()
            _forget(old_left, lefts)
            _forget(old_right, rights)


def _keep(batch: Batch, table: dict[Any, Batch]) -> None:
    for element in batch:
        key = element[2][0]
        if key in table:
            table[key].append(element)
        else:
            table[key] = [element]


def _forget(batch: Batch, table: dict[Any, Batch]) -> None:
    for element in batch:
        key = element[2][0]
        bucket = table[key]
        if len(bucket) == 1:
            del table[key]
        else:
            del bucket[0]


def join_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `join_batches`, one element at a time."""
    lefts: dict[Any, list[Any]] = {}
    rights: dict[Any, list[Any]] = {}
    ages: deque[tuple[Time, dict[Any, list[Any]], Any]] = deque()
    for port, (start, _, row) in feed:
        while ages and ages[0][0] <= start:
            _, table, old = ages.popleft()
            bucket = table[old]
            if len(bucket) == 1:
                del table[old]
            else:
                del bucket[0]
        key, end = row[0], start + window
        if port:
            mine = rights
            if key in lefts:
                for end2, row2 in lefts[key]:
                    emit((start, end2, row2 + row))
        else:
            mine = lefts
            if key in rights:
                for end2, row2 in rights[key]:
                    emit((start, end2, row + row2))
        if key in mine:
            mine[key].append((end, row))
        else:
            mine[key] = [(end, row)]
        ages.append((end, mine, key))


KeyedRows = list[tuple[Time, tuple[Any, ...]]]
"""Ends and payloads of one key."""


def four_way_batches(chunks: Iterable[Chunk], window: int, emit: Emit) -> None:
    """Quadruples of equal first columns, without joining pairs first, from batches in order of time."""
    tables: list[dict[Any, KeyedRows]] = [{}, {}, {}, {}]
    others = [tuple(tables[:port] + tables[port + 1 :]) for port in range(4)]
    ages: deque[tuple[Time, dict[Any, KeyedRows], Any]] = deque()
    for chunk in chunks:
        arrived = [(start, port, row) for port, batch in enumerate(chunk) for start, _, row in batch]
        arrived.sort(key=START)
        out: Batch = []
        for start, port, row in arrived:
            key, end = row[0], start + window
            one, two, three = others[port]
            while ages and ages[0][0] <= start:
                _, table, old = ages.popleft()
                bucket = table[old]
                if len(bucket) == 1:
                    del table[old]
                else:
                    del bucket[0]
            if key in one and key in two and key in three:
                out += combinations(start, port, row, one[key], two[key], three[key])
            mine = tables[port]
            if key in mine:
                mine[key].append((end, row))
            else:
                mine[key] = [(end, row)]
            ages.append((end, mine, key))
        emit(out)


def four_way_elements(feed: Iterable[Tagged], window: int, emit: Emit) -> None:
    """As `four_way_batches`, one element at a time."""
    tables: list[dict[Any, KeyedRows]] = [{}, {}, {}, {}]
    others = [tuple(tables[:port] + tables[port + 1 :]) for port in range(4)]
    ages: deque[tuple[Time, dict[Any, KeyedRows], Any]] = deque()
    for port, (start, _, row) in feed:
        key, end = row[0], start + window
        one, two, three = others[port]
        while ages and ages[0][0] <= start:
            _, table, old = ages.popleft()
            bucket = table[old]
            if len(bucket) == 1:
                del table[old]
            else:
                del bucket[0]
        if key in one and key in two and key in three:
            for result in combinations(start, port, row, one[key], two[key], three[key]):
                emit(result)
        mine = tables[port]
        if key in mine:
            mine[key].append((end, row))
        else:
            mine[key] = [(end, row)]
        ages.append((end, mine, key))


def combinations(
    start: Time, port: int, row: tuple[Any, ...], first: KeyedRows, second: KeyedRows, third: KeyedRows
) -> list[Element]:
    """A new row combined with the rows of the other three streams, columns in order of the streams.

    >>> combinations(5, 1, ("b",), [(9, ("a",))], [(7, ("c",))], [(8, ("d",))])
    [(5, 7, ('a', 'b', 'c', 'd'))]
    """
    if port == 0:
        return [(start, min(i, j, k), row + x + y + z) for i, x in first for j, y in second for k, z in third]
    if port == 1:
        return [(start, min(i, j, k), x + row + y + z) for i, x in first for j, y in second for k, z in third]
    if port == 2:
        return [(start, min(i, j, k), x + y + row + z) for i, x in first for j, y in second for k, z in third]
    return [(start, min(i, j, k), x + y + z + row) for i, x in first for j, y in second for k, z in third]
