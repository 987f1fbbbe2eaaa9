"""One hash of values for all samples: the same in every process, on every machine, for equal values."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import msgspec
from xxhash import xxh3_64_intdigest

from midstream.plans.values.errors import ArgumentError

HASHES = 1 << 64
"""The number of hashes."""

_encode = msgspec.msgpack.Encoder().encode


def stable_hash(values: Iterable[Any], seed: int = 0) -> int:
    """The hash of some values, from 0 up to, not including, HASHES.

    Equal values have one hash, whatever their type: 5, 5.0 and Decimal(5) do, and True and 1. With another
    seed, hashes are independent.

    Values   Numbers, texts, bytes, None, and tuples of these.
    Cost     O(values)
    Raises   ArgumentError for another value.

    >>> stable_hash((5, "a")) == stable_hash((5.0, "a")) != stable_hash((5, "b"))
    True
    """
    return digest([hashable(value) for value in values], seed)


def digest(hashables: Iterable[Any], seed: int) -> int:
    """The hash of values that `hashable` has made, or that need not be changed: texts and hashes."""
    try:
        return xxh3_64_intdigest(_encode(hashables), seed)
    except UnicodeEncodeError:
        return xxh3_64_intdigest(_encode(_in_bytes(hashables)), seed)


def hashable(value: Any) -> Any:
    """A value for `digest`: of numbers their hash in Python, which equal ones share, in every process."""
    if isinstance(value, Number):
        return hash(value)
    if value is None or isinstance(value, str | bytes):
        return value
    if isinstance(value, tuple):
        return [hashable(part) for part in value]
    raise ArgumentError(
        f"found {value!r} in a row to be sampled, expected numbers, texts, bytes, None, or tuples of these"
    )


def seed_of(*parts: Any) -> int:
    """A seed for samples that belong to some names and numbers.

    >>> seed_of("bids", 1) != seed_of("bids", 2)
    True
    """
    return stable_hash(parts)


def limit(share: float) -> float:
    """The number below which a share of all hashes lies."""
    return share * HASHES


def _in_bytes(value: Any) -> Any:
    """Texts as bytes: some are no Unicode, as a lone surrogate."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    return [_in_bytes(part) for part in value] if isinstance(value, list | tuple) else value
