"""Comparison of policies: the cost of each, beside the best fixed plan and the clairvoyant's cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midstream.autopilot.costs.bill import Bill, Move, best_fixed, bill, clairvoyant
from midstream.autopilot.costs.policies import ChartChoice, Choice, LastBest, Periodic, replay
from midstream.autopilot.costs.series import CostSeries
from midstream.autopilot.settings import BALANCED, Settings
from midstream.scenarios.stages.base.advice import MIGRATION

CLAIRVOYANT = "clairvoyant"


@dataclass(frozen=True, slots=True)
class PolicyBill:
    """A policy with its costs.

    total      the cost of all plans that ran
    of_fixed   the total as a multiple of the best fixed plan's; None where that is 0
    moves      how many migrations it began
    switches   how often it wanted another plan
    fidelity   the share of the contested buckets in which a best plan ran; None where none is contested
    regret     by how much it cost more than the clairvoyant
    of_least   the total as a multiple of the clairvoyant's; None where that is 0
    microseconds    the processor time of all plans that ran, by the cost model, without that of deciding;
                    None where it was not priced
    """

    policy: str
    total: float
    of_fixed: float | None
    moves: int
    switches: int
    fidelity: float | None
    regret: float
    of_least: float | None
    microseconds: float | None = None


def judge(
    courses: CostSeries,
    flights: Mapping[str, Sequence[Move]],
    strategies: Sequence[str],
    period: int,
    charts: Sequence[int],
    processing: CostSeries | None = None,
) -> tuple[tuple[PolicyBill, ...], Bill]:
    """Judge all policies from the given plan on, and return the clairvoyant's bill with them.

    The policies are each fixed plan, the best plan of the last period, charts of so many parts, the flights
    by name, and the clairvoyant.

    strategies   those that are possible; policies that do not choose one take the first
    period       in buckets
    processing   the processor time of the same plans over time, by which the same moves are priced
    """
    least = clairvoyant(courses, strategies)
    bills: dict[str, tuple[Bill, int]] = {
        fixed_policy(label): (bill(courses, number), 0) for number, label in enumerate(courses.labels)
    }
    window, plans = courses.window / courses.bucket, len(courses.plans)
    choices: dict[str, tuple[Choice, int]] = {"repeat last best": (LastBest(), period)}
    choices |= {f"chart, k = {k}": (ChartChoice(plans, k, window), 1) for k in charts}
    for name, (choice, buckets) in choices.items():
        begin, every = courses.starts.start, buckets * courses.bucket
        policy = Periodic(choice, courses.spent, plans, begin, every, strategies[0])
        bills[name] = replay(courses, policy), policy.switches
    flown = {autopilot_policy(name): moves for name, moves in flights.items()}
    for name, moves in flown.items():
        bills[name] = bill(courses, 0, moves), len(moves)
    bills[CLAIRVOYANT] = least, len(least.moves)
    fixed = courses.totals[best_fixed(courses)]
    judged = (
        PolicyBill(
            name,
            one.total,
            _ratio(one.total, fixed),
            len(one.moves),
            switches,
            courses.fidelity(one),
            one.total - least.total,
            _ratio(one.total, least.total),
            None if processing is None else bill(processing, one.start, _again(one, flown.get(name))).total,
        )
        for name, (one, switches) in bills.items()
    )
    return tuple(judged), least


def _again(known: Bill, moves: Sequence[Move] | None) -> Sequence[Move]:
    """The moves of a bill, for other costs; `moves` if they are known.

    Until the split time of GenMig both plans run. How long states to be moved are valid, the costs know.
    """
    if moves is not None:
        return moves
    return [
        Move(
            moved.at,
            moved.new,
            moved.strategy,
            None if moved.strategy == "moving-states" else moved.until - moved.at,
        )
        for moved in known.moves
    ]


def fixed_policy(label: str) -> str:
    """The name of the policy that holds on to an order."""
    return f"always {label}"


def autopilot_policy(name: str) -> str:
    """The name of the policy of an autopilot with some settings."""
    return f"autopilot {name}"


def recommended(judged: Sequence[PolicyBill], grid: Mapping[str, Settings]) -> str:
    """The name of the recommended settings: the default ones, unless others save clearly more.

    Processor time is compared, or what policies cost where that was not priced. Others must save more than
    the share of costs for which the default settings themselves leave a plan. If they do, or the default ones
    were not tried, the cheapest settings are recommended: of equals those with fewer moves, and then the
    first. A smaller saving may be due to one burst, and cost more on later streams.
    """
    found = {one.policy: one for one in judged}

    def cost(name: str) -> float:
        one = found[autopilot_policy(name)]
        return one.total if one.microseconds is None else one.microseconds + MIGRATION * one.moves

    best = min(grid, key=lambda name: (cost(name), found[autopilot_policy(name)].moves))
    default = next((name for name, settings in grid.items() if settings == BALANCED), best)
    saving = cost(default) - cost(best)
    return best if saving > BALANCED.least_saving * cost(default) else default


def front(judged: Sequence[PolicyBill]) -> list[PolicyBill]:
    """The policies that no other one beats by costing less with no more moves, in order of their moves.

    Of equals the first stands for all. The clairvoyant, which nobody can follow, is left out.
    """
    found: list[PolicyBill] = []
    for one in sorted(
        (one for one in judged if one.policy != CLAIRVOYANT), key=lambda one: (one.moves, one.total)
    ):
        if not found or one.total < found[-1].total:
            found.append(one)
    return found


def _ratio(total: float, of: float) -> float | None:
    return total / of if of else None
