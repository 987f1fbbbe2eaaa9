"""How much policies cost beside what could not be known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from midstream.autopilot.costs.bill import Bill, best_fixed, clairvoyant, hindsight
from midstream.autopilot.costs.policies import Fixed, Planned, Policy, replay
from midstream.scenarios.policies.case import Case
from midstream.scenarios.policies.items import ITEMS
from midstream.scenarios.policies.on_engine import fly, run
from midstream.scenarios.policies.policy import How

FLOWN = "engine's autopilot"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a policy cost: intermediate results of all plans that ran.

    counted     the same, counted by the engine; None where it did not run
    moves       how many migrations there were
    of_fixed    as a multiple of what the best fixed order cost; None where that is 0
    regret      as a multiple of what the clairvoyant cost; None where that is 0
    seconds     of the processor, with the engine; None where it did not run
    of_seconds  as a multiple of those of the best fixed order
    """

    policy: str
    total: int
    counted: int | None
    moves: int
    of_fixed: float | None
    regret: float | None
    seconds: float | None = None
    of_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Regrets:
    """All policies on a case.

    hindsight   intermediate results of the best order of each bucket; no lower bound, as a policy may also
                move within a bucket
    judged      each fixed order, the clairvoyant, and the policies, each from its worst first order
    flown       the engine's own autopilot, from its worst first order, where the engine ran: what it does
                cannot be replayed, as it knows samples of the streams
    bills       of each that is judged, what it did
    priced      the streams
    """

    case: str
    arrivals: int
    how: How
    hindsight: int
    judged: tuple[Judged, ...]
    flown: tuple[Judged, ...]
    bills: tuple[Bill, ...]
    priced: Case

    @property
    def is_equal(self) -> bool:
        """Whether the engine counted what the replay did, where it ran."""
        return all(one.counted in (None, one.total) for one in self.judged)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "equal": self.is_equal,
            "case": self.case,
            "arrivals": self.arrivals,
            "how": self.how,
            "hindsight": self.hindsight,
            "judged": [asdict(one) for one in self.judged],
            "flown": [asdict(one) for one in self.flown],
        }


def regrets(
    case: Case,
    how: How = "genmig",
    items: Mapping[str, Callable[..., Policy]] = ITEMS,
    *,
    with_engine: bool = False,
) -> Regrets:
    """Judge policies by the replay. `with_engine` also runs each with the engine, and lets that decide by
    itself."""
    costs = case.costs
    best, cheapest = best_fixed(costs), clairvoyant(costs, [how])
    bills: list[Bill] = []

    def judged(name: str, total: float, counted: int | None, moves: int, seconds: float | None) -> Judged:
        ratios = _ratio(total, costs.totals[best]), _ratio(total, cheapest.total)
        return Judged(name, int(total), counted, moves, *ratios, seconds)

    def replayed(name: str, make: Callable[[], Policy], bill: Bill) -> Judged:
        bills.append(bill)
        ran = run(case, make(), bill.start) if with_engine else None
        counted, seconds = (None, None) if ran is None else (ran.total, ran.seconds)
        return judged(name, bill.total, counted, len(bill.moves), seconds)

    found = [
        replayed(f"{order[0]} ⋈ {order[1]} first", Fixed, replay(costs, Fixed(), number))
        for number, order in enumerate(case.orders)
    ]
    found.append(replayed("clairvoyant", partial(Planned, cheapest.moves), cheapest))
    for name, item in items.items():
        bill = worst(replay(costs, item(case, start, how), start) for start in range(len(case.orders)))
        found.append(replayed(name, partial(item, case, bill.start, how), bill))
    flown = []
    if with_engine:
        flight = max((fly(case, order, how) for order in case.orders), key=lambda one: one.total)
        flown.append(judged(FLOWN, flight.total, flight.total, flight.moves, flight.seconds))
    of = found[best].seconds

    def with_ratios(rows: Sequence[Judged]) -> tuple[Judged, ...]:
        return tuple(replace(one, of_seconds=_ratio(one.seconds or 0.0, of or 0.0)) for one in rows)

    told, of_engine = with_ratios(found), with_ratios(flown)
    by_bucket = int(hindsight(costs, case.bucket))
    return Regrets(case.name, len(case.arrivals), how, by_bucket, told, of_engine, tuple(bills), case)


def worst(bills: Iterable[Bill]) -> Bill:
    """The one that costs most; the first of equals."""
    return max(bills, key=lambda bill: bill.total)


def _ratio(total: float, of: float) -> float | None:
    return total / of if of else None
