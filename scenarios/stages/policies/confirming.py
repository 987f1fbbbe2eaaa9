"""Advice from the earlier half of a recording, confirmed or not by runs of the engine over the later half."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from midstream.autopilot.settings import Settings
from midstream.optimizer import Objective, UnitCosts
from midstream.optimizer.cost.units import units_in_use
from midstream.plans.algebra.plan import Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.values.errors import ArgumentError, MidstreamError
from midstream.plans.values.schema import Schema
from midstream.scenarios.recordings.recording import Recording, open_recording
from midstream.scenarios.spark.spark_errors import SPARK_ERRORS, reason
from midstream.scenarios.stages.base.advice import Advice, Alternative
from midstream.scenarios.stages.policies.later_runs import Candidate, LaterRun, run_all
from midstream.scenarios.stages.policies.stage import PolicyComparison
from midstream.scenarios.stages.simulate.grid import Slice, chunks
from midstream.scenarios.stages.simulate.jobs import in_jobs, read_rows, require_fitting, rows_of
from midstream.scenarios.stages.simulate.making import schemas_of
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.inputs import plan_inputs

BATCH = 1000
"""The most elements that the engine is given at once."""

PARTS = 2
"""The number of parts of the shortest window; the elements of one part at most come at once."""


@dataclass(frozen=True)
class Confirmation:
    """The advice of the earlier half, and what it was worth in the later one.

    middle     where the later half begins
    advice     that of the earlier half
    runs       by way, its run over the later half: the advised way, and the one that it is compared with
    rival      the order as written; where that is advised, the next best way
    """

    middle: int
    advice: Advice
    runs: Mapping[str, LaterRun]
    rival: str

    @property
    def advised(self) -> str:
        """The name of the advised way."""
        return self.advice.chosen.name

    def as_dict(self) -> dict[str, Any]:
        """The confirmation as plain data for JSON.

        It holds without a clock: by counted steps, priced by the unit costs, and counted results.

        in_time      the advised way takes no more processor time than the other, with deciding and moves
        in_results   it has fewer intermediate results if it had fewer in the earlier half, else not fewer
        is_equal     both candidates gave the same output
        """
        known = {way.name: way for way in self.advice.alternatives}
        runs = [{**asdict(run), "cost": self._cost(known[name], run)} for name, run in self.runs.items()]
        advised, rival = self.runs[self.advised], self.runs[self.rival]
        had_fewer = (known[self.advised].results or 0) < (known[self.rival].results or 0)
        return {
            "middle": self.middle,
            "advice": self.advice.as_dict(),
            "advised": self.advised,
            "rival": self.rival,
            "runs": runs,
            "in_time": self._cost(known[self.advised], advised) <= self._cost(known[self.rival], rival),
            "in_results": had_fewer == (advised.results < rival.results),
            "is_equal": advised.digest == rival.digest,
        }

    def _cost(self, way: Alternative, run: LaterRun) -> float:
        """The processor time of a run, with deciding and the begin of each migration."""
        moves = run.moves if way.changes else None
        return self.advice.cost(replace(way, cost=run.microseconds, moves=moves))


def confirm(
    recording: Recording,
    study: Study,
    plan: Plan,
    compare: Callable[[Recording, Study], PolicyComparison],
    objective: Objective,
    strategy: str,
) -> Confirmation:
    """Compare policies over the earlier half, and run the engine over the later half as they advise.

    compare    compares policies over a part of the recording

    Cost     Another comparison; then one worker holds the later half, and runs each way four times.
    Raises   MidstreamError where the later half does not fit into a worker; ArgumentError where a half has
             no element.
    """
    totals = recording.totals.values()
    first = min(total.first for total in totals if total.first is not None)
    last = max(total.last for total in totals if total.last is not None)
    middle = (first + last + 1) // 2
    if middle <= first:
        raise ArgumentError(
            "policies: found elements of one instant only, expected a later half to confirm by"
        )
    earlier = replace(study, until=middle)
    with open_recording(recording.spark, earlier, recording.bucket) as opened:
        found = compare(opened, earlier)
    advice = found.advice
    advised, rival = advice.chosen, advice.rival
    both = [_way(found, one, plan, objective, strategy) for one in (rival, advised)]
    runs = _run(recording, study, plan, both, Slice(middle, last + 1))
    return Confirmation(middle, advice, {run.name: run for run in runs}, rival.name)


def _way(
    found: PolicyComparison, way: Alternative, plan: Plan, objective: Objective, strategy: str
) -> Candidate:
    order = plan if way.changes else found.courses.plans[found.courses.labels.index(way.name)]
    settings: Settings | None = found.settings if way.changes else None
    return Candidate(way.name, order, settings, objective, strategy)


def _run(
    recording: Recording,
    study: Study,
    plan: Plan,
    candidates: Sequence[Candidate],
    part: Slice,
) -> list[LaterRun]:
    """Run all candidates over a part, in one task of an executor."""
    windows = [one.length for one in plan_inputs(logical_plan(plan), study.streams)]
    schemas = schemas_of(plan)
    rows = rows_of(recording, study, [part], schemas)
    try:
        require_fitting(rows, [part], study.clock, "study a part with --from and --until, or do not confirm")
        run = partial(
            run_batches,
            candidates=candidates,
            schemas=schemas,
            window=max(windows),
            span=max(1, min(windows) // PARTS),
            units=units_in_use(),
        )
        found = in_jobs(rows, [1], [part]).mapInArrow(run, "runs string").toArrow()
    except SPARK_ERRORS as error:
        raise MidstreamError(f"policies: {reason(error)}") from error
    told = found.column("runs").to_pylist()
    if not told:
        raise ArgumentError("policies: found no element in the later half, expected some to confirm by")
    return [LaterRun(**run) for run in json.loads(told[0])]


def run_batches(
    batches: Iterator[pa.RecordBatch],
    candidates: Sequence[Candidate],
    schemas: Mapping[str, Schema],
    window: int,
    span: int,
    units: UnitCosts,
) -> Iterator[pa.RecordBatch]:
    """Run all candidates over rows (slice, seed, time, stream, values), on an executor."""
    rows = [row for batch in batches for row in zip(*(one.to_pylist() for one in batch.columns), strict=True)]
    if rows:
        elements = read_rows([row[2:] for row in rows], schemas)
        runs = run_all(candidates, chunks(elements, [], 1, span, BATCH), window, units)
        yield pa.RecordBatch.from_pydict({"runs": [json.dumps([asdict(run) for run in runs])]})
