"""What a running query gave is counted as it is priced: the same operators give intermediate results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import host_of

import midstream as ms
from midstream.migration.autopilot.spending import Spending
from midstream.optimizer import CostModel, Statistics
from midstream.optimizer.cost.objective import INTERMEDIATE
from midstream.optimizer.statistics import StreamStatistics

WINDOW, END = 8, 40
A, B, C = (ms.stream(name, **{name: "integer"}).window(WINDOW) for name in "abc")
PAIRS = A.join(B, on=[("a", "b")])
ALL = PAIRS.join(C, on=[("b", "c")])
FILTERED = ALL.filter(ms.col("c") > 0)

PLANS = {
    "one output": (ms.Plan({"all": ALL.node}), [PAIRS]),
    "below what has no state": (ms.Plan({"all": FILTERED.node}), [PAIRS]),
    "two outputs": (ms.Plan({"all": ALL.node, "bs": B.distinct().node}), [PAIRS]),
    "an output that another one reads": (ms.Plan({"all": FILTERED.node, "pairs": PAIRS.node}), [PAIRS]),
    "outputs of two of which one has no state": (
        ms.Plan({"some": FILTERED.node, "groups": ALL.group_by("a").aggregate(n=ms.count()).node}),
        [PAIRS, ALL],
    ),
}


@pytest.mark.parametrize("plan, inner", PLANS.values(), ids=PLANS)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, END - 1), st.sampled_from("abc"), st.integers(0, 1)), min_size=4, max_size=40
    )
)
def test_intermediate_results_are_counted_as_they_are_priced(
    plan: ms.Plan, inner: list[ms.Stream], rows: list[tuple[int, str, int]]
) -> None:
    engine = ms.Engine(plan)
    host = host_of(engine)
    spending = Spending(host, host.query())
    for at, name, value in sorted(rows):
        engine.push(name, ms.chronons([(at, (value,))]))
    for name in engine.streams:
        engine.advance(name, END)
    spent = spending.spent()
    assert spent.intermediate == sum(spent.results[stream.node] for stream in inner)
    sources = [source for source in plan.nodes if not source.inputs]
    rates = {node: n / END for node, n in spent.results.items()}
    known = Statistics({source: StreamStatistics(d=1.0, l=1.0) for source in sources})
    price = INTERMEDIATE.of(CostModel(known, None, rates).price(plan))
    assert END * price == pytest.approx(spent.intermediate)
