"""The engine as users meet it: it runs a plan, and changes it while it runs."""

from __future__ import annotations

from midstream.migration.strategies import migrate
from midstream.migration.transition import Transition
from midstream.operators.engine import engine
from midstream.operators.engine.replacement import Replacement, replace
from midstream.optimizer import Choice, Statistics, optimize
from midstream.plans.algebra.builder import Stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.verdicts import Equivalence


class Engine(engine.Engine):
    """An engine whose plan can be changed in mid-stream.

    >>> import midstream as ms
    >>> bids = ms.stream("bids", item="integer", price="float").window(60)
    >>> dear = ms.col("price") > 10
    >>> results = []
    >>> engine = ms.Engine(bids.union(bids).filter(dear).plan(), results.extend)
    >>> engine.push("bids", ms.chronons([(0, (7, 12.5)), (5, (7, 9.0))]))
    >>> migration = engine.migrate(bids.filter(dear).union(bids.filter(dear)).plan())
    >>> engine.push("bids", ms.chronons([(30, (8, 20.0)), (99, (9, 30.0))]))
    >>> ms.report(migration).split_time, migration.phase.value
    (66, 'done')
    >>> engine.close()
    >>> results == [(0, 60, (7, 12.5))] * 2 + [(30, 90, (8, 20.0))] * 2 + [(99, 159, (9, 30.0))] * 2
    True
    """

    def migrate(
        self,
        plan: Plan | Stream | Choice,
        strategy: str = "genmig",
        query: str | None = None,
        *,
        when_busy: str = "chain",
        whole: bool = False,
        proof: Equivalence | None = None,
        unproved: str = "refuse",
        wait: bool = False,
    ) -> Transition:
        """Move a query, by default the first, to another plan that means the same, without losing, doubling
        or delaying a result.

        That both plans mean the same must be known. A choice of the optimizer carries its proof, and of most
        other plans it is proved at once. Else a search for a counter-example begins: the transition is
        `checking` while elements flow, and goes on or is `refused` when the search ends; `wait=True` makes it
        end before this returns. Plans that differ are refused, with an input that shows it. Where nothing is
        found the answer is unknown: then `unproved="accept"` tells that you vouch for it. `proof` is what
        `equivalent(running plan, plan)` returned, if you asked before.

        Elements may go on arriving; the migration ends by itself. `strategy` is one of `STRATEGIES`:

            swap                      at once, where only stateless operators and windows among them differ
            genmig                    any two plans, until the last element so far has expired
            genmig-end-timestamp      the same, until what the running plan keeps has expired
            genmig-reference-point    as genmig, without a fuse; filters, maps, unions and joins only
            moving-states             any two plans, at once, if a log was kept (see `keep_log`); without
                                      one, what joins keep of their inputs must tell as much
            parallel-track            to compare with: joins only, longer, and results come late
            auto                      the one with the smallest predicted overhead; `reason` tells why

        Only what differs is exchanged, or with `whole` all that is above the windows. While another migration
        of the query is under way, `when_busy` tells whether to begin beside it ("chain"), to wait for its end
        ("queue"), or to raise ("refuse"). See docs/migration.md.

        Raises   MigrationRefused, with the operator and the reason; then the running plan goes on as before.
        """
        if isinstance(plan, Choice):
            if proof is None and plan.given == self.query(query).plan:
                proof = plan.proof
            plan = plan.plan
        return migrate(
            self,
            plan,
            strategy,
            query,
            when_busy=when_busy,
            whole=whole,
            proof=proof,
            unproved=unproved,
            wait=wait,
        )

    def replace(self, plan: Plan | Stream, query: str | None = None, *, at: int | None = None) -> Replacement:
        """Let a query, by default the first, mean something else from application time `at` on.

        A migration keeps what a query means; this changes it. Before `at` results are those of the old plan,
        from it on those of the new one, under the same name and to the same sinks. Without `at` it happens as
        soon as it can: when what the old plan has given is no longer valid, and the new plan has seen all
        that its results depend on.

        Raises   PlanError where the outputs have other names, or `at` is too early; then nothing has changed.

        >>> import midstream as ms
        >>> bids = ms.stream("bids", item="integer").window(10)
        >>> results = []
        >>> engine = ms.Engine(bids.filter(ms.col("item") > 3), results.extend)
        >>> engine.push("bids", ms.chronons([(0, (4,)), (1, (9,))]))
        >>> engine.replace(bids.filter(ms.col("item") > 5)).at
        11
        >>> engine.push("bids", ms.chronons([(5, (4,)), (8, (9,)), (20, (4,)), (21, (7,))]))
        >>> engine.close()
        >>> results
        [(0, 10, (4,)), (1, 11, (9,)), (5, 11, (4,)), (8, 11, (9,)), (11, 18, (9,)), (21, 31, (7,))]
        """
        found = replace(self, plan, query, at=at)
        work = found.work()
        next(work, None)  # one that has not begun would not notice that it is closed
        if not found.is_done:
            self.work_in_steps(work)
        return found

    def statistics(self, query: str | None = None) -> Statistics:
        """What was measured so far of a query's inputs, for the cost model."""
        return Statistics.from_observations(self.observe(query))

    def optimize(self, query: str | None = None) -> Choice:
        """The cheapest plan that means the same as a query's running one, by what was measured so far."""
        return optimize(self.query(query).plan, self.statistics(query))
