"""Some runs of the state machine with an autopilot; `make fuzz AUTOPILOT=1` makes many."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from piloted import Piloted

TestPiloted = Piloted.TestCase
TestPiloted.settings = settings(
    max_examples=max(10, settings.default.max_examples // 4),
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
