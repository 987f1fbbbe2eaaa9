"""Every fault of a list is found, and nothing where there is none."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import Midstream
from migration_law import Scenario, check
from mutants import HUNTS, Hunt

from midstream.testing.mutants import MUTANTS

MOST = 200
"""Runs in which a fault must be found; with the seed of each it takes far fewer today."""


def runs_until_failure(hunt: Hunt, most: int, *, is_patched: bool) -> int | None:
    """In how many runs the fault was found; None if it was not."""
    if hunt.story is not None:
        with hunt.mutant.patched() if is_patched else nullcontext():
            try:
                hunt.story.check()
            except Exception:
                return 1
        return None
    begun = 0

    def run(scenario: Scenario) -> None:
        nonlocal begun
        begun += 1
        check(scenario)

    class Watched(Midstream):
        strategies = hunt.strategies
        kinds = hunt.kinds

        def __init__(self) -> None:
            nonlocal begun
            begun += 1
            super().__init__()

    chosen = settings(
        max_examples=most,
        stateful_step_count=25,
        database=None,
        derandomize=False,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    with hunt.mutant.patched() if is_patched else nullcontext():
        try:
            if hunt.scenarios is None:
                run_state_machine_as_test(seed(hunt.seed)(Watched), settings=chosen)
            else:
                chosen(seed(hunt.seed)(given(hunt.scenarios)(run)))()
        except Exception:
            return begun
    return None


@pytest.mark.slow
@pytest.mark.parametrize("hunt", HUNTS, ids=str)
def test_the_fault_is_found(hunt: Hunt) -> None:
    found = runs_until_failure(hunt, MOST, is_patched=True)
    assert found is not None, hunt.mutant.sentence
    assert runs_until_failure(hunt, found, is_patched=False) is None


def test_the_document_lists_them(root: Path) -> None:
    page = root / "docs" / "verification.md"
    if not page.exists():
        pytest.skip("the documents are not next to the tests")
    listed = re.findall(r"^\| `([\w-]+)` \| (.*?) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [(mutant.name, mutant.sentence) for mutant in MUTANTS.values()]
    assert [hunt.mutant for hunt in HUNTS] == [*MUTANTS.values()]
