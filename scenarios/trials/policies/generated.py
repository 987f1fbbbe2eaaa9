"""Generated joins of three streams with changing rates or selectivities, by which policies are judged.

Streams a, b and c are joined by a.x = b.x and b.y = c.y. Elements come by a Poisson process, and values are
equally likely. With K values, streams with r and s elements per window have 2 r s / K pairs per window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random

from midstream.scenarios.trials.policies.case import Case, Row

WINDOW = 1000
"""In chronons."""

BUCKET = 5 * WINDOW

SLOW, FAST = 20, 100
"""Elements per window."""

FEW, MANY = 4, 20
"""Numbers of values: FEW give five times as many pairs as MANY."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A time, in windows, with the elements of a, b and c per window and the numbers of values of x and y."""

    windows: float
    rates: tuple[float, float, float] = (SLOW, SLOW, SLOW)
    values: tuple[int, int] = (MANY, MANY)


def generated(name: str, phases: Sequence[Phase], seed: int) -> Case:
    """A case of several phases."""
    random = Random(f"{name} {seed}")
    return Case(
        name,
        WINDOW,
        BUCKET,
        {"a": ("x",), "b": ("x", "y"), "c": ("y",)},
        {("a", "b"): ("x", "x"), ("b", "c"): ("y", "y")},
        {stream: list(_stream(i, phases, random)) for i, stream in enumerate("abc")},
    )


def _stream(i: int, phases: Sequence[Phase], random: Random) -> Iterator[tuple[int, Row]]:
    start = 0.0
    columns = ((0,), (0, 1), (1,))[i]
    for phase in phases:
        beyond, time = start + phase.windows, start
        while (time := time + random.expovariate(phase.rates[i])) < beyond:
            yield int(time * WINDOW), tuple(random.randrange(phase.values[column]) for column in columns)
        start = beyond


def selectivity_flip(seed: int = 1) -> Case:
    """First x has few values, then y."""
    return generated(
        "selectivity flip", [Phase(100, values=(FEW, MANY)), Phase(100, values=(MANY, FEW))], seed
    )


def rate_burst(seed: int = 1) -> Case:
    """a is twice as fast as the others; c twice becomes five times as fast for a while."""
    calm = Phase(60, (2 * SLOW, SLOW, SLOW))
    burst = Phase(40, (2 * SLOW, SLOW, FAST))
    return generated("rate burst", [calm, burst, calm, burst, calm], seed)


def slow_drift(seed: int = 1) -> Case:
    """a slows down gradually, and c speeds up: from 5 : 1 to 1 : 5."""
    steps = 200
    change = [(FAST - SLOW) * i / (steps - 1) for i in range(steps)]
    return generated("slow drift", [Phase(1, (FAST - more, SLOW, SLOW + more)) for more in change], seed)


def flips(windows: float, total: float, name: str, seed: int = 1) -> Case:
    """x and y have few values in turn, each for `windows` windows."""
    turns = round(total / windows)
    return generated(
        name,
        [Phase(windows, values=(MANY, FEW) if turn % 2 else (FEW, MANY)) for turn in range(turns)],
        seed,
    )


def periodic(windows: float, seed: int = 1) -> Case:
    """Four turns."""
    return flips(windows, 4 * windows, f"periodic, {windows:g} windows", seed)


def adversarial(windows: float, seed: int = 1) -> Case:
    """Turns as short as it takes to mislead a policy, for 256 windows."""
    return flips(windows, 256, f"flips every {windows:g} windows", seed)


def stationary(pairs: float, seed: int = 1) -> Case:
    """The better order has `pairs` pairs per window, the other one half as many again."""
    rate = sqrt(pairs * MANY / 2)
    return generated(
        f"stationary, {pairs:g} pairs, seed {seed}", [Phase(200, (rate, rate, 1.5 * rate))], seed
    )


def situations(seed: int = 1) -> Case:
    """Forty phases of 4 to 40 windows, each with newly drawn rates and numbers of values."""
    random = Random(f"situations {seed}")
    phases = [
        Phase(
            random.uniform(4, 40),
            (random.uniform(0, 2 * SLOW), random.uniform(0, 2 * SLOW), random.uniform(0, 2 * SLOW)),
            (random.randint(FEW, MANY), random.randint(FEW, MANY)),
        )
        for _ in range(40)
    ]
    return generated("situations by chance", phases, seed)


FLIPS = (0.5, 1, 2, 3, 4, 8, 16, 32, 64)
"""The lengths of turns, in windows."""

GENERATED: Mapping[str, Callable[[int], Case]] = {
    "selectivity-flip": selectivity_flip,
    "rate-burst": rate_burst,
    "slow-drift": slow_drift,
    "periodic-50": lambda seed: periodic(50, seed),
    "periodic-100": lambda seed: periodic(100, seed),
    **{f"flips-{windows:g}": lambda seed, windows=windows: adversarial(windows, seed) for windows in FLIPS},  # type: ignore[misc]
    "stationary-150": lambda seed: stationary(150, seed),
    "stationary-16": lambda seed: stationary(16, seed),
    "situations": situations,
}
"""Functions that generate a case from a seed, by name."""
