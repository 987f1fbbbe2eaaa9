"""A chart of a query over recorded streams: the best plan for each region of rates and selectivities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from midstream.io.time_units import NANOSECONDS
from midstream.optimizer.charts.chart import Chart
from midstream.optimizer.charts.dimension_requests import DimensionRequest, changing_along, requested_measures
from midstream.optimizer.charts.fidelity import Trajectory, trajectory
from midstream.optimizer.cost.objective import PROCESSING, Objective
from midstream.optimizer.statistics import Statistics
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.recordings.recording import Recording
from midstream.scenarios.stages.charts.parts import require_parts
from midstream.scenarios.stages.charts.seen import BucketMeasures, measure_buckets
from midstream.scenarios.stages.charts.sweep import sweep
from midstream.scenarios.streams.recorded.declaration import Study


@dataclass(frozen=True)
class ChartResult:
    """A chart, and how the recorded streams move over it.

    statistics   from which the chart was made
    seen         measures of the streams, bucket by bucket
    trajectory   places on the chart of the buckets in which every stream has elements, in order of time
    """

    starts: range
    chart: Chart
    statistics: Statistics
    seen: BucketMeasures
    trajectory: Trajectory


def charts(
    recording: Recording,
    study: Study,
    query: Plan,
    along: Sequence[DimensionRequest] = (),
    *,
    parts: int = 10,
    is_logarithmic: bool = False,
    objective: Objective = PROCESSING,
    statistics: Statistics | None = None,
    partitions: int | None = None,
) -> ChartResult:
    """Make the chart of a query, along some measures: by default the rates of all streams.

    A range that is not given is learned from the buckets of the recording. What changes along no dimension
    is as in `statistics`; by default, as it was in the whole recording.

    Cost     See `measure_buckets` and `sweep`.
    Raises   PlanError where the query does not fit the recorded streams; ChartError for what cannot be a
             dimension.
    """
    given = requested_measures(query, along)
    for _, measure in given:
        require_parts(measure.name, parts)
    seen = measure_buckets(recording, study, query)
    base = seen.statistics if statistics is None else statistics
    rounds = list(seen.rounds([measure for _, measure in given]).values())
    changing = changing_along(given, base, rounds, parts=parts, is_logarithmic=is_logarithmic)
    in_units = replace(objective, chronon=NANOSECONDS[study.clock.unit] / 1000)
    chart = sweep(recording.spark, query, base, changing, in_units, partitions=partitions)
    return ChartResult(recording.starts, chart, base, seen, trajectory(chart, rounds))
