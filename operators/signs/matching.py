"""Semi-join and anti-join of signed streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from typing import ClassVar

from midstream.operators.base.compaction import MASK, compact
from midstream.operators.base.keys import key_function
from midstream.operators.base.operator import Operator
from midstream.operators.base.running import Running, operator_of
from midstream.operators.signs.alignment import Alignment, NetChanges, copies
from midstream.operators.signs.buckets import Buckets
from midstream.plans.algebra import operators as logical
from midstream.plans.algebra.implementations import signs as facts
from midstream.plans.algebra.plan import Node
from midstream.plans.expressions.expressions import TRUE, Expression, compile_pair, join_keys
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Batch, Element, Payload, Time


class _Row:
    """A left payload with its multiplicities in input and output, and its number of matches."""

    __slots__ = ("count", "matches", "shown")

    def __init__(self, matches: int) -> None:
        self.count = 0
        self.shown = 0
        self.matches = matches


class SignedMatching(Operator):
    """Give the left rows that have a match on the right, or those that have none.

        semi(L, R)@t  =  { l in L@t | some r in R@t has key(l) = key(r), condition(l, r) }
        anti(L, R)@t  =  { l in L@t | no such r in R@t }

    Only the columns of right rows that the condition reads are kept, so that many rows are one: if the
    condition has equal keys only, one for each key.

    Input    Two ports; elements of a port that is ahead wait, so that elements meet in order of time.
    Output   Net changes, when their instant is over.
    State    The valid left payloads; the different right ones; and the elements that wait.
    Cost     O(1) per element and result if the condition has equal keys only, else O(payloads of equal key)
             per element.
    Source   thesis, (8.11) with erratum 5, (8.16); 14.2.4 for the delay

    >>> left, right = Schema.of(x="integer"), Schema.of(y="integer")
    >>> semi = SignedMatching(True, left, right, [("x", "y")])
    >>> semi.push(0, [(1, 1, (7,)), (1, 1, (7,)), (9, -1, (7,))])
    []
    >>> semi.push(1, [(3, 1, (7,)), (5, 1, (7,)), (6, -1, (7,)), (8, -1, (7,))])
    [(3, 1, (7,)), (3, 1, (7,))]
    >>> semi.advance(1, 9)
    [(8, -1, (7,)), (8, -1, (7,))]
    """

    ports: ClassVar[int] = 2

    def __init__(
        self,
        is_wanted: bool,
        left: Schema,
        right: Schema,
        keys: Sequence[tuple[str, str]],
        condition: Expression = TRUE,
    ) -> None:
        super().__init__()
        self._is_wanted = is_wanted
        self._left_key = key_function([left.index(mine) for mine, _ in keys])
        self._right_key = key_function([right.index(theirs) for _, theirs in keys])
        read = [name for name in right.names if name in condition.columns()]
        self._reduced = _chosen([right.index(name) for name in read])
        self._holds = _predicate(condition, left, right.select(read))
        self._inputs = Alignment(2)
        self._rows: dict[Hashable, dict[Payload, _Row]] = {}
        self._size = 0
        self._right = Buckets()

    def _process(self, port: int, batch: Batch) -> Batch:
        self._inputs.put(port, batch)
        out: Batch = []
        reached = min(self.reached)
        for time, (left, right) in self._inputs.instants(reached):
            changed = self._match(right)
            self._enter(time, left, changed, out)
            for payload, row in changed.items():
                shown = row.count if bool(row.matches) is self._is_wanted else 0
                out += copies(time, payload, shown - row.shown)
                row.shown = shown
        if reached == FOREVER:
            self._rows.clear()
            self._right.clear()
            self._size = 0
        return out

    def _match(self, right: NetChanges) -> dict[Payload, _Row]:
        """Take the right side's changes; returns the left rows that now match or no longer match."""
        net: dict[tuple[Hashable, Payload], int] = {}
        for payload, change in right.items():
            if (key := self._right_key(payload)) is not None:
                kind = (key, self._reduced(payload))
                net[kind] = net.get(kind, 0) + change
        changed: dict[Payload, _Row] = {}
        for (key, other), change in net.items():
            if not change:
                continue
            before, after = self._right.change(key, other, change)
            if before and after:
                continue
            step = 1 if after else -1
            for payload, row in self._rows.get(key, {}).items():
                if self._holds(payload, other):
                    had = row.matches
                    row.matches = had + step
                    if not had or not row.matches:
                        changed[payload] = row
        return changed

    def _enter(self, time: Time, left: NetChanges, changed: dict[Payload, _Row], out: Batch) -> None:
        """Take the left side's changes."""
        for payload, change in left.items():
            key = self._left_key(payload)
            if key is None:
                # It can never match, so it needs no state.
                out += [] if self._is_wanted else copies(time, payload, change)
                continue
            rows = self._rows.setdefault(key, {})
            row = rows.get(payload)
            if row is None:
                row = rows[payload] = _Row(sum(self._holds(payload, other) for other in self._right.of(key)))
                self._size += 1
            row.count += change
            changed[payload] = row
            if not row.count:
                self._size -= 1
                del rows[payload]
                if not rows:
                    del self._rows[key]
                elif not len(rows) & MASK:
                    self._rows[key] = compact(rows)

    def size(self) -> int:
        """The number of valid payloads of both sides, and of waiting elements."""
        return self._size + len(self._right) + len(self._inputs)

    def state(self) -> Iterable[Element]:
        """The valid payloads, whose ends are not known, and the waiting elements."""
        now = min(self.reached)
        valid = chain(chain.from_iterable(self._rows.values()), self._right)
        return chain(((now, FOREVER, payload) for payload in valid), self._inputs)


def _chosen(columns: Sequence[int]) -> Callable[[Payload], Payload]:
    return lambda row: tuple([row[i] for i in columns])


def _predicate(condition: Expression, left: Schema, right: Schema) -> Callable[[Payload, Payload], bool]:
    if condition == TRUE:
        return lambda mine, theirs: True
    holds = compile_pair(condition, left, right)
    return lambda mine, theirs: holds(mine, theirs) is True


def _matching(node: Node, kind: type[logical.Matching], *, is_wanted: bool) -> Operator:
    left, right = (child.schema for child in node.inputs)
    keys, rest = join_keys(operator_of(node, kind).condition, left, right)
    return SignedMatching(is_wanted, left, right, keys, rest)


RUNNING: Running = {
    facts.SIGNED_SEMI_JOIN: lambda node: _matching(node, logical.SemiJoin, is_wanted=True),
    facts.SIGNED_ANTI_JOIN: lambda node: _matching(node, logical.AntiJoin, is_wanted=False),
}
