"""The benchmark of join orders judges by what is best in truth."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from solving import solve
from typer.testing import CliRunner

from midstream.benchmarks import join_orders
from midstream.benchmarks.commands import app
from midstream.benchmarks.join_orders import (
    ExactFigures,
    Joins,
    NearFigures,
    OrdersRun,
    measure_orders,
    searched,
    show_orders,
)
from midstream.benchmarks.landscapes import edges, landscape
from midstream.benchmarks.least_cost import least_cost

CHAIN, STAR = Joins("chain", 4, mark=0.1), Joins("star", 6)
GOOD = OrdersRun(
    1.0,
    (ExactFigures(CHAIN, (0.1, 0.3, 0.2), (0.4, 0.5, 0.6), 7, True, 1.0),),
    (NearFigures(STAR, (1.0, 1.01, 1.05), (1.0, 0.5)),),
)


@pytest.mark.parametrize("joins", [Joins("star", 6), Joins("star", 6, one_key=True), Joins("clique", 6)])
@pytest.mark.parametrize("seed", range(3))
def test_the_least_cost_is_that_of_the_best_order(joins: Joins, seed: int) -> None:
    found = solve(joins.problem(seed), products="needed")
    assert found.is_exact
    assert least_cost(joins.problem(seed), joins.topology, joins.one_key) == pytest.approx(
        found.cost, rel=1e-9
    )


def test_landscapes_are_linked_as_their_names_say() -> None:
    assert edges("cycle", 4) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert edges("clique", 3) == [(0, 1), (0, 2), (1, 2)]
    for joins, links in [
        (Joins("cycle", 4), 4),
        (Joins("clique", 4), 6),
        (Joins("clique", 4, one_key=True), 1),
    ]:
        problem = joins.problem(seed=1)
        assert len(problem.links) == links
        assert len(problem.inputs) == 4


def test_landscapes_follow_from_their_seeds() -> None:
    one, again, other = (landscape("chain", 3, seed, rows=10) for seed in (1, 1, 2))
    assert one == again
    assert one[1] != other[1]


def test_a_small_run_measures_what_it_says() -> None:
    told: list[tuple[int, int]] = []
    run = measure_orders(2, 0.01, lambda done, total: told.append((done, total)), [CHAIN], [STAR])
    assert told == [(done, 6) for done in range(1, 7)]
    (exact,), (near,) = run.exact, run.near
    assert len(exact.seconds) == len(exact.seconds_all) == len(near.to_best) == len(near.to_given) == 2
    assert exact.is_exact and exact.is_good
    assert min(near.to_best) >= 1 - 1e-9
    assert json.loads(json.dumps(run.as_dict()))["exact"][0]["joins"] == "chain 4"


def test_a_longer_search_stands_in_for_a_best_order_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(join_orders, "LARGEST_CLIQUE", 5)
    (near,) = measure_orders(1, 0.01, exact=(), near=[Joins("clique", 6)]).near
    assert not near.joins.best_is_known
    assert min(near.to_best) > 0


def test_a_search_begins_with_the_given_order_and_ends_with_the_best() -> None:
    joins = Joins("star", 9)
    given, found = searched(joins.problem(seed=4), seconds=0.0)
    assert given == found
    assert searched(joins.problem(seed=4), seconds=60.0) == (given, solve(joins.problem(seed=4)).cost)


@pytest.mark.parametrize(
    ("run", "is_good"),
    [
        (GOOD, True),
        (replace(GOOD, exact=(replace(GOOD.exact[0], is_exact=False),)), False),
        (replace(GOOD, exact=(replace(GOOD.exact[0], to_default=1.01),)), False),
        (replace(GOOD, near=(replace(GOOD.near[0], to_best=(1.0, 1.06)),)), False),
        (replace(GOOD, near=(replace(GOOD.near[0], to_given=(1.0, 1.01)),)), False),
    ],
)
def test_the_verdict(run: OrdersRun, is_good: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run.is_good is is_good
    console = Console(width=120, record=True)
    show_orders(run, console)
    assert console.export_text().endswith("given: kept.\n" if is_good else "given: not kept.\n")
    monkeypatch.setattr(join_orders, "measure_orders", lambda *_: run)
    done = CliRunner().invoke(app, ["orders", "--output", str(tmp_path / "orders.json")])
    assert done.exit_code == (0 if is_good else 1)
    assert json.loads((tmp_path / "orders.json").read_text())["good"] is is_good


@pytest.mark.parametrize("options", [["--landscapes", "0"], ["--seconds", "0"], ["--seconds", "nan"]])
def test_bad_input(options: list[str]) -> None:
    assert CliRunner().invoke(app, ["orders", *options]).exit_code == 2
