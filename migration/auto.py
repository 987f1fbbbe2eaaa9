"""Which strategy to take: the applicable one with the smallest predicted overhead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from midstream.migration.end_timestamp import EndTimestampStrategy
from midstream.migration.strategy import Edit
from midstream.operators.engine.host import Host
from midstream.plans.algebra.properties import reads_stream
from midstream.plans.values.errors import MigrationRefused, StatisticsError
from midstream.plans.values.observations import Observation
from midstream.plans.values.streams import BEGINNING, FOREVER, Time, chronon_end


@dataclass(frozen=True, slots=True)
class AutoStrategy(EndTimestampStrategy):
    """The cheapest of the others. Between Boxes there is nothing to compare: the earliest split time is never
    the worse."""

    name: str = "auto"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a migration by a strategy is going to cost beyond running one plan.

    `duration` is in chronons of application time, from the least progress of the inputs to the split time.
    `state` counts the elements that are kept longer or twice: those that the old plan keeps when it begins,
    and those that come within the duration. `work` counts what happens to the latter beyond what the new plan
    does: once in the old plan, and once in the fuse where there is one. Elements that the new plan is given
    to begin with count once in each.

    >>> Prediction.of("genmig", split=40.5, now=11, rate=2.0, kept=100, steps=2)
    Prediction(strategy='genmig', duration=30, state=160, work=120)
    """

    strategy: str
    duration: int
    state: int
    work: int

    @property
    def overhead(self) -> int:
        """Elements kept and elements processed, taken together."""
        return self.state + self.work

    @classmethod
    def of(
        cls, strategy: str, *, split: Time, now: Time, rate: float, kept: int, steps: int, copied: int = 0
    ) -> Prediction:
        """Of a strategy with that split time; `rate` is in elements per chronon, of all inputs, `steps` what
        happens to an element in vain, and `copied` how many elements the new plan is given to begin with."""
        until = chronon_end(split)
        if until <= now or BEGINNING in (until, now) or FOREVER in (until, now):
            return cls(strategy, 0, 0, 0)
        duration = int(until - now)
        doubled = round(rate * duration)
        return cls(strategy, duration, kept + copied + doubled, steps * doubled + copied)

    @classmethod
    def together(cls, strategy: str, parts: Sequence[Prediction]) -> Prediction:
        """Of several parts of a plan that are exchanged at the same time."""
        return cls(
            strategy,
            max((part.duration for part in parts), default=0),
            sum(part.state for part in parts),
            sum(part.work for part in parts),
        )

    def __str__(self) -> str:
        return f"{self.strategy} {self.overhead} ({self.duration} chronons)"


def predict(host: Host, query: str, strategy: str, edits: Iterable[Edit]) -> Prediction:
    """What a migration of a query by a strategy is going to cost."""
    speed = _rate(host, query)
    return Prediction.together(
        strategy,
        [
            Prediction.of(
                strategy,
                split=edit.split,
                now=min((time for time in edit.part.reached if time != BEGINNING), default=BEGINNING),
                rate=speed,
                # Where the new plan has its state from the beginning, the old one's is not kept.
                kept=0 if edit.initial else edit.part.box.size(),
                steps=edit.steps,
                copied=sum(map(len, edit.initial)),
            )
            for edit in edits
        ],
    )


def _rate(host: Host, query: str) -> float:
    """Elements per chronon of a query's inputs that elements arrive on; 0 where that is not known."""
    try:
        observed = host.observe(query)
    except StatisticsError:
        return 0.0
    inputs = host.exchangeable_inputs(query)
    return rate(one for node, one in observed.items() if node in inputs and reads_stream(node))


def rate(observations: Iterable[Observation]) -> float:
    """Elements per chronon of all inputs together, by what was seen last.

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
    """The prediction with the smallest overhead, the first of equals, and why.

    Raises   MigrationRefused with the reasons of all strategies where none is applicable.

    >>> cheapest([Prediction("genmig", 60, 20, 10), Prediction("swap", 0, 0, 0)], {})[1]
    'smallest predicted overhead in elements: swap 0 (0 chronons); genmig 30 (60 chronons)'
    """
    if not predictions:
        last = list(refusals.values())[-1]
        raise MigrationRefused(refused_by_all(refusals), operator=getattr(last, "operator", "None"))
    # Sorting is stable, so that what is listed first wins a tie.
    ranked = sorted(predictions, key=lambda one: (one.overhead, one.duration))
    reason = "smallest predicted overhead in elements: " + "; ".join(map(str, ranked))
    reason += "".join(f"; {name} refused: {why}" for name, why in refusals.items())
    return ranked[0], reason


def refused_by_all(refusals: Mapping[str, MigrationRefused]) -> str:
    """That no strategy is applicable, and why: each reason once, with the strategies that give it unless all
    do.

    >>> refused_by_all({"swap": MigrationRefused("it is late"), "genmig": MigrationRefused("it never ends")})
    'no strategy is applicable: swap: it is late; genmig: it never ends'
    """
    by_reason: dict[str, list[str]] = {}
    for name, why in refusals.items():
        by_reason.setdefault(str(why), []).append(name)
    if len(by_reason) == 1:
        (told,) = by_reason
    else:
        told = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return f"no strategy is applicable: {told}"
