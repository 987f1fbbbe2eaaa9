"""Some runs of the state machine with an autopilot; `make fuzz AUTOPILOT=1` makes many."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from piloted import Piloted

from midstream.autopilot.records import Record

TestPiloted = Piloted.TestCase
TestPiloted.settings = settings(
    max_examples=settings.default.max_examples // 3,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_the_autopilot_migrates() -> None:
    """Else the law holds for nothing."""
    events: set[str] = set()

    class Heard(Piloted):
        kinds = ("joins",)  # which gain the most from another plan

        def _hear(self, record: Record) -> None:
            super()._hear(record)
            events.add(record.event)

    few = settings(TestPiloted.settings, max_examples=20, derandomize=True, database=None)
    run_state_machine_as_test(Heard, settings=few)
    assert events >= {"move", "done"}
