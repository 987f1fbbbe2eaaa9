"""An engine of its own flies by the autopilot: the same results as with one plan, at a lower cost."""

from __future__ import annotations

import importlib
from pathlib import Path
from random import Random

import pytest

from midstream.plans.values.snapshots import equivalent
from midstream.testing import is_ordered

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not next to the tests")


@pytest.mark.parametrize("seed", [7, 107])
def test_it_follows_the_flip_and_changes_no_result(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = importlib.import_module("embed_autopilot")
    stream = list(example.flip(Random(seed)))
    alone = {plan: example.run(stream, plan, decides=False) for plan in example.PLANS}
    for start in example.PLANS:
        results, pairs, moves = example.run(stream, start)
        assert is_ordered(results)
        assert results
        assert equivalent(results, alone[start][0])
        assert moves[-1].to == "a, b first"  # since the flip, x has many values
        assert pairs < 0.7 * min(cost for _, cost, _ in alone.values())


def test_it_takes_fewer_than_100_lines() -> None:
    lines = (EXAMPLES / "embed_autopilot.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 100


def test_nothing_of_our_engine_is_imported() -> None:
    text = (EXAMPLES / "embed_autopilot.py").read_text(encoding="utf-8")
    ours = {
        line.split()[1] for line in text.splitlines() if line.startswith(("from midstream", "import mid"))
    }
    assert ours == {"midstream", "midstream.autopilot", "midstream.boxes", "midstream.migration"}
    assert "ms.Engine" not in text
