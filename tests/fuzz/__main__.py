"""Run the state machine many times, each time anew, on several processes.

    python tests/fuzz --runs 20000 --workers 2 --seed 7

The runs come in portions, and each portion has a seed of its own: the seed, the next number, and so on. So
what is run does not depend on the number of processes, and the portion that failed can be run alone.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import secrets
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import MOVED, OUTCOMES, TALLY, Midstream
from piloted import Piloted

from midstream.migration.strategies import STRATEGIES
from midstream.testing.families import KINDS

Tally = Counter[tuple[str, str]]

PORTION = 200
"""Runs with one seed. Hypothesis begins with small ones, and remembers all in order to try something else."""

STEPS = 25
"""What happens in a run at most."""

EVERY = 5.0
"""Seconds between two lines of progress."""

_done: Any = None


def _share(counter: Any) -> None:
    global _done  # noqa: PLW0603 - how a counter reaches the processes of a pool
    _done = counter


def portion(
    number: int, runs: int, drawn: Sequence[str], by: Sequence[str], is_piloted: bool
) -> tuple[str, Tally]:
    """Run it with a seed, over some kinds of plans, by some strategies, with or without an autopilot; what
    failed, or nothing, and what came of migrations."""
    machine = Piloted if is_piloted else Midstream

    class Counted(machine):
        kinds = drawn
        strategies = by

        def teardown(self) -> None:
            with _done.get_lock():
                _done.value += 1
            super().teardown()

    chosen = settings(
        max_examples=runs,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    seed(number)(Counted)
    TALLY.clear()
    told = StringIO()
    try:
        with redirect_stdout(told):
            run_state_machine_as_test(Counted, settings=chosen)
    except Exception:
        return told.getvalue() + traceback.format_exc(), TALLY
    return "", TALLY


@dataclass
class Campaign:
    """Portions that were run without a failure, and those to come; kept in a file, it can be continued."""

    first: int
    """The seed of the first portion."""
    kinds: Sequence[str] = tuple(KINDS)
    """Of plans: some strategies take few of all of them."""
    strategies: Sequence[str] = tuple(STRATEGIES)
    is_piloted: bool = False
    """Whether an autopilot migrates, too."""
    done: set[int] = field(default_factory=set)
    """The seeds of those that were run."""
    tally: Tally = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> Campaign:
        """As it was written."""
        data = json.loads(path.read_text(encoding="utf-8"))
        counts = {(strategy, outcome): n for strategy, outcome, n in data["tally"]}
        return cls(
            data["first"],
            data["kinds"],
            data["strategies"],
            data.get("autopilot", False),
            set(data["done"]),
            Counter(counts),
        )

    def write(self, path: Path) -> None:
        """To go on from here another time."""
        tally = [[*key, n] for key, n in sorted(self.tally.items())]
        data = {
            "first": self.first,
            "kinds": list(self.kinds),
            "strategies": list(self.strategies),
            "autopilot": self.is_piloted,
            "done": sorted(self.done),
            "tally": tally,
        }
        path.write_text(json.dumps(data), encoding="utf-8")

    def seeds(self) -> Iterator[int]:
        """Those of the portions to come."""
        return (number for number in count(self.first) if number not in self.done)

    def add(self, number: int, tally: Tally) -> None:
        """A portion was run without a failure."""
        self.done.add(number)
        self.tally.update(tally)

    def moved(self, strategy: str, outcomes: Sequence[str] = MOVED) -> int:
        """How many migrations by a strategy came to an end in such a way."""
        return sum(self.tally[strategy, outcome] for outcome in outcomes)

    def table(self) -> str:
        """What came of all migrations, by strategy, and of how many runs."""
        rows = [(name, *(self.tally[name, outcome] for outcome in OUTCOMES)) for name in STRATEGIES]
        total = ("all", *(sum(row[i] for row in rows) for i in range(1, len(OUTCOMES) + 1)))
        lines = [("migrations", *OUTCOMES), *rows, total]
        widths = [max(len(str(cell)) for cell in column) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(f"{cell:<{w}}" if isinstance(cell, str) else f"{cell:>{w}}" for cell, w in pairs)
            for pairs in (zip(line, widths, strict=True) for line in lines)
        ]
        runs = [f"{self.tally[key]} {key[1]}" for key in sorted(self.tally) if not key[0]]
        return "\n".join([*shown, ", ".join(runs)])


@dataclass(frozen=True)
class Goal:
    """When there were enough runs: so many, or so many migrations that moved."""

    runs: int
    moved: int = 0
    another: int = 0
    """To another logical plan."""
    each: int = 0
    """By each strategy."""

    def is_reached(self, campaign: Campaign) -> bool:
        """Whether it is."""
        if not (self.moved or self.another or self.each):
            return campaign.tally["", "runs"] >= self.runs
        return (
            sum(map(campaign.moved, STRATEGIES)) >= self.moved
            and sum(campaign.moved(one, MOVED[1:]) for one in STRATEGIES) >= self.another
            and all(campaign.moved(one) >= self.each for one in campaign.strategies)
        )


def run(campaign: Campaign, goal: Goal, workers: int, path: Path | None) -> str:
    """Run portions until a goal is reached, or the law is broken; then what failed, and how to repeat it."""
    done = multiprocessing.Value("q", 0)
    began = monotonic()
    size = min(PORTION, goal.runs)
    seeds = campaign.seeds()
    with ProcessPoolExecutor(workers, initializer=_share, initargs=(done,)) as pool:
        under_way: dict[Future[tuple[str, Tally]], int] = {}
        try:
            while not goal.is_reached(campaign):
                while len(under_way) < workers:
                    number = next(seeds)
                    drawn = campaign.kinds, campaign.strategies, campaign.is_piloted
                    task = pool.submit(portion, number, size, *drawn)
                    under_way[task] = number
                finished, _ = wait(under_way, EVERY, FIRST_COMPLETED)
                seconds = monotonic() - began
                print(
                    f"{done.value} runs, {done.value / seconds:.1f} per second, {seconds:.0f} s", flush=True
                )
                for future in finished:
                    number = under_way.pop(future)
                    failure, tally = future.result()
                    if failure:
                        only = f"KINDS={','.join(campaign.kinds)} STRATEGIES={','.join(campaign.strategies)}"
                        only += " AUTOPILOT=1" if campaign.is_piloted else ""
                        return f"{failure}\nTo repeat: make fuzz SEED={number} RUNS={size} {only}"
                    campaign.add(number, tally)
                    if path is not None:
                        campaign.write(path)
        finally:
            # What is under way is not waited for: its seed is run another time.
            for process in multiprocessing.active_children():
                process.terminate()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--moved", type=int, default=0, help="run until so many migrations have moved")
    parser.add_argument("--another", type=int, default=0, help="so many of them to another logical plan")
    parser.add_argument("--each", type=int, default=0, help="so many of them by each strategy")
    parser.add_argument("--seed", type=int, default=None, help="of the first portion; another one each time")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of plans; joins and preserving suit all")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="those that migrate")
    parser.add_argument("--autopilot", action="store_true", help="one that migrates at every opportunity")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--log", type=Path, help="keep the counts in this file, and go on from there")
    asked = parser.parse_args()
    if asked.log is not None and asked.log.exists():
        campaign = Campaign.read(asked.log)
    else:
        kinds, strategies = tuple(asked.kinds.split(",")), tuple(asked.strategies.split(","))
        for name, found, known in (("kinds", kinds, KINDS), ("strategies", strategies, STRATEGIES)):
            if not {*found} <= {*known}:
                parser.error(f"--{name}: found {','.join(found)}, expected some of {','.join(known)}")
        first = secrets.randbelow(10**6) if asked.seed is None else asked.seed
        campaign = Campaign(first, kinds, strategies, asked.autopilot)
    goal = Goal(asked.runs, asked.moved, asked.another, asked.each)
    print(f"from seed {campaign.first} on, {asked.workers} portions at a time", flush=True)
    failure = run(campaign, goal, asked.workers, asked.log)
    print(campaign.table())
    print(failure or "No run broke the law.")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
