"""Some runs of the state machine; `make fuzz` makes many."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from machine import Midstream

TestMidstream = Midstream.TestCase
TestMidstream.settings = settings(
    stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
