"""What a simulation found out, as plain data.

All times are application time in chronons, counted from 0, where the scenario begins; `seconds` and `cpu`
are seconds of this machine and differ from run to run. Everything else is the same for the same scenario and
seed. State is counted in elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

Verdict = Literal["equal", "unordered", "different", "refused"]
"""`unordered` where results mean the same and overtook each other, as the scenario lets them."""

Finding = Literal["holds", "does not hold", "not measured"]

BASELINE = "none"
"""The name of the run without migration, beside the names of strategies."""


BEST_FIXED, HINDSIGHT = "best fixed", "hindsight"
"""In claims: the plan that costs least if it runs all the time; the best plan of each bucket, where moves are
free."""


def alone(plan: str) -> str:
    """The name of the run that has another plan from the beginning, without migration.

    >>> alone("new")
    'new alone'
    """
    return f"{plan} alone"


@dataclass(frozen=True, slots=True)
class Moved:
    """A migration of a run.

    to              the name of the plan, or `optimizer`
    plan            the tree of the new plan
    asked           when it was asked for
    condition       the condition that was met; None where the scenario names the instant
    began           the least progress of the inputs when it began; None before the first element
    split           the first instant at which the new plan answers; None where that is the very beginning
    ended           when the last thing arrived that it waited for; None if it never ended
    phase           where it stands at the end of the run: done, or aborted
    aborted         when its end was asked for; None where it was not
    reason          why its strategy was chosen, where the scenario did not choose it
    results_old, results_new, results_fused     where its results came from
    unmatched       fragments of results that found no other half
    peak_old, peak_new, peak_held       largest state of the old box, of the new one, and held between them
    seconds         of the processor, spent in preparing and beginning it
    """

    to: str
    plan: str
    asked: int
    condition: str | None
    began: int | None
    split: int | None
    ended: int | None
    phase: str
    aborted: int | None
    reason: str
    results_old: int
    results_new: int
    results_fused: int
    unmatched: int
    peak_old: int
    peak_new: int
    peak_held: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Series:
    """Figures on the grid of application time, one for each bucket.

    Bucket i holds what arrived, and what came out, in `[i × every, (i + 1) × every)`. There are as many as
    the duration has, and more where elements arrive after it; the last one also holds what the end of the
    streams brought. State and `cpu` are those at the end of the bucket.

    elements            that arrived
    results             that came out
    intermediate        intermediate results, of both plans during a migration
    emitted             elements that operators gave, those of windows and arrangements included
    old, new, held      the state of the old box, of the new one, and held between both; without a migration
                        under way all state of the box is `old` before the first one, and `new` after it
    rest                the state of the rest of the engine: what waits where streams enter, windows
    bytes               of what operators keep, estimated; None where it was not asked for
    latency_mean        application time from a result's start to the arrival at which it came out
    latency_max         the largest of them; both None in a bucket without results
    cpu                 seconds of processing since the beginning
    predicted_state     elements that the cost model expects to be kept once all windows are full, by what
                        arrived lately; empty where it was not asked
    predicted_results   results that it expects then in a bucket
    predicted_cpu       seconds of processing since the beginning, as it expects them
    """

    elements: tuple[int, ...]
    results: tuple[int, ...]
    intermediate: tuple[int, ...]
    emitted: tuple[int, ...]
    old: tuple[int, ...]
    new: tuple[int, ...]
    held: tuple[int, ...]
    rest: tuple[int, ...]
    bytes: tuple[int | None, ...]
    latency_mean: tuple[float | None, ...]
    latency_max: tuple[int | None, ...]
    cpu: tuple[float, ...]
    predicted_state: tuple[float | None, ...] = ()
    predicted_results: tuple[float, ...] = ()
    predicted_cpu: tuple[float, ...] = ()

    @property
    def state(self) -> tuple[int, ...]:
        """All state of the engine."""
        return tuple(map(sum, zip(self.old, self.new, self.held, self.rest, strict=True)))


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of a whole run.

    peak_state              on the grid
    peak_output             the most results in a bucket
    longest_pause           between consecutive arrivals that brought results; None with fewer than two
    longest_pause_moving    the longest that has a part in the migrations' time; None without one
    longest_pause_stayed    the longest that has a part in the same time without migration
    latency_mean, latency_max       of all results; None without any
    cpu                     seconds of processing
    cpu_beginning           the part of it that preparing and beginning migrations took; None without one
    cpu_ending              the part of it for the arrivals with which they were over, until the operators of
                            the new plan are connected with the others
    cpu_moving              the part of it for all that arrived in between
    cpu_window_old_alone    what the first plan needs for the same time without migration
    cpu_window_new_alone    what the new plans need for the same time, each if it ran from the beginning
    cpu_ratio               cpu_moving / (cpu_window_old_alone + cpu_window_new_alone)
    speed                   results per second of `cpu`
    speed_before, speed_moving, speed_after     the same before migrations, during them, and afterwards;
                            without what beginning them took

    All from `cpu_beginning` to `cpu_ratio`, and the last three, are None without migration.
    """

    elements: int
    results: int
    intermediate: int
    peak_state: int
    peak_output: int
    longest_pause: int | None
    longest_pause_moving: int | None
    longest_pause_stayed: int | None
    latency_mean: float | None
    latency_max: int | None
    cpu: float
    cpu_beginning: float | None = None
    cpu_ending: float | None = None
    cpu_moving: float | None = None
    cpu_window_old_alone: float | None = None
    cpu_window_new_alone: float | None = None
    cpu_ratio: float | None = None
    speed: float | None = None
    speed_before: float | None = None
    speed_moving: float | None = None
    speed_after: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One strategy on one repetition of the streams.

    strategy        the name of a strategy, `none`, or `alone(…)`
    seed            of the streams of this repetition
    refused         why a migration was refused; the run went on with the plan that it had
    verdict         whether the results mean the same, snapshot by snapshot, as those of `none`, in order,
                    with nothing unmatched; `unordered` where only the order is missing, and given up by the
                    scenario
    is_ordered      whether the results came in order of start
    differences     the first ones as text: the results of this run are on the left, those of `none` on the
                    right
    """

    strategy: str
    repetition: int
    seed: int
    refused: str | None
    migrations: tuple[Moved, ...]
    series: Series
    totals: Totals
    verdict: Verdict
    is_ordered: bool
    differences: tuple[str, ...] = ()


Kind = Literal["fixed", "clairvoyant", "policy", "hindsight"]
"""A plan that runs alone; what knows all that arrives; what does not; the best plan of each bucket."""


@dataclass(frozen=True, slots=True)
class PolicyMove:
    """A migration that a policy decided: both plans run in [at, until).

    how     the strategy
    until   None where it was under way at the end
    """

    at: int
    until: int | None
    old: str
    new: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What it cost to let something decide which plan runs, in one repetition: a plan that runs alone, a
    policy, or `hindsight`.

    kind        what it is
    start       the plan that ran first
    total       intermediate results of all plans that ran, at all times, those of migrations included
    counted     the same as the engine counted it; None where it did not run
    is_priced   whether `total` is by replay, from the arrivals; else it is what the engine counted
    moves       how many migrations there were
    of_fixed    total, as a multiple of what the best fixed plan cost; None where that is 0
    regret      the same of what the clairvoyant cost that has the same strategies; None without one
    spent       the total until the end of each bucket of the grid
    """

    policy: str
    kind: Kind
    repetition: int
    start: str | None = None
    total: int
    counted: int | None = None
    is_priced: bool = False
    moves: int = 0
    of_fixed: float | None
    regret: float | None = None
    spent: tuple[int, ...] = ()
    migrations: tuple[PolicyMove, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether the engine counted what the replay did, where both were made."""
        return self.counted in (None, self.total)


OF_POLICIES: Mapping[str, str] = {
    "total": "intermediate results of all running plans",
    "moves": "migrations",
    "of_fixed": "total / best fixed plan",
    "regret": "total / clairvoyant",
}
"""What policies are judged by, and what it means."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over all repetitions; None everywhere where no run has it."""

    median: float | None
    least: float | None
    largest: float | None


def spread(figures: Sequence[float | None]) -> Spread:
    """Of those that there are.

    >>> spread([4, None, 1, 3])
    Spread(median=3, least=1, largest=4)
    """
    known = [figure for figure in figures if figure is not None]
    return Spread(median(known), min(known), max(known)) if known else Spread(None, None, None)


@dataclass(frozen=True, slots=True)
class Compared:
    """One strategy over all repetitions. `figures` are those of `FIGURES`, by name."""

    strategy: str
    runs: int
    verdict: Verdict
    """`different` if any run is, else `refused` if any was, else `unordered` if any is."""
    refused: str | None
    figures: Mapping[str, Spread]


FIGURES: Mapping[str, str] = {
    "results": "results",
    "duration": "migration, from its beginning until it was over, in chronons",
    "longest_pause": "longest pause between results, in chronons",
    "longest_pause_moving": "longest pause between results during migrations, in chronons",
    "longest_pause_stayed": "longest pause in that time without migration, in chronons",
    "latency_mean": "mean latency of results, in chronons",
    "latency_max": "largest latency of results, in chronons",
    "peak_state": "largest state, in elements",
    "peak_output": "most results in a bucket",
    "intermediate": "intermediate results",
    "cpu": "processing, in CPU seconds",
    "cpu_beginning": "preparing and beginning migrations, in CPU seconds",
    "cpu_ending": "ending migrations, in CPU seconds",
    "cpu_moving": "processing during migrations, in CPU seconds",
    "cpu_window_old_alone": "processing of the old plan alone in that time, in CPU seconds",
    "cpu_window_new_alone": "processing of the new plans alone in that time, in CPU seconds",
    "cpu_ratio": "processing during migrations, relative to that of both plans alone in CPU",
    "speed": "results per CPU second",
    "speed_before": "results per CPU second, before migrations",
    "speed_moving": "results per CPU second, during migrations",
    "speed_after": "results per CPU second, after migrations",
}
"""What is compared between strategies, and what it means; those of CPU differ from run to run."""


def figure_of(run: Run, name: str) -> float | None:
    """A figure of a run; None where it has none."""
    if name != "duration":
        found: float | None = getattr(run.totals, name)
        return found
    ended = [move.ended - move.asked for move in run.migrations if move.ended is not None]
    return sum(ended) if ended else None


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim of the scenario, what was found, and the numbers where they are closest to each other."""

    claim: str
    finding: Finding
    measured: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """All runs of a scenario, and their comparison.

    second      chronons a second has; `unit` is the chronon's name, in the plural
    every       the grid of the series, in chronons
    plans       the named plans as trees
    text        the scenario as it was written
    captions    titles of charts, by the chart's name
    claims      what the scenario says of its figures, and whether it holds
    adjusted    when windows or granules changed
    judged      what each policy cost, and each plan alone, by repetition
    unpriced    why nothing could be priced by replay; None where it was
    early_ends  before what of the scenario its streams end, in words
    versions    of Midstream and Python
    """

    name: str
    description: str
    seed: int
    repetitions: int
    unit: str
    second: int
    duration: int
    every: int
    plans: Mapping[str, str]
    text: str
    runs: tuple[Run, ...]
    compared: tuple[Compared, ...]
    captions: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Checked, ...] = ()
    adjusted: tuple[int, ...] = ()
    judged: tuple[Judged, ...] = ()
    unpriced: str | None = None
    early_ends: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def strategies(self) -> tuple[str, ...]:
        """In the order in which they ran, the baseline first."""
        return tuple(dict.fromkeys(run.strategy for run in self.runs))

    def of(self, strategy: str) -> Sequence[Run]:
        """The runs of a strategy, one for each repetition."""
        return [run for run in self.runs if run.strategy == strategy]

    def judged_of(self, policy: str) -> Sequence[Judged]:
        """What a policy cost, by repetition; `best fixed` may be another plan in each."""
        if policy != BEST_FIXED:
            return [one for one in self.judged if one.policy == policy]
        fixed = [one for one in self.judged if one.kind == "fixed"]
        return [
            min((one for one in fixed if one.repetition == repetition), key=lambda one: one.total)
            for repetition in range(self.repetitions if fixed else 0)
        ]

    @property
    def policies(self) -> tuple[str, ...]:
        """What was judged: each plan alone, the policies, the clairvoyant, hindsight."""
        return tuple(dict.fromkeys(one.policy for one in self.judged))

    def spread_of(self, policy: str, figure: str) -> Spread:
        """A figure of `OF_POLICIES` over all repetitions."""
        return spread([getattr(one, figure) for one in self.judged_of(policy)])

    @property
    def wished(self) -> tuple[str, ...]:
        """The strategies that were compared."""
        return tuple(name for name in self.strategies if name != BASELINE and not name.endswith(alone("")))

    @property
    def compares_plans(self) -> bool:
        """Whether nothing migrates, and each plan runs alone."""
        return BASELINE not in self.strategies

    @property
    def is_equal(self) -> bool:
        """Whether no run's results differ from those without migration, and no replay from what the engine
        counted."""
        return all(run.verdict != "different" for run in self.runs) and all(
            one.is_equal for one in self.judged
        )

    @property
    def holds(self) -> bool:
        """Whether no claim was found not to hold."""
        return all(one.finding != "does not hold" for one in self.claims)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "format": "midstream-simulation",
            "version": 1,
            "equal": self.is_equal,
            "holds": self.holds,
            **asdict(self),
        }
