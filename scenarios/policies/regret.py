"""How much policies cost beside what could not be known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from midstream.scenarios.policies.break_even import ByBreakEven
from midstream.scenarios.policies.by_chart import ByChart
from midstream.scenarios.policies.case import Case, Order
from midstream.scenarios.policies.clairvoyant import best_fixed, clairvoyant, hindsight
from midstream.scenarios.policies.on_engine import run
from midstream.scenarios.policies.piloted import Piloted
from midstream.scenarios.policies.policy import How, Policy
from midstream.scenarios.policies.ready import Fixed, Planned, RepeatLastBest
from midstream.scenarios.policies.replay import Bill, replay

Item = Callable[[Order, How], Policy]
"""Makes a policy that starts with an order, and migrates by a strategy."""

ITEMS: Mapping[str, Item] = {
    "repeat last best": RepeatLastBest,
    "break-even": ByBreakEven,
    "autopilot": Piloted,
    "chart": ByChart,
}
"""The policies that decide for themselves, by name."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a policy cost: intermediate results of all plans that ran.

    counted     the same, counted by the engine; None where it did not run
    moves       how many migrations there were
    of_fixed    as a multiple of what the best fixed order cost; None where that is 0
    regret      as a multiple of what the clairvoyant cost; None where that is 0
    """

    policy: str
    total: int
    counted: int | None
    moves: int
    of_fixed: float | None
    regret: float | None


@dataclass(frozen=True, slots=True)
class Regrets:
    """All policies on a case.

    hindsight   intermediate results of the best order of each bucket; no lower bound, as a policy may also
                move within a bucket
    judged      each fixed order, the clairvoyant, and the policies, each from its worst first order
    bills       of each of them, what it did
    priced      the streams
    """

    case: str
    arrivals: int
    how: How
    hindsight: int
    judged: tuple[Judged, ...]
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
        }


def regrets(
    case: Case, how: How = "genmig", items: Mapping[str, Item] = ITEMS, *, with_engine: bool = False
) -> Regrets:
    """Judge policies by the replay; `with_engine` also runs each with the engine."""
    fixed = len(case.traces[best_fixed(case)])
    cheapest = clairvoyant(case, [how])

    bills: list[Bill] = []

    def judged(name: str, make: Callable[[], Policy]) -> Judged:
        bill = replay(case, make())
        bills.append(bill)
        counted = run(case, make()).total if with_engine else None
        return Judged(
            name,
            bill.total,
            counted,
            len(bill.moves),
            _ratio(bill.total, fixed),
            _ratio(bill.total, cheapest.total),
        )

    found = [judged(f"{one} ⋈ {other} first", lambda o=(one, other): Fixed(o)) for one, other in case.orders]  # type: ignore[misc]
    found.append(judged("clairvoyant", lambda: Planned(cheapest)))
    for name, item in items.items():
        worst = _worst(case, item, how)
        found.append(judged(name, lambda item=item, worst=worst: item(worst.start, how)))  # type: ignore[misc]
    return Regrets(case.name, len(case.arrivals), how, hindsight(case), tuple(found), tuple(bills), case)


def _worst(case: Case, item: Item, how: How) -> Bill:
    bills: Sequence[Bill] = [replay(case, item(order, how)) for order in case.orders]
    return max(bills, key=lambda bill: bill.total)


def _ratio(total: int, of: int) -> float | None:
    return total / of if of else None
