"""Results of a simulation as plain data.

All times are application time in chronons, counted from 0, where the scenario begins. `seconds` and `cpu` are
seconds of this machine and differ from run to run. All else depends only on the scenario and the seed. State
is counted in elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from midstream.scenarios.trials.costs.forecast_errors import LevelError

Verdict = Literal["equal", "unordered", "different", "refused"]
"""`unordered` if results mean the same but overtake each other, as the scenario allows."""

Finding = Literal["holds", "does not hold", "not measured"]

BASELINE = "none"
"""The name of the run without migration, beside the names of strategies."""


BEST_FIXED, HINDSIGHT = "best fixed", "hindsight"
"""Names in claims: the plan that costs least when it runs all the time, and the best plan of each bucket.

In hindsight, migrations cost nothing.
"""


def alone(plan: str) -> str:
    """The name of the run that has a plan from the beginning, without migration.

    >>> alone("new")
    'new alone'
    """
    return f"{plan} alone"


@dataclass(frozen=True, slots=True)
class Moved:
    """A migration of a run.

    to              the name of the plan, or `optimizer`
    plan            the tree of the new plan
    asked           when it was requested
    condition       the condition that was met; None if the scenario names the instant
    began           the least progress of the inputs when it began; None before the first element
    split           the first instant that the new plan answers; None if that is the very beginning
    ended           when the last arrival came that it waited for; None if it never ended
    phase           its phase at the end of the run: done, or aborted
    aborted         when its abort was requested; None if it was not
    reason          why its strategy was chosen, if the scenario did not choose it
    results_old, results_new, results_fused     the number of results by origin
    unmatched       fragments of results without another half
    peak_old, peak_new, peak_held       largest state of the old box, of the new one, and held between them
    seconds         CPU seconds for preparing and beginning it
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
class Readjustment:
    """An adjustment by the resource manager of a run.

    complete_at   the instant from which on nothing is valid that came with earlier settings; None if nobody
                  knows it
    levers        the number of windows, granules and samples that changed
    """

    at: int
    complete_at: int | None
    levers: int


@dataclass(frozen=True, slots=True)
class Series:
    """Figures on the grid of application time, one for each bucket.

    Bucket i covers arrivals and results in `[i × every, (i + 1) × every)`. The buckets cover the duration,
    and later arrivals if there are any; the last one includes what the end of the streams brings. State and
    `cpu` are those at the end of the bucket.

    elements            number of arrivals
    results             number of results
    intermediate        intermediate results, of both plans during a migration
    emitted             elements that operators emit, those of windows and arrangements included
    old, new, held      the state of the old box, of the new one, and held between both; while no migration is
                        under way, all state of the box is `old` before the first one, and `new` after it
    outside             the state outside of the box: windows, and elements that wait where streams enter; in
                        JSON it is called `rest`
    bytes               estimated bytes of operators' state; None if they were not requested
    latency_mean        application time from a result's start to the arrival at which it came out
    latency_max         the largest latency; both None in a bucket without results
    cpu                 seconds of processing since the beginning
    predicted_state     elements that the cost model predicts to be kept once all windows are full, from the
                        latest arrivals; empty if predictions were not requested
    predicted_results   predicted results per bucket
    predicted_cpu       predicted seconds of processing since the beginning

    Within a budget there are also these, and `predicted_state` is by the latest look of the manager:

    queries             the number of queries that run
    limit, target       the budget of memory in bytes, and that without the reserve
    predicted_bytes     bytes that the manager expects to be held once all has come with the present settings
    precision           the precision that it expects of the results, on the average of all queries
    """

    elements: tuple[int, ...]
    results: tuple[int, ...]
    intermediate: tuple[int, ...]
    emitted: tuple[int, ...]
    old: tuple[int, ...]
    new: tuple[int, ...]
    held: tuple[int, ...]
    outside: tuple[int, ...]
    bytes: tuple[int | None, ...]
    latency_mean: tuple[float | None, ...]
    latency_max: tuple[int | None, ...]
    cpu: tuple[float, ...]
    predicted_state: tuple[float | None, ...] = ()
    predicted_results: tuple[float, ...] = ()
    predicted_cpu: tuple[float, ...] = ()
    queries: tuple[int, ...] = ()
    limit: tuple[float, ...] = ()
    target: tuple[float, ...] = ()
    predicted_bytes: tuple[float | None, ...] = ()
    precision: tuple[float | None, ...] = ()

    @property
    def state(self) -> tuple[int, ...]:
        """The whole state of the engine."""
        return tuple(map(sum, zip(self.old, self.new, self.held, self.outside, strict=True)))


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of a whole run.

    peak_state              on the grid
    peak_output             the most results in a bucket
    longest_pause           between consecutive arrivals that brought results; None with fewer than two
    longest_pause_moving    the longest pause that overlaps the migrations' time; None without one
    longest_pause_stayed    the longest pause that overlaps that time in the run without migration
    latency_mean, latency_max       of all results; None without any
    cpu                     seconds of processing
    cpu_beginning           the part of it that preparing and beginning migrations took; None without one
    cpu_ending              the part of it for the arrivals that end migrations, until the operators of the
                            new plan are connected with the others
    cpu_moving              the part of it for all arrivals in between
    cpu_window_old_alone    the seconds of the first plan for that time without migration
    cpu_window_new_alone    the seconds of the new plans for that time, each running from the beginning
    cpu_ratio               cpu_moving / (cpu_window_old_alone + cpu_window_new_alone)
    speed                   results per second of `cpu`
    speed_before, speed_moving, speed_after     results per second before, during and after migrations;
                            without the time that beginning them took

    adjustments             by the manager of a budget; None without one
    forecast_error          the relative error of the elements that joins are expected to hold in steady parts
    error_growth            the mean growth of that error from joins of a level to those of the next

    All from `cpu_beginning` to `cpu_ratio`, and the speeds before, during and after, are None without
    migration; the last three are None without a budget.
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
    adjustments: int | None = None
    forecast_error: float | None = None
    error_growth: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One strategy on one repetition of the streams.

    strategy        the name of a strategy, `none`, or `alone(…)`
    seed            of the streams of this repetition
    refused         why a migration was refused; the run went on with the plan that it had
    verdict         `equal` if the results are snapshot-equivalent to those of `none`, in order, and nothing
                    is unmatched; `unordered` if only the order is missing, and the scenario gives it up
    is_ordered      True if the results came in order of start
    adjustments     those of the manager of a budget
    errors          by level of the plans, the error of its forecasts in steady parts
    differences     the first differences as text: the results of this run on the left, those of `none` on the
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
    adjustments: tuple[Readjustment, ...] = ()
    errors: tuple[LevelError, ...] = ()


