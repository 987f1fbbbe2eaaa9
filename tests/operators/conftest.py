"""A test that takes `case` runs once for each operator under test."""

from __future__ import annotations

import pytest
from operator_cases import CASES, Case


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `case` once for every case."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", CASES, ids=str)


@pytest.fixture
def cases() -> list[Case]:
    """All cases."""
    return CASES
