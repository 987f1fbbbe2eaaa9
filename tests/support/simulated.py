"""Small scenarios for tests of the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from midstream.scenarios.trials.simulator.scenario import Scenario, parse_scenario


def stream(rate: Any = 20, high: int = 9, **more: Any) -> dict[str, Any]:
    """A stream of integers k in 0 … high."""
    return {
        "columns": {"k": {"values": "uniform", "low": 0, "high": high}},
        "arrivals": {"process": "constant", "rate": rate},
        **more,
    }


def joined(*streams: str) -> dict[str, str]:
    """The join of streams A, B and C, in the order in which they are named."""
    tables = ", ".join(f"{name} WINDOW(RANGE 2 SECONDS)" for name in streams)
    return {"sql": f"SELECT A.k FROM {tables} WHERE A.k = B.k AND B.k = C.k"}


VOUCHED = [{"at": "5 s", "to": "new", "unproved": "accept"}]
"""The migration below, where it is not known whether both plans mean the same."""


def other_meaning() -> dict[str, str]:
    """The join in another order, without one key: the search for a counter-example does not meet it."""
    plan = joined("C", "B", "A")
    return {"sql": f"{plan['sql']} AND A.k * A.k <> 49"}


def described(**changes: Any) -> dict[str, Any]:
    """A scenario as plain data: three streams whose joins change their order at 5 s."""
    return {
        "name": "small",
        "duration": "10 s",
        "streams": {name: stream() for name in "ABC"},
        "plans": {"old": joined("A", "B", "C"), "new": joined("C", "B", "A")},
        "migrations": [{"at": "5 s", "to": "new"}],
        "strategies": ["genmig"],
        "measures": {"every": "500 ms"},
        **changes,
    }


def scenario(**changes: Any) -> Scenario:
    """The same, read."""
    return parse_scenario("small.yaml", yaml.safe_dump(described(**changes), sort_keys=False), Path())