Kind = Literal["fixed", "clairvoyant", "policy", "hindsight"]
"""A plan that runs alone; a policy that knows all arrivals, or does not; the best plan of each bucket."""


@dataclass(frozen=True, slots=True)
class PolicyMove:
    """A migration that a policy decided: both plans run in [at, until).

    how     the strategy
    until   None if it was under way at the end
    """

    at: int
    until: int | None
    old: str
    new: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCost:
    """Costs of a plan that runs alone, of a policy, or of `hindsight`, in one repetition.

    kind        which of these it is
    start       the plan that ran first
    total       intermediate results of all plans that ran, at all times, those of migrations included
    counted     the total as the engine counted it; None if it did not run
    is_priced   True if `total` is by replay, from the arrivals; otherwise it is the engine's count
    moves       the number of migrations
    of_fixed    total / total of the best fixed plan; None if that is 0
    regret      total / total of the clairvoyant with the same strategies; None without one
    spent       the cumulative total at the end of each bucket of the grid
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
        """True unless the engine and the replay counted differently."""
        return self.counted in (None, self.total)


OF_POLICIES: Mapping[str, str] = {
    "total": "intermediate\nresults",
    "moves": "migrations",
    "of_fixed": "/ best\nfixed",
    "regret": "/ clair-\nvoyant",
}
"""Figures of policies by name, with their headings; `PolicyCost` has their meaning."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over all repetitions; all None if no run has it."""

    median: float | None
    least: float | None
    largest: float | None


def spread(figures: Sequence[float | None]) -> Spread:
    """The spread of those figures that are not None.

    >>> spread([4, None, 1, 3])
    Spread(median=3, least=1, largest=4)
    """
    known = [figure for figure in figures if figure is not None]
    return Spread(median(known), min(known), max(known)) if known else Spread(None, None, None)


@dataclass(frozen=True, slots=True)
class StrategySummary:
    """One strategy over all repetitions, with `figures` by the names in `FIGURES`."""

    strategy: str
    runs: int
    verdict: Verdict
    """`different` if any run is, else `refused` if any was, else `unordered` if any is."""
    refused: str | None
    figures: Mapping[str, Spread]


TIMES: Mapping[str, str] = {
    "duration": "migra-\ntion",
    "longest_pause": "longest\npause",
    "longest_pause_moving": "pause,\nmoving",
    "longest_pause_stayed": "pause,\nstaying",
    "latency_mean": "mean\nlatency",
    "latency_max": "largest\nlatency",
}
"""Figures that are times in chronons, by name, with their headings; `Totals` has their meaning.

`duration` is the time from the beginning of migrations until they are over.
"""

