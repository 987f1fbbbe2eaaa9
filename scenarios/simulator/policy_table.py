"""Table of the costs of policies on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from midstream.scenarios.simulator.results import HINDSIGHT, Simulation, Spread, alone

STYLES = {"equal": "green", "different": "bold red", "refused": "yellow", "unordered": "yellow"}

OF_MACHINE = "CPU in seconds of this machine: it differs from run to run."


def show_policies(simulation: Simulation, console: Console) -> None:
    """Print the costs of each policy, and the CPU and state that the engine used."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("policy", overflow="fold")
    for heading in ("intermediate results", "moves", "/ best fixed", "/ clairvoyant"):
        table.add_column(heading, justify="right", overflow="fold")
    for name in simulation.policies:
        table.add_row(Text(shown_policy(name)), *policy_cells(simulation, name))
    console.print(table)
    if simulation.unpriced is not None:
        console.print(Text(without_replay(simulation.unpriced), style="dim"))
    ran = [name for name in simulation.policies if simulation.of(name)]
    if not ran:
        return
    engine = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    engine.add_column("with the engine", overflow="fold")
    for heading in ("results", "CPU", "peak state"):
        engine.add_column(heading, justify="right", overflow="fold")
    for one in simulation.compared:
        if one.strategy in ran:
            cpu, state = one.figures["cpu"], one.figures["peak_state"]
            verdict = Text(one.verdict, style=STYLES[one.verdict])
            called = Text(shown_policy(one.strategy))
            engine.add_row(called, verdict, shown_spread(cpu, 3), shown_spread(state, 0))
    console.print(engine)
    console.print(Text(OF_MACHINE, style="dim"))
    for note in unequal(simulation):
        console.print(Text(note, style="bold red"))


def policy_cells(simulation: Simulation, policy: str) -> Iterator[str]:
    """Total, moves, and the total as multiples of the best fixed plan's and the clairvoyant's."""
    yield shown_spread(simulation.spread_of(policy, "total"), 0)
    yield "" if policy == HINDSIGHT else shown_spread(simulation.spread_of(policy, "moves"), 0)
    yield shown_spread(simulation.spread_of(policy, "of_fixed"), 2)
    yield shown_spread(simulation.spread_of(policy, "regret"), 2)


def without_replay(why: str) -> str:
    """The note on plans that replay cannot price."""
    return f"The engine counted all of it. Without a replay there is no clairvoyant: {why}."


def shown_policy(name: str) -> str:
    """The name of a policy as tables show it.

    >>> shown_policy("A and B first alone"), shown_policy("hindsight")
    ('A and B first, all the time', 'hindsight by bucket, moves free')
    """
    if name == HINDSIGHT:
        return "hindsight by bucket, moves free"
    plan = name.removesuffix(alone(""))
    return name if plan == name else f"{plan}, all the time"


def unequal(simulation: Simulation) -> Iterator[str]:
    """Messages for policies whose counts by the engine and by replay differ."""
    for one in simulation.judged:
        if not one.is_equal:
            yield (
                f"{one.policy}, repetition {one.repetition + 1}: "
                f"the engine counted {one.counted:,} intermediate results, the replay {one.total:,}"
            )


def shown_spread(spread: Spread, digits: int, between: str = "") -> str:
    """The median and, if runs differ, the least and the largest value with `between` in between."""
    if spread.median is None or spread.least is None or spread.largest is None:
        return "–"
    median, least, largest = (f"{n:,.{digits}f}" for n in (spread.median, spread.least, spread.largest))
    return median if least == largest else f"{median}\n{least}–{between}{largest}"
