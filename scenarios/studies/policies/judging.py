"""How policies compare: what each cost, beside the best fixed plan and the cheapest way that there was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midstream.autopilot.costs.bill import Bill, Move, best_fixed, bill, clairvoyant
from midstream.autopilot.costs.policies import ChartChoice, Choice, LastBest, Periodic, replay
from midstream.autopilot.costs.series import CostSeries
from midstream.autopilot.settings import BALANCED, Settings

CLAIRVOYANT = "clairvoyant"


@dataclass(frozen=True, slots=True)
class Judged:
    """A policy.

    total      what all plans that ran cost
    of_fixed   the same as a multiple of what the best fixed plan costs; None where that is 0
    moves      how many migrations it began
    switches   how often it wanted another plan
    fidelity   the share of the contested buckets in which a best plan ran; None where none is contested
    regret     by how much it cost more than the clairvoyant
    of_least   the total as a multiple of the clairvoyant's; None where that is 0
    """

    policy: str
    total: float
    of_fixed: float | None
    moves: int
    switches: int
    fidelity: float | None
    regret: float
    of_least: float | None


def judge(
    courses: CostSeries,
    flights: Mapping[str, Sequence[Move]],
    strategies: Sequence[str],
    period: int,
    charts: Sequence[int],
) -> tuple[tuple[Judged, ...], Bill]:
    """Every policy from the given plan on: each fixed plan; what was best in the last period; charts of so
    many parts; the flights by name; and the clairvoyant, whose bill comes along.

    strategies   those that there are; policies that do not choose one take the first
    period       in buckets
    """
    least = clairvoyant(courses, strategies)
    bills: dict[str, tuple[Bill, int]] = {
        f"always {label}": (bill(courses, number), 0) for number, label in enumerate(courses.labels)
    }
    window, plans = courses.window / courses.bucket, len(courses.plans)
    choices: dict[str, tuple[Choice, int]] = {"repeat last best": (LastBest(), period)}
    choices |= {f"chart, k = {k}": (ChartChoice(plans, k, window), 1) for k in charts}
    for name, (choice, buckets) in choices.items():
        begin, every = courses.starts.start, buckets * courses.bucket
        policy = Periodic(choice, courses.spent, plans, begin, every, strategies[0])
        bills[name] = replay(courses, policy), policy.switches
    for name, moves in flights.items():
        bills[flown(name)] = bill(courses, 0, moves), len(moves)
    bills[CLAIRVOYANT] = least, len(least.moves)
    fixed = courses.totals[best_fixed(courses)]
    judged = (
        Judged(
            name,
            one.total,
            _ratio(one.total, fixed),
            len(one.moves),
            switches,
            courses.fidelity(one),
            one.total - least.total,
            _ratio(one.total, least.total),
        )
        for name, (one, switches) in bills.items()
    )
    return tuple(judged), least


def flown(name: str) -> str:
    """What the policy of an autopilot with some settings is called."""
    return f"autopilot {name}"


def recommended(judged: Sequence[Judged], grid: Mapping[str, Settings]) -> str:
    """The default settings, unless others save more than the share of costs for which these themselves leave
    a plan; then, and where these are not tried, what costs least: of equals the settings with fewer moves,
    and then the first ones.

    What costs a little less may do so by one burst, and cost more on what is to come.
    """
    found = {one.policy: one for one in judged}

    def total(name: str) -> float:
        return found[flown(name)].total

    best = min(grid, key=lambda name: (total(name), found[flown(name)].moves))
    default = next((name for name, settings in grid.items() if settings == BALANCED), best)
    saving = total(default) - total(best)
    return best if saving > BALANCED.least_saving * total(default) else default


def front(judged: Sequence[Judged]) -> list[Judged]:
    """The policies beside which no other one costs less with no more moves, by their moves; the clairvoyant,
    which nobody can follow, is left out.

    Of equals the first one stands for all.
    """
    found: list[Judged] = []
    for one in sorted(
        (one for one in judged if one.policy != CLAIRVOYANT), key=lambda one: (one.moves, one.total)
    ):
        if not found or one.total < found[-1].total:
            found.append(one)
    return found


def _ratio(total: float, of: float) -> float | None:
    return total / of if of else None
