"""Measurements are repeated in turn, and a contender that gives something else is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from comparing import compared

from midstream.benchmarks import measuring
from midstream.benchmarks.contenders import Contender
from midstream.benchmarks.item import Item, Workload, workload
from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.measuring import Contest, ItemResult, Measured, Spread, runs
from midstream.plans.values.streams import Element

JOIN = ITEMS[0]


def small(item: Item = JOIN) -> Workload:
    return workload(item, elements=400, seed=1, window=20)


def test_a_warm_up_is_short_and_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[tuple[str, int, int]] = []

    def watched(work: Workload, sizes: object, peers: object) -> list[Contender]:
        def contender(name: str, size: int) -> Contender:
            def run() -> list[Element]:
                log.append((name, size, work.elements))
                return measuring.reference(work)

            return Contender(name, size, run)

        return [contender(name, size) for size in (1, 64) for name in ("by hand", "midstream")]

    monkeypatch.setattr(measuring, "contenders", watched)
    contest = Contest(small(), 1, (1, 64), ())
    contest.warm_up(1)
    contest.repeat(2)
    contest.repeat(2)
    assert log == [("midstream", 1, 20), ("by hand", 64, 400), ("by hand", 64, 400)]
    assert [len(one.seconds) for one in contest.result().measured] == [0, 0, 2, 0]


def test_runs_count_the_peers() -> None:
    assert runs((1, 64, 1024), ("bytewax", "streamz"), 2) == 3 * (3 * 3 + 1)
    assert runs((64,), ("bytewax", "streamz"), 2) == 3 * 3


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_right_contender_passes(item: Item) -> None:
    result = compared(small(item), repetitions=2)
    assert (result.item, result.window) == (item, 20 if item.window else None)
    assert [one.problem for one in result.measured] == [None] * 4
    assert result.is_equal


def test_a_wrong_contender_is_found_out() -> None:
    wrong = replace(JOIN, plan=lambda window: JOIN.plan(window + 1))
    result = compared(small(wrong), repetitions=1)
    assert not result.is_equal
    problems = {(one.name, one.batch_size): one.problem for one in result.measured}
    assert problems["by hand", 1] is None
    assert problems["by hand", 64] is None
    for size in (1, 64):
        problem = problems["midstream", size]
        assert problem is not None
        assert "not equivalent" in problem
        assert "0 times on the left, 1 on the right" in problem


EXPECTED = [(1, 5, ("a",)), (2, 6, ("b",))]


def test_the_same_meaning_in_other_elements_passes() -> None:
    one = Measured("x", 1)
    one.check([(1, 2, ("a",)), (2, 5, ("a",)), (2, 6, ("b",))], lambda: EXPECTED, keeps_order=True)
    assert one.problem is None
    assert one.results == 3


def test_results_out_of_order_are_refused_where_order_is_promised() -> None:
    for keeps_order, problem in ((True, "the results are not in order of time"), (False, None)):
        one = Measured("x", 1)
        one.check(EXPECTED[::-1], lambda: EXPECTED, keeps_order)
        assert one.problem == problem
        assert not one.is_ordered


def test_a_repetition_that_differs_is_found_out() -> None:
    one = Measured("x", 1)
    one.check(EXPECTED, lambda: EXPECTED, keeps_order=True)
    one.check(list(EXPECTED), lambda: EXPECTED, keeps_order=True)
    assert one.problem is None
    one.check([(1, 5, ("a",)), (2, 7, ("b",))], lambda: EXPECTED, keeps_order=True)
    assert one.problem is not None
    assert "repetition" in one.problem


def test_ratios_are_taken_repetition_by_repetition() -> None:
    by_hand = Measured("by hand", 64, [1.0, 10.0, 3.0])
    ours = Measured("midstream", 64, [2.0, 40.0, 3.0])
    other = Measured("by hand", 1, [9.0, 9.0, 9.0])
    result = ItemResult(JOIN, 20, 400, (other, by_hand, ours))
    assert result.of_by_hand(ours) == Spread(0.5, 0.25, 1.0)
    assert result.of_by_hand(by_hand) == Spread(1.0, 1.0, 1.0)
    assert result.rate(by_hand) == Spread(400 / 3, 40.0, 400.0)


def test_windows_are_compared_repetition_by_repetition() -> None:
    first = ItemResult(
        JOIN, 20, 400, (Measured("by hand", 1, [1.0, 2.0, 3.0]), Measured("x", 1, [1.0, 1.0, 1.0]))
    )
    later = ItemResult(
        JOIN, 80, 400, (Measured("by hand", 1, [4.0, 2.0, 6.0]), Measured("x", 1, [2.0, 1.0, 4.0]))
    )
    assert later.of_window(first) == (Spread(0.5, 0.25, 1.0), Spread(0.5, 0.25, 1.0))
