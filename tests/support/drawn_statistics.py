"""Statistics of the inputs of a plan, drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from midstream.optimizer import Sample, Statistics, StreamStatistics
from midstream.plans.algebra.plan import Plan


@st.composite
def statistics_for(draw: st.DrawFn, plan: Plan) -> Statistics:
    streams = {}
    for node in plan.nodes:
        if not node.operator.is_snapshot_reducible:  # type: ignore[union-attr]
            row = st.tuples(*[st.integers(0, 3)] * len(node.schema))
            rows = draw(st.lists(row, max_size=8))
            d, length = draw(st.floats(0.1, 50)), draw(st.floats(0.1, 500))
            streams[node] = StreamStatistics(d, length, sample=Sample(node.schema, rows))
    return Statistics(streams)
