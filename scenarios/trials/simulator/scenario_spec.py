"""The keys of a scenario file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PositiveInt, model_validator

from midstream.scenarios.streams.stream_spec import Duration, Number, PositiveDuration, StreamSpec, Strict


class PlanSpec(Strict):
    """A plan, by its SQL text, by a file (.sql, or .json), by JSON as YAML, or as a variant of a plan.

    sql                 one query over the scenario's streams and relations, which is run as it is written
    file                relative to the scenario's file
    plan                the output of `midstream.dumps`
    of                  the name of an earlier plan to which this one must be equivalent
    form                `signs` runs windows, and all above them, on positives and negatives
    implementations     names; each is chosen for all operators that it implements
    """

    sql: str | None = None
    file: str | None = None
    plan: dict[str, Any] | None = None
    of: str | None = None
    form: Literal["intervals", "signs"] = "intervals"
    implementations: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_one_form(self) -> PlanSpec:
        texts = sum(form is not None for form in (self.sql, self.file, self.plan))
        if texts != 1 and (texts or self.of is None):
            raise ValueError("exactly one of sql, file and plan, or the plan of which this is another way")
        return self


class AdjustmentSpec(Strict):
    """A change of the size of time windows, of granules, or of the shares of samples, at an instant.

    stream      the stream whose windows, conversions or samples change; without it, all change
    """

    at: Duration
    window: PositiveDuration | None = None
    granule: PositiveDuration | None = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    stream: str | None = None

    @model_validator(mode="after")
    def _has_one_change(self) -> AdjustmentSpec:
        if [self.window, self.granule, self.share].count(None) != 2:
            raise ValueError("one of window, granule and share")
        return self


class RelationSpec(Strict):
    """A constant relation: rows that are always valid."""

    columns: dict[str, str] = Field(min_length=1)
    rows: list[list[Any]]


class MigrationSpec(Strict):
    """A migration at an instant, or when a condition is first met after the migration before it began.

    to          a plan's name, or `optimizer`
    abort_at    the instant at which it is aborted if it is still under way
    unproved    `accept` vouches for a plan that is not proved equivalent to the first one
    """

    at: Duration | None = None
    when: str | None = None
    to: str
    abort_at: Duration | None = None
    unproved: Literal["refuse", "accept"] = "refuse"

    @model_validator(mode="after")
    def _has_one_time(self) -> MigrationSpec:
        if (self.at is None) == (self.when is None):
            raise ValueError("either at or when")
        if self.at is not None and self.abort_at is not None and self.abort_at <= self.at:
            raise ValueError("an instant abort_at that lies behind at")
        return self


class MeasuresSpec(Strict):
    """Measurements of a scenario.

    every       the grid, in chronons; by default a hundredth of the duration
    bytes       True estimates memory, which takes time
    runs        the number of times that each run is made; the least processing of each arrival counts
    in_turn     True makes each run once, and then all again; otherwise a run is repeated at once
    predicted   the span before the end of each bucket from whose elements the cost model predicts
    bucket      the length of the buckets in which policies look at time; by default 5 windows
    """

    every: PositiveDuration | None = None
    bytes: bool = False
    runs: PositiveInt = 1
    in_turn: bool = False
    predicted: PositiveDuration | None = None
    bucket: PositiveDuration | None = None


class StrategySpec(Strict):
    """A strategy by its name, which may stand alone, or with options.

    as          the name of its runs; by default that of the strategy
    ordered     False lets results overtake each other
    whole       True exchanges all operators above the windows, also those that both plans have
    """

    name: str
    called: Annotated[str, Field(min_length=1)] | None = Field(default=None, alias="as")
    ordered: bool = True
    replace_all: bool = Field(default=False, alias="whole")


class PolicySpec(Strict):
    """A policy by its name, which may stand alone, or with options; it decides which plan runs.

    as          the name of its runs; by default that of the policy
    strategy    the strategy by which it migrates; `auto` leaves the choice to the policy
    start       the plan that runs first; by default the one from which the policy costs most
    settings    of the policy, by name; of an autopilot, also the name of a whole set
    unproved    `accept` vouches for plans that are not proved equivalent to the first one
    """

    name: str
    called: Annotated[str, Field(min_length=1)] | None = Field(default=None, alias="as")
    strategy: Literal["genmig", "auto"] = "genmig"
    start: str | None = None
    settings: dict[str, Any] | str = Field(default_factory=dict)
    unproved: Literal["refuse", "accept"] = "refuse"


class BudgetSpec(Strict):
    """A budget within which all queries of a run are kept, with the terms of `Engine.budget`.

    memory, processor   the limits: bytes, or 10 MB; a share of a processor, or 30%
    every               from look to look; by default an eighth of the largest window
    """

    memory: int | float | str | None = None
    processor: float | str | None = None
    rule: Literal["precision", "fraction", "equal"] = "precision"
    weights: dict[str, Number] = Field(default_factory=dict)
    reserve: Number = 0.1
    threshold: Number = 0.1
    every: PositiveDuration | None = None


class LaterQueriesSpec(Strict):
    """Queries of a workload that come at an instant, or steadily from an instant until another.

    share    how many come each time, as a share of those that run at the beginning
    """

    at: Duration
    until: Duration | None = None
    every: PositiveDuration | None = None
    share: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _has_both_or_none(self) -> LaterQueriesSpec:
        if (self.until is None) != (self.every is None):
            raise ValueError("both until and every, or neither")
        return self


Range = Annotated[list[Number], Field(min_length=2, max_length=2)]
"""The least and the largest value."""

DurationRange = Annotated[list[PositiveDuration], Field(min_length=2, max_length=2)]


class WorkloadSpec(Strict):
    """Random queries of the plans of Table 24.1, and the Poisson streams that they read (thesis, 24.4).

    queries             the number of queries that run from the beginning
    seed                of queries, rates and keys
    streams             the number of streams
    windows, granules   the ranges of their bounds
    rates               the range of the rates, in elements a second
    heartbeats          the chronons between heartbeats of each stream
    """

    queries: PositiveInt
    later: list[LaterQueriesSpec] = Field(default_factory=list)
    seed: int = 1
    streams: Annotated[int, Field(ge=4)] = 50
    windows: DurationRange
    granules: DurationRange
    rates: Range
    heartbeats: PositiveDuration | None = None

    @model_validator(mode="after")
    def _is_in_order(self) -> WorkloadSpec:
        for name in ("windows", "granules", "rates"):
            least, most = getattr(self, name)
            if not 0 < least <= most:
                raise ValueError(f"{name} whose first number is above 0, and not above the second")
        return self


def _with_options(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


Chart = Literal["output", "state", "latency", "intermediate", "costs", "regret", "budget"]
"""The names of the charts of a report."""


class ScenarioSpec(Strict):
    """A whole scenario; without migrations and strategies, each plan runs alone.

    With budgets, all plans, and the queries of the workload, run together in each run.
    """

    name: str = Field(min_length=1)
    description: str = ""
    unit: str = "milliseconds"
    seed: int = 1
    repetitions: PositiveInt = 1
    duration: PositiveDuration
    batch: PositiveInt = 1
    streams: dict[str, StreamSpec] = Field(default_factory=dict)
    relations: dict[str, RelationSpec] = Field(default_factory=dict)
    plans: dict[str, PlanSpec] = Field(default_factory=dict)
    workload: WorkloadSpec | None = None
    budgets: dict[str, BudgetSpec] = Field(default_factory=dict)
    start: str | None = None
    migrations: list[MigrationSpec] = Field(default_factory=list)
    adjustments: list[AdjustmentSpec] = Field(default_factory=list)
    strategies: list[Annotated[StrategySpec, BeforeValidator(_with_options)]] = Field(default_factory=list)
    policies: list[Annotated[PolicySpec, BeforeValidator(_with_options)]] = Field(default_factory=list)
    measures: MeasuresSpec = MeasuresSpec()
    captions: dict[Chart, str] = Field(default_factory=dict)
    claims: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_queries(self) -> ScenarioSpec:
        if self.workload is None and not (self.streams and self.plans):
            raise ValueError("streams and plans, one of each at least, or a workload")
        return self
