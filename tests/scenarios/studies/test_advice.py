"""One recommendation of studies: by processor time, with what deciding and migrations take."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.scenarios.stages.base.advice import MIGRATION, WORTH, Advice, Alternative, advice_from

GIVEN = Alternative("a", 100e3, 50.0, is_given=True)
OTHER = Alternative("b", 80e3, 70.0)
PILOT = Alternative("autopilot", 70e3, 20.0, moves=1)
SETTINGS = "with the settings in autopilot.json"


def test_an_order_is_advised_by_time_and_results_that_differ_are_told() -> None:
    assert Advice((GIVEN, OTHER)).lines(SETTINGS) == [
        "Run b, and do not change it while it runs: it takes 80 ms of processor time, 20.0% less than the "
        "order as written, and 70 intermediate results, 40.0% more.",
        "Intermediate results alone would choose otherwise: a has 28.6% fewer than b; processor time "
        "decides, as users pay that.",
    ]


def test_deciding_and_migrations_are_paid_for() -> None:
    advice = Advice((GIVEN, OTHER, PILOT))
    assert advice.cost(PILOT) == pytest.approx(1.05 * 70e3 + MIGRATION)
    assert advice.chosen == OTHER  # without them, the autopilot would take less
    told = advice.lines(SETTINGS)
    assert told[1] == (
        "To change it would not pay: autopilot takes up to 83.5 ms of processor time, 1 migration and 5% for "
        "deciding included, 4.4% more than b, and 20 intermediate results, 71.4% fewer."
    )
    assert not any("Let the autopilot decide" in line for line in told)


def test_the_autopilot_is_advised_where_it_pays() -> None:
    advice = Advice((GIVEN, OTHER, replace(PILOT, cost=40e3, moves=2)))
    assert advice.lines(SETTINGS) == [
        "Let the autopilot decide, with the settings in autopilot.json: autopilot takes up to 62 ms of "
        "processor time, 2 migrations and 5% for deciding included, 22.5% less than b, the best order that "
        "stays, and 20 intermediate results, 71.4% fewer."
    ]
    assert not any("do not change it" in line for line in advice.lines(SETTINGS))


def test_the_order_as_written_stays_unless_another_one_saves_enough() -> None:
    advice = Advice((GIVEN, replace(OTHER, cost=100e3 * (1 - WORTH / 2))))
    assert advice.chosen == GIVEN
    assert advice.rival.name == "b"
    assert advice.lines(SETTINGS) == [
        "Keep the order as written, a, and do not change it while it runs: no other order takes clearly less "
        "than its 100 ms of processor time, and 50 intermediate results."
    ]


def test_where_nothing_costs_anything_nothing_is_advised() -> None:
    assert Advice((replace(GIVEN, cost=0.0, results=0.0), replace(OTHER, cost=0.0))).lines(SETTINGS) == []


COSTS = st.floats(1.0, 1e9)


@given(COSTS, st.lists(COSTS, max_size=3), st.lists(st.tuples(COSTS, st.integers(0, 50)), max_size=3))
def test_no_page_contradicts_itself(
    given: float, orders: list[float], pilots: list[tuple[float, int]]
) -> None:
    ways = [
        Alternative("given", given, is_given=True),
        *(Alternative(f"order {i}", cost) for i, cost in enumerate(orders)),
        *(Alternative(f"pilot {i}", cost, moves=moves) for i, (cost, moves) in enumerate(pilots)),
    ]
    advice = Advice(tuple(ways))
    least = min(map(advice.cost, ways))
    # A saving below WORTH is left twice at most: for the order, and for changing it.
    assert advice.cost(advice.chosen) * (1 - WORTH) ** 2 <= least * (1 + 1e-9)
    first, *rest = advice.lines(SETTINGS)
    assert first.startswith("Let the autopilot") == advice.chosen.changes == ("do not change" not in first)
    assert not any("Let the autopilot" in line for line in rest)
    assert any("would not pay" in line for line in rest) == bool(pilots and not advice.chosen.changes)
    again = advice_from(json.loads(json.dumps(advice.as_dict())))
    assert again == advice
