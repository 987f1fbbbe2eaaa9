"""Settings are plain data that can be written to a file and read back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.autopilot.settings import BALANCED, CAREFUL, EAGER, NAMED, Settings
from midstream.plans.values.errors import ArgumentError

POSITIVE = st.floats(0.01, 1e6)
SETTINGS = st.builds(
    Settings,
    horizon=POSITIVE,
    doubt=st.floats(0, 9),
    least_saving=st.floats(0, 1),
    guard=st.floats(0, 1),
    memory=st.none() | POSITIVE,
    looks=st.integers(1, 64),
    half_life=POSITIVE,
)


@given(settings=SETTINGS)
def test_what_is_written_is_read(settings: Settings) -> None:
    assert Settings.loads(settings.dumps()) == settings


def test_three_have_a_name() -> None:
    assert list(NAMED.values()) == [CAREFUL, BALANCED, EAGER]
    assert Settings() == BALANCED
    assert CAREFUL.doubt > BALANCED.doubt > EAGER.doubt
    assert CAREFUL.least_saving > BALANCED.least_saving > EAGER.least_saving


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cooldown": 3}, "found cooldown, expected some of horizon, doubt"),
        ({"version": 2}, "expected an object with"),
        ({"format": "midstream-chart"}, "expected an object with"),
        ({"doubt": "much"}, "doubt: found 'much', expected a number"),
        ({"doubt": True}, "doubt: found True"),
        ({"horizon": 0}, "horizon: found 0.0, expected a number greater than 0"),
        ({"guard": -0.1}, "guard: found -0.1"),
        ({"memory": -1}, "memory: found -1.0, expected None or"),
        ({"looks": 2.5}, "looks: found 2.5, expected a whole number"),
        ({"horizon": float("inf")}, "horizon: found inf"),
    ],
)
def test_anything_else_is_refused(change: dict[str, object], told: str) -> None:
    text = json.dumps({**json.loads(BALANCED.dumps()), **change})
    with pytest.raises(ArgumentError, match="settings: ") as raised:
        Settings.loads(text)
    assert told in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="settings: "):
        Settings.loads(text)
