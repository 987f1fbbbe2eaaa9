"""Verify a change of a query: compare two plans, also by rules of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from midstream.optimizer.rules import Rule
from midstream.optimizer.search import PROVING, prove
from midstream.optimizer.verification import RuleCheck, verify_rule
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.equivalence import comparison
from midstream.plans.equivalence.certificate import Certificate, Step
from midstream.plans.equivalence.refutation import STEPS
from midstream.plans.values.errors import InputFileError, MidstreamError
from midstream.plans.values.streams import BEGINNING, FOREVER
from midstream.plans.values.verdicts import Answer, Equivalence

RULE_PLANS = 10
"""The number of plans on which a user's rule is tried, which takes some seconds."""

STATUS = {Answer.PROVED: 0, Answer.REFUTED: 1, Answer.UNKNOWN: 3}
"""The exit status of each answer.

Unknown has its own status, because it is neither a refutation nor a proof. 2 is bad input, as in all
commands.
"""


@dataclass(frozen=True, slots=True)
class Verified:
    """The answer, and the checks of the rules that it may rest on."""

    answer: Equivalence
    checks: Sequence[RuleCheck]
    """Checks of the user's rules."""

    @property
    def status(self) -> int:
        """The exit status."""
        return STATUS[self.answer.answer]

    @property
    def steps(self) -> Sequence[Step]:
        """The steps of the proof, if there is one."""
        certificate = self.answer.certificate
        return certificate.steps if isinstance(certificate, Certificate) else ()

    @property
    def used(self) -> list[RuleCheck]:
        """Checks of the user's rules that the proof uses."""
        names = {step.rule for step in self.steps}
        return [check for check in self.checks if check.rule in names]

    def __str__(self) -> str:
        lines = [f"{self.answer.answer.value}: {self.answer.reason}"]
        lines += [f"  {number}. {step}" for number, step in enumerate(self.steps, 1)]
        if self.answer.counterexample is not None:
            lines.append(self.answer.counterexample.drawn("old", "new"))
        lines += [f"tested, not proved: {check}" for check in self.used]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data for JSON; times are chronons, and FOREVER is null."""
        example = self.answer.counterexample
        return {
            "answer": self.answer.answer.value,
            "reason": self.answer.reason,
            "steps": [
                {
                    "rule": step.rule,
                    "reversed": step.is_reversed,
                    "output": step.output,
                    "place": list(step.place),
                    "before": str(Plan(step.before)),
                    "after": str(Plan(step.after)),
                }
                for step in self.steps
            ],
            "counterexample": None
            if example is None
            else {
                "streams": {name: _listed(elements) for name, elements in example.streams.items()},
                "output": example.output,
                "old": _listed(example.left),
                "new": _listed(example.right),
            },
            "rules": [
                {"name": check.rule, "plans": check.plans, "inputs": check.inputs, "used": check in self.used}
                for check in self.checks
            ],
        }


def verify(
    old: Plan,
    new: Plan,
    rules: Sequence[Rule] = (),
    checks: Sequence[RuleCheck] = (),
    *,
    steps: int = STEPS,
    seconds: float | None = None,
) -> Verified:
    """Compare two plans.

    The user's rules were tested, but not proved. If a proof needs one of them, the search for a
    counter-example must fail as well.
    """
    prover = partial(prove, rules=(*PROVING, *rules))
    answer = comparison.equivalent(old, new, steps=steps, seconds=seconds, prover=prover)
    verified = Verified(answer, checks)
    if verified.used:
        searched = comparison.equivalent(old, new, steps=steps, seconds=seconds)
        if searched.answer is Answer.REFUTED:
            return Verified(searched, checks)
    return verified


def read_rules(path: Path) -> tuple[list[Rule], dict[str, list[Node]]]:
    """Read the RULES of a Python file, and its optional EXAMPLES: by rule name, subplans to try the rule on.

    Raises   InputFileError where the file cannot be read; MidstreamError where it fails, or defines other
             values.
    """
    from midstream.commands.python_files import definitions

    defined = definitions(path)
    rules, examples = defined.get("RULES"), defined.get("EXAMPLES", {})
    if not isinstance(rules, Sequence) or not all(isinstance(rule, Rule) for rule in rules):
        raise InputFileError(
            f"{path}: found no RULES, expected a list of rules (midstream.optimizer.Rule)", path=path
        )
    if not isinstance(examples, Mapping):
        raise InputFileError(f"{path}: EXAMPLES must be a mapping from names of rules", path=path)
    return list(rules), {name: [_node(path, one) for one in given] for name, given in examples.items()}


def check_rules(path: Path, rules: Sequence[Rule], examples: Mapping[str, Sequence[Node]]) -> list[RuleCheck]:
    """Try each rule, and return the checks.

    Raises   MidstreamError where a rule is refuted, has the name of another one, or applies to no subplan.
    """
    known = {rule.name for stage in PROVING for rule in stage.rules}
    checks = []
    for rule in rules:
        if rule.name in known:
            raise MidstreamError(f"{path}: there is already a rule {rule.name}; give yours another name")
        known.add(rule.name)
        check = verify_rule(rule, plans=RULE_PLANS, examples=examples.get(rule.name, ()))
        if check.answer is Answer.REFUTED:
            raise MidstreamError(f"{path}: {check}")
        if not check.plans:
            hint = f"give some in EXAMPLES = {{{rule.name!r}: [stream, …]}}, or look at its shape"
            raise MidstreamError(f"{path}: {check}; {hint}")
        checks.append(check)
    return checks


def _node(path: Path, example: object) -> Node:
    match example:
        case Node():
            return example
        case Stream():
            return example.node
        case Plan():
            return example.root
    raise InputFileError(f"{path}: EXAMPLES: found {example!r}, expected streams, plans or nodes", path=path)


def _listed(elements: Sequence[Any]) -> list[dict[str, Any]]:
    infinity = (FOREVER, BEGINNING)
    return [
        {
            "start": None if start in infinity else start,
            "end": None if end in infinity else end,
            "row": list(row),
        }
        for start, end, row in elements
    ]
