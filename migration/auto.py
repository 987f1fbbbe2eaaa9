"""The strategy `auto`: of the applicable strategies, the one with the smallest predicted overhead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from midstream.migration.end_timestamp import EndTimestampStrategy
from midstream.migration.strategy import Edit
from midstream.operators.engine.graph.host import Host
from midstream.plans.algebra.properties import reads_stream
from midstream.plans.values.errors import MigrationRefused, StatisticsError
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, FOREVER, Time, chronon_end


@dataclass(frozen=True, slots=True)
class AutoStrategy(EndTimestampStrategy):
    """Take the applicable strategy with the smallest predicted overhead.

    Between Boxes there are no plans from which an overhead could be predicted. There it works as
    `genmig-end-timestamp`, whose split time is never later than that of GenMig.
    """

    name: str = "auto"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted cost of a migration by a strategy, beyond the cost of running one plan.

    `duration` is in chronons of application time, from the least progress of the inputs to the split time.
    `state` counts the elements that are kept longer or twice: the old plan's state when the migration begins,
    and the elements that arrive within the duration. `work` counts the extra processing steps of those
    arrivals: one in the old plan, and one in the fuse if there is one. An element in the new plan's initial
    state counts once in `state` and once in `work`.

    >>> Prediction.of("genmig", split=40.5, now=11, rate=2.0, old_state=100, steps=2)
    Prediction(strategy='genmig', duration=30, state=160, work=120)
    """

    strategy: str
    duration: int
    state: int
    work: int

    @property
    def overhead(self) -> int:
        """The sum of elements kept and elements processed."""
        return self.state + self.work

    @classmethod
    def of(
        cls,
        strategy: str,
        *,
        split: Time,
        now: Time,
        rate: float,
        old_state: int,
        steps: int,
        copied: int = 0,
    ) -> Prediction:
        """The prediction for a strategy with this split time.

        `rate` is in elements per chronon, over all inputs. `steps` counts the extra processing steps of an
        element. `old_state` is the old plan's size and `copied` the size of the new plan's initial state,
        both in elements.
        """
        until = chronon_end(split)
        if until <= now or BEGINNING in (until, now) or FOREVER in (until, now):
            return cls(strategy, 0, 0, 0)
        duration = int(until - now)
        doubled = round(rate * duration)
        return cls(strategy, duration, old_state + copied + doubled, steps * doubled + copied)

    @classmethod
    def together(cls, strategy: str, parts: Sequence[Prediction]) -> Prediction:
        """The prediction for several parts of a plan that migrate at the same time."""
        return cls(
            strategy,
            max((part.duration for part in parts), default=0),
            sum(part.state for part in parts),
            sum(part.work for part in parts),
        )

    def __str__(self) -> str:
        return f"{self.strategy} {self.overhead} ({self.duration} chronons)"


def predict(host: Host, query: str, strategy: str, edits: Iterable[Edit]) -> Prediction:
    """The predicted cost of migrating a query by a strategy."""
    speed = _rate(host, query)
    return Prediction.together(
        strategy,
        [
            Prediction.of(
                strategy,
                split=edit.split,
                now=min((time for time in edit.part.reached if time != BEGINNING), default=BEGINNING),
                rate=speed,
                # If the new plan begins with a state, the old plan's state is dropped at once.
                old_state=0 if edit.initial else edit.part.box.size(),
                steps=edit.steps,
                copied=sum(map(len, edit.initial)),
            )
            for edit in edits
        ],
    )


def _rate(host: Host, query: str) -> float:
    """Elements per chronon over the inputs of a query that read streams; 0 if no statistics are known."""
    try:
        observed = host.observe(query)
    except StatisticsError:
        return 0.0
    inputs = host.exchangeable_inputs(query)
    return rate(
        observation for node, observation in observed.items() if node in inputs and reads_stream(node)
    )


def rate(observations: Iterable[Observation]) -> float:
    """Elements per chronon over all inputs, by the elements that arrived last.

    >>> rate([Observation(5, 8, 9, [(0, 1, "a"), (2, 3, "b"), (4, 5, "c")])])
    0.5
    """
    total = 0.0
    for one in observations:
        if len(one.recent) > 1 and (span := one.recent[-1][0] - one.recent[0][0]):
            total += float((len(one.recent) - 1) / span)
    return total


def cheapest(
    predictions: Sequence[Prediction], refusals: Mapping[str, MigrationRefused]
) -> tuple[Prediction, str]:
    """The prediction with the smallest overhead, with the reason; ties go to the first.

    Raises   MigrationRefused with the reasons of all strategies where none is applicable.

    >>> cheapest([Prediction("genmig", 60, 20, 10), Prediction("swap", 0, 0, 0)], {})[1]
    'smallest predicted overhead in elements: swap 0 (0 chronons); genmig 30 (60 chronons)'
    """
    if not predictions:
        last = list(refusals.values())[-1]
        raise MigrationRefused(refused_by_all(refusals), operator=getattr(last, "operator", "None"))
    # Sorting is stable, so the first of equals wins.
    ranked = sorted(predictions, key=lambda one: (one.overhead, one.duration))
    reason = "smallest predicted overhead in elements: " + "; ".join(map(str, ranked))
    reason += "".join(f"; {name} refused: {why}" for name, why in refusals.items())
    return ranked[0], reason


def refused_by_all(refusals: Mapping[str, MigrationRefused]) -> str:
    """The message that no strategy is applicable: each reason once, with the strategies that gave it.

    The names are left out if all strategies gave the same reason.

    >>> refused_by_all({"swap": MigrationRefused("it is late"), "genmig": MigrationRefused("it never ends")})
    'no strategy is applicable: swap: it is late; genmig: it never ends'
    """
    by_reason: dict[str, list[str]] = {}
    for name, why in refusals.items():
        by_reason.setdefault(str(why), []).append(name)
    if len(by_reason) == 1:
        (text,) = by_reason
    else:
        text = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return f"no strategy is applicable: {text}"
