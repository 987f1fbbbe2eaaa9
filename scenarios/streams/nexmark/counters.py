"""Random numbers that depend on a name and a number, and on nothing that was drawn before."""

from __future__ import annotations

from hashlib import sha256

import numpy as np


def drawer(seed: int, name: str, purpose: str, cell: int = 0) -> np.random.Generator:
    """The random numbers of a cell: its own ones for each seed, name and purpose.

    Philox makes random numbers of a key and a counter; the cell is the counter's highest word, so that cells
    have 2**192 numbers each before one runs into the next.

    >>> one, two = (drawer(1, "bids", "arrivals", 7).integers(100, size=3) for _ in range(2))
    >>> bool((one == two).all())
    True
    """
    key = np.frombuffer(sha256(f"{seed}/{name}/{purpose}".encode()).digest()[:16], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=np.array([0, 0, 0, cell], np.uint64)))