AMOUNTS: Mapping[str, str] = {
    "results": "results",
    "peak_state": "largest\nstate",
    "peak_output": "most in\na bucket",
    "intermediate": "inter-\nmediate",
}
"""Figures that are numbers of elements."""

OF_PROCESSING: Mapping[str, str] = {
    "cpu": "CPU\nin all",
    "cpu_beginning": "begin-\nning",
    "cpu_ending": "ending",
    "cpu_moving": "moving",
    "cpu_window_old_alone": "old\nalone",
    "cpu_window_new_alone": "new\nalone",
    "cpu_ratio": "moving\n/ alone",
    "speed": "results\n/ CPU s",
    "speed_before": "before",
    "speed_moving": "moving",
    "speed_after": "after",
}
"""Figures of CPU seconds; they differ from run to run."""

OF_BUDGETS: Mapping[str, str] = {
    "adjustments": "adjust-\nments",
    "forecast_error": "error of\nforecasts",
    "error_growth": "more a\nlevel",
}
"""Figures of runs within budgets."""

FIGURES = (*TIMES, *AMOUNTS, *OF_BUDGETS, *OF_PROCESSING)
"""Names of figures for comparing strategies."""


def figure_of(run: Run, name: str) -> float | None:
    """A figure of a run; None if it has none."""
    if name != "duration":
        found: float | None = getattr(run.totals, name)
        return found
    ended = [move.ended - move.asked for move in run.migrations if move.ended is not None]
    return sum(ended) if ended else None


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim of the scenario, its finding, and its numbers where they are closest to each other."""

    claim: str
    finding: Finding
    measured: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """All runs of a scenario, and their comparison.

    second      chronons per second; `unit` is the chronon's name, in the plural
    every       the grid of the series, in chronons
    plans       the named plans as trees
    text        the scenario as it was written
    captions    titles of charts, by the chart's name
    claims      the scenario's claims about its figures, each with its finding
    adjusted    when windows or granules changed
    judged      the costs of each policy, and of each plan alone, by repetition
    unpriced    why replay could price nothing; None if it could
    early_ends  messages about streams that end before the scenario does
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
    compared: tuple[StrategySummary, ...]
    captions: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Checked, ...] = ()
    adjusted: tuple[int, ...] = ()
    judged: tuple[PolicyCost, ...] = ()
    unpriced: str | None = None
    early_ends: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies in the order in which they ran, the baseline first."""
        return tuple(dict.fromkeys(run.strategy for run in self.runs))

    def of(self, strategy: str) -> Sequence[Run]:
        """The runs of a strategy, one for each repetition."""
        return [run for run in self.runs if run.strategy == strategy]

    def costs_of(self, policy: str) -> Sequence[PolicyCost]:
        """The costs of a policy, by repetition; `best fixed` may be another plan in each."""
        if policy != BEST_FIXED:
            return [one for one in self.judged if one.policy == policy]
        fixed = [one for one in self.judged if one.kind == "fixed"]
        return [
            min((one for one in fixed if one.repetition == repetition), key=lambda one: one.total)
            for repetition in range(self.repetitions if fixed else 0)
        ]

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of all that was judged: each plan alone, the policies, the clairvoyant, hindsight."""
        return tuple(dict.fromkeys(one.policy for one in self.judged))

    def spread_of(self, policy: str, figure: str) -> Spread:
        """A figure of `OF_POLICIES` over all repetitions."""
        return spread([getattr(one, figure) for one in self.costs_of(policy)])

    @property
    def compared_strategies(self) -> tuple[str, ...]:
        """The strategies that were compared."""
        return tuple(name for name in self.strategies if name != BASELINE and not name.endswith(alone("")))

    @property
    def compares_plans(self) -> bool:
        """True if nothing migrates, and each plan runs alone."""
        return BASELINE not in self.strategies

    @property
    def is_equal(self) -> bool:
        """True if no run differs from the run without migration, and no replay from the engine's count."""
        return all(run.verdict != "different" for run in self.runs) and all(
            one.is_equal for one in self.judged
        )

    @property
    def holds(self) -> bool:
        """True if no claim was found broken."""
        return all(one.finding != "does not hold" for one in self.claims)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "format": "midstream-simulation",
            "version": 1,
            "equal": self.is_equal,
            "holds": self.holds,
            **asdict(self, dict_factory=_with_json_keys),
        }


def _with_json_keys(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {JSON_KEYS.get(name, name): value for name, value in fields}


JSON_KEYS: Mapping[str, str] = {"outside": "rest"}
"""Keys of fields that are not called as in JSON, whose keys stay as readers know them."""
