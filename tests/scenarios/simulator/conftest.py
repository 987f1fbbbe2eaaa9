"""Fixtures of the simulator's tests."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(autouse=True, scope="session")
def is_quick_to_collect() -> None:
    """Spare the garbage collector, which every run calls, what other tests have left."""
    gc.collect()
    gc.freeze()
