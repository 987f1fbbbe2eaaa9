"""Whether a plan may take the place of another: by proof, or on the caller's word."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial

from midstream.migration.transition import Transition
from midstream.plans.algebra.plan import Plan
from midstream.plans.equivalence.comparison import Comparing, next_answer
from midstream.plans.values.arguments import require
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.verdicts import Answer, Equivalence

UNPROVED = ("refuse", "accept")
"""What a caller may say about plans of which it is unknown whether they mean the same."""


def require_equivalence(answer: Equivalence, unproved: str) -> None:
    """Refuse plans that do not mean the same; and such of which that is unknown, unless the caller vouches
    for it.

    Raises   MigrationRefused, with the answer as `equivalence`.
    """
    if answer.answer is Answer.REFUTED:
        drawn = "" if answer.counterexample is None else f"\n{answer.counterexample.drawn('old', 'new')}\n"
        raise MigrationRefused(
            f"the plans do not mean the same: {answer.reason}{drawn or '; '}"
            "To change what the query means, replace it: engine.replace(plan, at=T) ends the old query at T "
            "and begins the new one there",
            equivalence=answer,
        )
    if answer.answer is Answer.UNKNOWN and unproved == "refuse":
        raise MigrationRefused(
            f"it is unknown whether the plans mean the same: {answer.reason}. If you know that they do, say "
            'unproved="accept", on the command line --accept-unproved',
            equivalence=answer,
        )


def require_proof_of(proof: Equivalence, old: Plan, new: Plan) -> None:
    """Refuse a proof that is about other plans.

    Raises   MigrationRefused.
    """
    require("migrate: proof", proof, Equivalence, "what ms.equivalent(running plan, new plan) returns")
    if proof.plans is None or set(proof.plans) != {old, new}:
        raise MigrationRefused(
            "the proof is about other plans; found one of "
            + ("two streams" if proof.plans is None else "plans that are not the running one and the new one")
            + ", expected what ms.equivalent(running plan, new plan) returns"
        )


def check_in_slices(
    transition: Transition, comparing: Comparing, begin: Callable[[Equivalence], Transition]
) -> Generator[None, None, None]:
    """Go on comparing, a step at a time, and begin when the answer permits it.

    Aborting the transition ends it. Closing it, as when all streams have ended, aborts the transition.
    """
    try:
        yield  # one that has not begun would not notice that it is closed
        while transition.is_checking:
            answer = next_answer(comparing)
            if answer is not None:
                transition.take_turn(partial(begin, answer))
                return
            yield
    except GeneratorExit:
        if transition.is_checking:
            transition.abort("all streams ended before it was known whether the plans mean the same")
        raise
