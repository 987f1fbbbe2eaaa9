"""Run the state machine many times, each time anew, on several processes.

    python tests/fuzz --runs 20000 --workers 2 --seed 7

The runs come in portions, and each portion has a seed of its own: the seed, the next number, and so on. So
what is run does not depend on the number of processes, and the portion that failed can be run alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent / "support"))

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import Midstream

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


def portion(number: int, runs: int) -> str:
    """Run it with a seed; what failed, or nothing."""

    class Counted(Midstream):
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
    told = StringIO()
    try:
        with redirect_stdout(told):
            run_state_machine_as_test(Counted, settings=chosen)
    except Exception:
        return told.getvalue() + traceback.format_exc()
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None, help="of the first portion; another one each time")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    first = secrets.randbelow(10**6) if asked.seed is None else asked.seed
    print(f"{asked.runs} runs from seed {first} on, {asked.workers} at a time", flush=True)
    done = multiprocessing.Value("q", 0)
    began = monotonic()

    def tell() -> None:
        seconds = monotonic() - began
        print(f"{done.value} runs, {done.value / seconds:.1f} per second, {seconds:.0f} s", flush=True)

    with ProcessPoolExecutor(asked.workers, initializer=_share, initargs=(done,)) as pool:
        rest = {
            pool.submit(portion, first + i, min(PORTION, asked.runs - at)): first + i
            for i, at in enumerate(range(0, asked.runs, PORTION))
        }
        while rest:
            finished, _ = wait(rest, EVERY)
            tell()
            for future in finished:
                number = rest.pop(future)
                if failure := future.result():
                    pool.shutdown(wait=False, cancel_futures=True)
                    print(failure)
                    print(f"To repeat: make fuzz SEED={number} RUNS={min(PORTION, asked.runs)}")
                    for process in multiprocessing.active_children():
                        process.terminate()
                    return 1
    print("No run broke the law.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
