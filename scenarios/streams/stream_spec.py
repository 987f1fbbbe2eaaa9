"""Streams as scenario files describe them: arrival, values, lag, disorder, heartbeats.

Durations and instants are chronons here; in a file they may have a unit ("2 s"). A `Course` is a number that
may change over application time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeInt,
    PlainValidator,
    PositiveInt,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from midstream.plans.values.finite import is_finite
from midstream.plans.values.units import TimeUnit


class Strict(BaseModel):
    """A model without unknown keys, conversions or changes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in known:
                    raise PydanticCustomError("unknown_key", "no such key", {"key": key, "known": known})
        return data


def _chronons(value: Any, info: ValidationInfo) -> Any:
    """`"2 s"` in chronons of the scenario's unit; numbers are chronons already."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("a whole number of chronons, or one with a unit, for example 2 s")
    if isinstance(value, int):
        return value
    unit: TimeUnit = (info.context or {})["unit"]
    return unit.duration(value)


Duration = Annotated[NonNegativeInt, BeforeValidator(_chronons)]
"""Chronons, 0 or more."""
PositiveDuration = Annotated[PositiveInt, BeforeValidator(_chronons)]
"""Chronons, 1 or more."""


def _number(value: Any) -> int | float:
    if type(value) not in (int, float) or not is_finite(value):
        raise ValueError("a number")
    return value  # type: ignore[no-any-return]


Number = Annotated[int | float, PlainValidator(_number)]


class Changing(Strict):
    """A number that changes by steps, or linearly between points.

    Before the first point and after the last it is constant.

    >>> Changing(linear={0: 10, 100: 20}).at(50), Changing(steps={0: 10, 100: 20}).at(99)
    (15.0, 10)
    """

    steps: dict[Duration, Number] = Field(default_factory=dict)
    linear: dict[Duration, Number] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one_form(self) -> Changing:
        if bool(self.steps) == bool(self.linear):
            raise ValueError("either steps or linear, with one point at least")
        points = list(self.steps or self.linear)
        if points != sorted(points):
            raise ValueError("points in order of time")
        return self

    def at(self, time: float) -> int | float:
        """The number at an instant."""
        course = self.steps or self.linear
        points = list(course)
        i = bisect_right(points, time)
        if i == 0:
            return course[points[0]]
        before = course[points[i - 1]]
        if self.steps or i == len(points):
            return before
        share = (time - points[i - 1]) / (points[i] - points[i - 1])
        return before + share * (course[points[i]] - before)

    def values(self) -> list[int | float]:
        """All numbers of the steps or points."""
        return list((self.steps or self.linear).values())


def _form(value: Any) -> str:
    return "changing" if isinstance(value, dict | Changing) else "constant"


Course = Annotated[
    Annotated[Number, Tag("constant")] | Annotated[Changing, Tag("changing")], Discriminator(_form)
]
"""A constant number, or a changing one."""


def _not_negative(course: Course) -> Course:
    if min(course.values() if isinstance(course, Changing) else [course]) < 0:
        raise ValueError("numbers from 0 on")
    return course


def _points(*courses: Course) -> list[int]:
    """Instants between which courses are linear: what holds for a sum at all of them holds in between."""
    changing = [course for course in courses if isinstance(course, Changing)]
    found = [time for course in changing for time in (course.steps or course.linear)]
    return [0, *found, *(time - 1 for time in found)]


Amount = Annotated[Course, AfterValidator(_not_negative)]
"""A course that never falls below 0."""

Lag = Annotated[
    Annotated[Duration, Tag("constant")] | Annotated[Changing, Tag("changing")],
    Discriminator(_form),
    AfterValidator(_not_negative),
]
"""A duration that is never below 0; the numbers of a changing one are chronons."""


def number_at(number: Course, time: float) -> int | float:
    """The value of a number, constant or changing, at an instant."""
    return number.at(time) if isinstance(number, Changing) else number


Type = Literal["integer", "float", "string", "boolean"]

TYPES: Mapping[type, Type] = {int: "integer", float: "float", str: "string", bool: "boolean"}
"""Types of columns by the types of values in Python."""


class Uniform(Strict):
    """Each value between `low` and `high`, both included, is equally likely."""

    values: Literal["uniform"]
    low: Course
    high: Course
    type: Literal["integer", "float"] = "integer"

    @model_validator(mode="after")
    def _is_in_order(self) -> Uniform:
        if any(
            number_at(self.low, time) > number_at(self.high, time) for time in _points(self.low, self.high)
        ):
            raise ValueError("a low that is never above high")
        return self


class Zipf(Strict):
    """Rank k out of `1 … n` has a probability proportional to 1 / k ** exponent.

    Its value is `first + (k - 1 + shift) mod n`.
    """

    values: Literal["zipf"]
    n: PositiveInt
    exponent: Amount = 1.0
    first: int = 0
    shift: Course = 0
    type: Literal["integer"] = "integer"


class Normal(Strict):
    """Normally distributed; integers are rounded."""

    values: Literal["normal"]
    mean: Course
    deviation: Amount
    type: Literal["integer", "float"] = "float"


class Constant(Strict):
    """A constant, or the value of a course."""

    values: Literal["constant"]
    value: Any

    @field_validator("value", mode="plain")
    @classmethod
    def _is_a_value(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, dict):
            return Changing.model_validate(value, context=info.context)
        return value if isinstance(value, str | bool) else _number(value)

    @property
    def type(self) -> Type:
        """Of what it holds."""
        value = self.value
        if isinstance(value, Changing):
            return "float" if value.linear or any(isinstance(n, float) for n in value.values()) else "integer"
        return TYPES[type(value)]


class Choice(Strict):
    """One of several texts, in proportion to their weights."""

    values: Literal["choice"]
    of: dict[str, Amount] = Field(min_length=1)
    type: Literal["string"] = "string"

    @model_validator(mode="after")
    def _is_possible(self) -> Choice:
        if not all(
            any(number_at(weight, time) for weight in self.of.values()) for time in _points(*self.of.values())
        ):
            raise ValueError("a weight above 0 at every instant")
        return self


class Sequence(Strict):
    """`first`, `first + step`, …; begins anew after `length` values, if that is given."""

    values: Literal["sequence"]
    first: int = 0
    step: int = 1
    length: PositiveInt | None = None
    type: Literal["integer"] = "integer"


class Recorded(Strict):
    """A column of a trace, under its own name or that of `column`."""

    values: Literal["recorded"]
    type: Type
    column: str | None = None


Values = Annotated[
    Uniform | Zipf | Normal | Constant | Choice | Sequence | Recorded, Field(discriminator="values")
]


class Regular(Strict):
    """`rate` elements per second, at equal distances."""

    process: Literal["constant"]
    rate: Amount


class Poisson(Strict):
    """`rate` elements per second on average, independent of one another."""

    process: Literal["poisson"]
    rate: Amount


class Bursts(Strict):
    """`rate` elements per second, and `burst` elements per second during bursts.

    Bursts last `lasting`, with `pause` in between. With `random` both are means of exponentially distributed
    times, otherwise exact; a pause comes first.
    """

    process: Literal["bursts"]
    rate: Amount
    burst: Amount
    pause: PositiveDuration
    lasting: PositiveDuration
    random: bool = False


class Trace(Strict):
    """A recording: a CSV, JSON Lines or Parquet file.

    path        relative to the folder with the data, or to that of the scenario file
    time        the column with the timestamps
    unit        of timestamps that are integers, as words: s, ms …; dates need none. The first element taken
                starts at `offset`
    origin      the timestamp that is instant 0 (plus `offset`); by default the first one
    speed       the speed relative to that of the recording
    limit       the largest number of elements taken
    where       by column, the value that a row must have
    """

    process: Literal["trace"]
    path: Annotated[Path, Field(strict=False)]
    time: str
    unit: str | None = None
    offset: Duration = 0
    origin: int | None = None
    speed: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    limit: PositiveInt | None = None
    where: Mapping[str, str | int | float | bool] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_unit(self) -> Trace:
        if self.origin is not None and self.unit is None:
            raise ValueError("a unit, as the origin is an integer")
        return self


Process = Annotated[Regular | Poisson | Bursts | Trace, Field(discriminator="process")]


class Idle(Strict):
    """Nothing arrives in `[since, until)`; all that was held up arrives at `until`, at once.

    With `heartbeats`, the stream's heartbeats, if it has any, go on meanwhile. They claim only what is true:
    none goes beyond the start of an element that is held up.
    """

    since: Duration
    until: PositiveDuration
    heartbeats: bool = True

    @model_validator(mode="after")
    def _is_not_empty(self) -> Idle:
        if self.since >= self.until:
            raise ValueError("an instant `until` that lies behind `since`")
        return self


class StreamSpec(Strict):
    """A stream of a scenario.

    lag         the chronons between the start of an element and its arrival
    disorder    the largest additional delay, drawn at random; `slack` must cover it
    slack       the slack that is declared to the engine; None for no declaration
    heartbeats  the chronons between heartbeats
    count       the largest number of elements
    """

    columns: dict[str, Values] = Field(min_length=1)
    arrivals: Process
    lag: Lag = 0
    disorder: Duration = 0
    slack: Duration | None = None
    heartbeats: PositiveDuration | None = None
    idle: list[Idle] = Field(default_factory=list)
    count: PositiveInt | None = None

    @model_validator(mode="after")
    def _is_covered(self) -> StreamSpec:
        if self.disorder and (self.slack is None or self.slack < self.disorder):
            raise ValueError(f"a slack of {self.disorder} or more, which covers the disorder")
        if any(after.since < before.until for before, after in pairwise(self.idle)):
            raise ValueError("idle phases one after the other")
        recorded = [name for name, column in self.columns.items() if isinstance(column, Recorded)]
        if recorded and not isinstance(self.arrivals, Trace):
            raise ValueError(f"a trace, as column {recorded[0]} is recorded")
        return self
