"""Samples: a share of a stream, drawn by a hash that everyone computes alike."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.driving import run
from midstream.engine import Engine
from midstream.operators.signs import signed_plan
from midstream.optimizer.rules import PRUNING, RULES, WINDOWS
from midstream.optimizer.search import enumerate_plans
from midstream.plans.algebra.builder import relation, stream
from midstream.plans.algebra.operators import Sample, Source
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import is_included, is_key
from midstream.plans.algebra.serialise import dumps, loads
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count
from midstream.plans.expressions.operands import col
from midstream.plans.values.errors import ArgumentError, PlanError
from midstream.plans.values.schema import Schema
from midstream.plans.values.snapshots import normal_form
from midstream.plans.values.stable_hash import seed_of, stable_hash
from midstream.plans.values.streams import Element, chronons

S = stream("s", x="integer", y="float")
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec=None), max_size=5),
    st.tuples(st.integers(), st.text(max_size=2)),
)
ROWS = st.lists(st.tuples(st.integers(0, 30), VALUES, VALUES), max_size=40)
ANY = stream("s", a="any?", b="any?")


def elements_of(rows: list) -> list[Element]:
    return [(t, t + 1, (a, b)) for t, a, b in sorted(rows, key=lambda row: row[0])]


@given(ROWS, st.floats(0.01, 1), st.floats(0.01, 1), st.integers())
def test_a_smaller_share_is_a_part_of_a_larger_one(rows: list, one: float, other: float, seed: int) -> None:
    few, many = (
        run(ANY.sample(share, seed=seed).plan(), {"s": elements_of(rows)}) for share in sorted((one, other))
    )
    assert few == [element for element in many if element in few]
    assert run(ANY.sample(1).plan(), {"s": elements_of(rows)}) == elements_of(rows)


@given(ROWS, st.sampled_from((0.2, 0.5, 0.9)), st.integers(1, 4))
def test_it_is_what_is_specified_however_elements_are_batched(rows: list, share: float, size: int) -> None:
    query, elements = ANY.sample(share).window(5), elements_of(rows)
    for compile in (True, False):
        results: list = []
        engine = Engine(query.plan(), results.extend, compile=compile)
        for i in range(0, len(elements), size):
            engine.push("s", elements[i : i + size])
        engine.close()
        assert normal_form(results) == specified(query, {"s": elements})


@given(ROWS, st.sampled_from((0.2, 0.5)))
def test_positives_and_negatives_are_of_the_same_sample(rows: list, share: float) -> None:
    query, streams = ANY.sample(share).window(5).group_by("a").aggregate(n=count()), {"s": elements_of(rows)}
    assert normal_form(run(signed_plan(query), streams)) == specified(query, streams)


def test_every_process_draws_the_same() -> None:
    program = (
        "from midstream.plans.values.stable_hash import stable_hash\n"
        "print(stable_hash((7, 'a', None, 0.5, True), 3))"
    )
    found = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert found == {f"{stable_hash((7, 'a', None, 0.5, True), 3)}\n"} == {"6559167984662065302\n"}


@given(st.integers(-(10**20), 10**20))
def test_equal_values_have_one_hash(number: int) -> None:
    alike = {stable_hash([value]) for value in (number, Fraction(number), Decimal(number))}
    assert len(alike) == 1
    assert stable_hash([5]) == stable_hash([5.0]) and stable_hash([True]) == stable_hash([1])
    assert stable_hash(["1"]) != stable_hash([1])


def test_what_has_no_stable_hash_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"found frozenset\(.* in a row to be sampled, expected numbers"):
        stable_hash([frozenset({1})])


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_samples_of_other_streams_and_seeds_are_independent(share: float) -> None:
    rows, number = [(t, t * 0.5) for t in range(20_000)], 20_000
    keys = [seed_of(0, "s"), seed_of(0, "t"), seed_of(1, "s")]
    drawn = [{row for row in rows if stable_hash(row, key) < share * 2**64} for key in keys]
    for one in drawn:
        assert len(one) == pytest.approx(share * number, abs=4 * (share * (1 - share) * number) ** 0.5)
    both = share * share
    for one, other in ((0, 1), (0, 2), (1, 2)):
        deviation = (both * (1 - both) * number) ** 0.5
        assert len(drawn[one] & drawn[other]) == pytest.approx(both * number, abs=4 * deviation)


def test_nothing_is_put_below_it() -> None:
    other = stream("t", z="integer").window(9)
    query = S.sample(0.5).window(9).join(other, on=[("x", "z")]).filter(col("x") > 1).select("y").distinct()
    choices = list(enumerate_plans(query, (*WINDOWS, *RULES, *PRUNING)))
    assert len(choices) > 5
    for plan in choices:
        (sample,) = (node for node in plan.nodes if isinstance(node.operator, Sample))
        assert isinstance(sample.inputs[0].operator, Source)


def test_keys_survive_and_references_do_not() -> None:
    keyed = S.unique("x")
    assert is_key(keyed.sample(0.5).window(5).node, {"x"}) == is_key(keyed.window(5).node, {"x"})
    assert is_included(S.sample(0.5).node, ("x",), S.node, ("x",))
    assert not is_included(S.node, ("x",), S.sample(0.5).node, ("x",))


def test_its_share_changes_while_it_runs() -> None:
    query = S.sample(1, bounds=(0.25, 1))
    results: list = []
    engine = Engine(query.plan(), results.extend)
    rows = [(t, (t, 0.5)) for t in range(40)]
    engine.adjust({query: 0.25}, at=20)
    engine.push("s", chronons(rows))
    few = run(S.sample(0.25).plan(), {"s": chronons(rows)})
    assert results == [*chronons(rows[:20]), *(element for element in few if element[0] >= 20)]
    with pytest.raises(PlanError, match=r"found a sample of 10 %, expected one from 25 % to 100 %"):
        engine.adjust({S.sample(0.25, bounds=(0.25, 1)): 0.1}, at=60)
    with pytest.raises(PlanError, match=r"sample 50 % is fixed, .* SAMPLE\(MIN … %, MAX … %\) in SQL"):
        Engine(S.sample(0.5).plan()).adjust({S.sample(0.5): 0.1}, at=60)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: S.sample(0), "found a share of 0, expected one above 0 and up to 1"),
        (lambda: S.sample(1.5), r"found a share of 1\.5"),
        (lambda: S.sample("all"), "found a share of 'all'"),
        (lambda: S.sample(0.5, bounds=(0.6, 1)), "found a sample of 50 %, expected one from 60 % to 100 %"),
        (lambda: S.sample(0.5, seed=0.5), r"found the seed 0\.5, expected an integer"),
        (lambda: S.window(5).sample(0.5), "found window 5, expected a stream of timestamps itself"),
        (lambda: S.select("x").sample(0.5), "found project x, expected a stream of timestamps itself"),
        (lambda: stream("s", x="integer", intervals=True).sample(0.5), "expected a stream of timestamps"),
        (lambda: relation("r", x="integer").sample(0.5), "expected a stream of timestamps itself"),
        (
            lambda: Engine(Plan(Node(Sample("t", 0.5), (S.node,)))),
            "its input, source s, is no stream of timestamps named t; expected that stream directly below",
        ),
    ],
)
def test_what_cannot_be_sampled_is_refused(make, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        make()


def test_it_has_a_form_in_files() -> None:
    for query in (S.sample(0.5), S.sample(0.5, bounds=(0.1, 0.9), seed=7)):
        assert loads(dumps(query)) == query.plan()
    assert Schema.of(x="integer", y="float") == S.sample(0.5).schema
