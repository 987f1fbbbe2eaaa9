"""Where the planted faults are looked for: each must be found there, and nothing without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from directed import (
    A_PLAN_THAT_FAILS,
    ACROSS_THE_SPLIT_TIME,
    BELOW_WHAT_STAYS,
    BESIDE_A_RELATION,
    CUT_OTHERWISE,
    EQUALS_CUT_OTHERWISE,
    INPUTS_THAT_DIFFER,
    ONE_INPUT_IS_AHEAD,
    ONE_OUTPUT_IS_AHEAD,
    TWO_QUERIES,
    Story,
)
from hypothesis import strategies as st
from migration_law import ONE_COLUMN, Scenario, dense, equations

from midstream.testing.families import KINDS
from midstream.testing.mutants import MUTANTS, Mutant


@dataclass(frozen=True)
class Hunt:
    """A fault, and where it is to be looked for."""

    mutant: Mutant
    scenarios: st.SearchStrategy[Scenario] | None = None
    """Where the law finds it; without, the state machine does."""
    story: Story | None = None
    """Where it shows for sure, if it takes more than one query or output."""
    seed: int = 2
    """With which it is found soon."""
    strategies: tuple[str, ...] = ("genmig", "genmig-end-timestamp")
    """By which the state machine migrates."""
    kinds: tuple[str, ...] = tuple(KINDS)
    """Of the plans that it draws."""

    def __str__(self) -> str:
        return self.mutant.name


@st.composite
def meeting(draw: st.DrawFn, strategy: str = "genmig") -> Scenario:
    """An early migration amid elements that meet often."""
    scenario = draw(st.integers(0, len(equations(*ONE_COLUMN)) - 1).flatmap(dense))
    ((at, plan, _),) = scenario.moves
    return replace(scenario, moves=[(at, plan, strategy)], whole=strategy == "genmig")


HUNTS = (
    Hunt(MUTANTS["reference-point-below-aggregation"], meeting("genmig-reference-point")),
    Hunt(MUTANTS["parallel-track-over-distinct"], meeting("parallel-track")),
    Hunt(MUTANTS["relations-alone"], st.just(BESIDE_A_RELATION)),
    Hunt(MUTANTS["late-elements-counted"], st.just(ONE_INPUT_IS_AHEAD)),
    Hunt(MUTANTS["waiting-for-a-result"]),
    Hunt(MUTANTS["fragments-dropped"], meeting()),
    Hunt(MUTANTS["no-finer-instant"], meeting()),
    Hunt(MUTANTS["split-too-early"], meeting()),
    Hunt(MUTANTS["deaf-fork"]),
    Hunt(MUTANTS["uncut-fork"], meeting()),
    Hunt(MUTANTS["unknown-progress"]),
    Hunt(MUTANTS["promised-once"], st.just(EQUALS_CUT_OTHERWISE)),
    Hunt(MUTANTS["promised-too-little"], meeting()),
    Hunt(MUTANTS["results-at-the-split-time"], st.just(ACROSS_THE_SPLIT_TIME)),
    Hunt(MUTANTS["forgetful-abort"], story=ONE_OUTPUT_IS_AHEAD),
    Hunt(MUTANTS["lost-by-failure"], st.just(A_PLAN_THAT_FAILS)),
    Hunt(MUTANTS["unproved-inputs"], st.just(INPUTS_THAT_DIFFER)),
    Hunt(MUTANTS["lost-state"], st.just(BELOW_WHAT_STAYS)),
    Hunt(MUTANTS["hasty-guest"], st.just(CUT_OTHERWISE)),
    Hunt(MUTANTS["nothing-is-shared"], story=TWO_QUERIES),
    Hunt(
        MUTANTS["held-elements-forgotten"],
        strategies=("swap", "auto", "genmig-end-timestamp"),
        kinds=("flowing",),
        seed=1,
    ),
    Hunt(
        MUTANTS["windows-over-other-arrangements"],
        kinds=("whole",),
        seed=5,
    ),
)
"""One for each fault."""
