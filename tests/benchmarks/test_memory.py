"""The long run tells whether memory stays flat."""

from __future__ import annotations

import mmap

import pytest

from midstream.benchmarks import memory
from midstream.benchmarks.memory import (
    SHORTEST,
    WINDOW,
    Halves,
    MemoryRun,
    MemorySample,
    watch,
    watched_plan,
)
from midstream.io.process_memory import resident_bytes
from midstream.plans.algebra.specification import specified
from midstream.plans.values.snapshots import compare, normal_form


@pytest.fixture(scope="module")
def run() -> MemoryRun:
    return watch(SHORTEST, seed=1)


def test_state_fills_the_windows_and_stays(run: MemoryRun) -> None:
    assert run.elements == SHORTEST
    assert run.results > 0
    assert run.state.is_flat
    assert run.state.second > WINDOW
    assert [sample.elements for sample in run.samples] == sorted(sample.elements for sample in run.samples)
    assert run.samples[-1].elements == SHORTEST


def test_the_same_seed_gives_the_same(run: MemoryRun) -> None:
    again, other = watch(SHORTEST, seed=1), watch(SHORTEST, seed=2)
    assert (again.results, [s.state for s in again.samples]) == (run.results, [s.state for s in run.samples])
    assert other.results != run.results


def test_the_plan_means_what_is_specified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "WINDOW", 5)
    streams = {
        "l": [(t, t + 1, (t % 3, 97 + t)) for t in range(12)],
        "r": [(t, t + 1, (t % 2, t)) for t in range(12)],
    }
    plan = watched_plan()
    results = memory.Engine(plan, (found := []).extend)
    for name, stream in streams.items():
        results.push(name, stream)
    results.close()
    assert found
    assert compare(specified(plan, streams), normal_form(found))


def test_the_plan_has_the_operators_that_are_named() -> None:
    assert {node.operator.name for node in watched_plan().nodes} >= {
        "filter",
        "join",
        "distinct",
        "aggregate",
    }


def test_what_grows_is_called_growing() -> None:
    def samples(*values: int, resident: bool = True) -> tuple[MemorySample, ...]:
        return tuple(
            MemorySample(i, 10 * value if resident else None, value) for i, value in enumerate(values)
        )

    flat = MemoryRun(4, 0, 1, samples(1, 100, 90, 100))
    assert (flat.is_flat, flat.state, flat.memory) == (True, Halves(100, 100), Halves(1000, 1000))
    growing = MemoryRun(4, 0, 1, samples(1, 100, 100, 106))
    assert not growing.is_flat
    assert not growing.state.is_flat
    assert not MemoryRun(4, 0, 1, samples(1, 100, 100, 106, resident=False)).is_flat
    unknown = MemoryRun(4, 0, 1, samples(1, 100, 100, 100, resident=False))
    assert unknown.is_flat
    assert unknown.memory is None


def test_memory_is_read_in_bytes() -> None:
    before = resident_bytes()
    if before is None:
        pytest.skip("this system does not tell")
    # Pages of its own: a bytearray may be given what the process has had before.
    ballast = mmap.mmap(-1, 64 * 2**20)
    for page in range(0, len(ballast), mmap.PAGESIZE):
        ballast[page] = 1
    after = resident_bytes()
    assert after is not None
    assert 32 * 2**20 < after - before < 128 * 2**20 + len(ballast)
