"""Plant faults in the code, one at a time, and tell which test finds each.

    make mutants                                          the faults of tests/planted_faults.toml
    make mutants ARGS='--only plans/sql --slow'           some; slow tests look for those that remain

A copy of the project gets the fault. The fast tests that reach the changed file run in it, the nearest first
(see quick.py), until one fails or the time is over. The exit status is 1 where no test finds a fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from quick import ROOT, sources, tests_of

FAULTS = Path(__file__).parent / "planted_faults.toml"
LEFT_OUT = (".git", ".venv", "build", "__pycache__", ".hypothesis", "*.egg-info", ".*_cache")
TIERS = {"fast": ("not slow and not spark", "few"), "slow": ("slow", "ci")}
"""The marks of the tests of a tier, and their profile. A Spark session takes longer than most tests."""
FIRST = 12
"""Test files of one run: loading them all would take longer than the first failure."""


@dataclass(frozen=True)
class Fault:
    """A wrong text in the place of the right one, which the file has once."""

    file: str
    sentence: str
    right: str
    wrong: str

    def planted(self, text: str) -> str:
        """The text of the file with the fault. Raises ValueError unless the right text is there once."""
        if (times := text.count(self.right)) != 1:
            raise ValueError(f"{self.file}: found {self.right!r} {times} times, expected once")
        return text.replace(self.right, self.wrong)


def read(path: Path) -> list[Fault]:
    """The faults of a file."""
    return [Fault(**table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]]


@dataclass(frozen=True)
class Verdict:
    """The test that found a fault, in how many seconds, in which tier; None where none did."""

    fault: Fault
    test: str | None
    seconds: float
    tier: str

    def __str__(self) -> str:
        found = f"{self.tier}: {self.test}" if self.test else "NOT FOUND"
        return f"{self.fault.file}: {self.fault.sentence}\n    {found} ({self.seconds:.0f} s)"


def hunt(fault: Fault, copy: Path, chosen: Sequence[str], tiers: Sequence[str], most: float) -> Verdict:
    """Plant a fault in a copy, let the chosen test files look for it, and take it out again."""
    path = copy / fault.file
    text, began = path.read_text(encoding="utf-8"), time.monotonic()
    path.write_text(fault.planted(text), encoding="utf-8")
    try:
        for tier in tiers:
            until = time.monotonic() + most
            for some in (chosen[i : i + FIRST] for i in range(0, len(chosen), FIRST)):
                test = first_failure(copy, some, tier, until - time.monotonic())
                if test is not None:
                    return Verdict(fault, test, time.monotonic() - began, tier)
    finally:
        path.write_text(text, encoding="utf-8")
    return Verdict(fault, None, time.monotonic() - began, tiers[-1])


def first_failure(copy: Path, files: Sequence[str], tier: str, seconds: float) -> str | None:
    """The first test that fails; None where all pass, or the time is over before one fails."""
    if seconds <= 0:
        return None
    marks, profile = TIERS[tier]
    environment = {**os.environ, "PYTHONPATH": str(copy), "MIDSTREAM_PROFILE": profile}
    command = [sys.executable, "-m", "pytest", "-xq", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    try:
        ran = subprocess.run(
            [*command, "-m", marks, *files],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    if failed is None and ran.returncode not in (0, 5):
        return "the tests cannot be loaded"
    return failed[1] if failed else None


def verdicts(faults: Sequence[Fault], workers: int, tiers: Sequence[str], most: float) -> Iterator[Verdict]:
    """The verdict on each fault, in a copy of the project for each worker."""
    files, copies = sources(), SimpleQueue[Path]()
    chosen = {fault.file: list(tests_of([fault.file], files)) for fault in faults}
    for worker in range(workers):
        copy = ROOT / "build" / "planted" / str(worker)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        copies.put(copy)

    def one(fault: Fault) -> Verdict:
        copy = copies.get()
        try:
            return hunt(fault, copy, chosen[fault.file], tiers, most)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, faults)


def main() -> int:
    """Plant the faults of a file, and print a verdict on each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=Path, default=FAULTS, help="a TOML file of faults")
    parser.add_argument("--only", default="", help="of files whose path begins with this")
    parser.add_argument("--slow", action="store_true", help="give what no fast test finds to the slow ones")
    parser.add_argument(
        "--seconds", type=float, default=300, help="how long tests of a tier may take a fault"
    )
    parser.add_argument("--workers", type=int, default=1, help="how many faults are looked for at a time")
    options = parser.parse_args()
    faults = [fault for fault in read(options.faults) if fault.file.startswith(options.only)]
    tiers = ("fast", "slow") if options.slow else ("fast",)
    missed = 0
    for verdict in verdicts(faults, options.workers, tiers, options.seconds):
        missed += verdict.test is None
        print(verdict, flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults were found.")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
