"""Check of the batches that a table receives."""

from __future__ import annotations

from operator import itemgetter, lt

from midstream.plans.values.errors import SchemaError, StreamOrderError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch, Time


def check_batch(batch: Batch, schema: Schema, reached: Time, name: str) -> None:
    """Check the order and the payloads of a batch.

    Cost     O(batch × columns), in C loops.
    Raises   StreamOrderError where the batch goes back in time, SchemaError where a payload does not fit.
    """
    starts = list(map(itemgetter(0), batch))
    if starts[0] < reached or any(map(lt, starts[1:], starts)):
        raise _out_of_order(batch, reached, name)
    try:
        schema.check(list(map(itemgetter(2), batch)))
    except SchemaError as error:
        raise SchemaError(f"{name}: {error}") from error


def _out_of_order(batch: Batch, reached: Time, name: str) -> StreamOrderError:
    before = [reached, *map(itemgetter(0), batch)]
    element, progress = next((e, time) for e, time in zip(batch, before, strict=False) if e[0] < time)
    return StreamOrderError(
        f"{name}: element {element!r} starts at {element[0]} after progress {progress}",
        element=element,
        progress=progress,
    )
