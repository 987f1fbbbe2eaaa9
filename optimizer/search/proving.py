"""Proofs that two plans are equivalent: rules and the normal form make one subplan of both in a memo."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from midstream.optimizer.rules import BAGS, JOINS, RULES, WINDOWS, Rule, Stage, flat
from midstream.optimizer.search.exploring import Exploration
from midstream.optimizer.search.memo import Memo
from midstream.optimizer.search.simplifying import link, simplify
from midstream.plans.algebra.builder import AnyPlan
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical_plan
from midstream.plans.equivalence import comparison
from midstream.plans.equivalence.certificate import NORMAL_FORM, Certificate, Step
from midstream.plans.equivalence.prover import Meanings
from midstream.plans.equivalence.refutation import STEPS as INPUTS
from midstream.plans.values.schema import Type
from midstream.plans.values.streams import Element
from midstream.plans.values.verdicts import Equivalence

PROVING: tuple[Stage, ...] = (*RULES, *WINDOWS, *BAGS, *JOINS)
"""The rules that proofs use: all but those that reverse others."""

STEPS = 1_500
"""Default limit of rule applications."""

Proving = Generator[None, None, "Certificate | None"]
"""Pauses before each application of a rule; returns a proof, or None if there is none."""

Meaning = tuple[tuple[tuple[str, Type], ...], int]
"""The columns of a subplan, and the number of its normal form."""


def prove(left: Plan, right: Plan, *, rules: Sequence[Rule | Stage] = PROVING, steps: int = STEPS) -> Proving:
    """Search for a derivation of one plan from another.

    Both plans are simplified and put into one memo. Rules are applied in rounds. Before each round, subplans
    with the same normal form are merged, so that rules need not do the work of the normal form: the order of
    joins and of filters, and the form of conditions. The plans are equivalent if their outputs come to be in
    the same groups. A rule is applied only if expressions that may raise are evaluated on the same rows as
    before: an error on one side alone is a difference.

    Cost     At most `steps` applications of rules; O(expressions) normal forms.
    """
    left, right = logical_plan(left), logical_plan(right)
    proof = _Proof(rules)
    pairs = [(proof.begin(root), proof.begin(right.outputs[name])) for name, root in left.outputs.items()]
    spent = 0
    while True:
        proof.unite()
        if all(proof.is_same(one, other) for one, other in pairs):
            return Certificate(
                tuple(step for name in left.outputs for step in proof.steps(name, left, right))
            )
        if proof.exploration.is_complete:
            return None
        for _ in proof.exploration.round():
            if spent == steps:
                return None
            spent += 1
            yield


def equivalent(
    left: AnyPlan | Iterable[Element],
    right: AnyPlan | Iterable[Element],
    *,
    steps: int = INPUTS,
    seconds: float | None = None,
) -> Equivalence:
    """Compare two streams, or two plans, snapshot by snapshot.

    Two streams are compared by their normal forms: the answer is proved or refuted, and tells where they
    differ. Two plans are proved equivalent by the normal form of plans, or by rules that lead from one to the
    other; otherwise up to `steps` small inputs are tried, and one on which the plans differ refutes it. If
    both fail, the answer is unknown. A proof has a `certificate`. The answer is the same on every machine
    unless `seconds` ends the search earlier, which its reason then tells.

    Cost     O(n log n) of two streams. Of two plans a millisecond or so if the normal form proves it; else as
             much for each rule that is applied, and for each input.
    Raises   PlanError if a plan is compared with a stream.

    >>> from midstream.plans.algebra.builder import stream
    >>> from midstream.plans.expressions.operands import col
    >>> print(equivalent([(1, 5, "a")], [(1, 9, "a"), (2, 3, "a")]))
    not equivalent, 2 differences:
      'a' in [2, 3): 1 times on the left, 2 on the right
      'a' in [5, 9): 0 times on the left, 1 on the right
    >>> s = stream("s", x="integer")
    >>> large = col("x") > 3
    >>> print(equivalent(s.window(9).distinct().filter(large), s.filter(large).window(9).distinct()))
    proved: both have the same normal form
    >>> print(equivalent(s.window(9).window(2).distinct(), s.window(10).distinct()))
    proved: derived by windows-merging
    >>> print(equivalent(s.window(9).filter(col("x") > 3), s.window(9).filter(col("x") > 4)))
    refuted: a search found an input of 1 element on which they differ
                 0   1   9
    s      (4,)  [───)
    left   (4,)  [───────)
    right  nothing
    """
    return comparison.equivalent(left, right, steps=steps, seconds=seconds, prover=prove)


class _Proof:
    """A proof in progress: the memo of two plans."""

    def __init__(self, rules: Sequence[Rule | Stage]) -> None:
        self._rules = rules
        self._memo = Memo()
        self._meanings = Meanings()
        self._by_meaning: dict[Meaning, Node] = {}
        self.exploration = Exploration(self._memo, flat(rules), raises_alike=True)

    def begin(self, root: Node) -> Node:
        """Enter an output into the memo."""
        simple, simplifying = simplify(root, self._rules, raises_alike=True)
        rewritten, linking = link(simple)
        self._memo.rewrite(root, rewritten, (*simplifying, *linking))
        return root

    def is_same(self, one: Node, other: Node) -> bool:
        """True if two outputs are in one group."""
        return self._memo.group(one) is self._memo.group(other)

    def unite(self) -> None:
        """Merge new expressions into the groups that have the same normal form."""
        reason = "both have the same normal form"
        for node in list(self._memo.added):
            columns = tuple((column.name, column.type) for column in node.schema)
            other = self._by_meaning.setdefault((columns, self._meanings.number(node)), node)
            if not self.is_same(node, other):
                self._memo.equate(other, node, [Step(NORMAL_FORM, (), other, node, reason)])

    def steps(self, output: str, left: Plan, right: Plan) -> list[Step]:
        """The steps from one output to the other."""
        return self._memo.derivation(left.outputs[output], right.outputs[output], output)
