"""Operators on signed streams, and converters.

Such an operator is driven by interval streams through converters, and what it gives is read by a slow
reference conversion, which checks on the way what every signed stream must be.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from hypothesis import strategies as st

from midstream.operators.base.operator import Operator
from midstream.operators.engine.running.planner import running_operator
from midstream.operators.signs.accumulators import keeps_values
from midstream.operators.signs.converters import IntervalsToSigns
from midstream.plans.algebra.implementations import implementation_of
from midstream.plans.algebra.operators import Convert
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.specification import snapshots
from midstream.plans.expressions import aggregates as functions
from midstream.plans.expressions.expressions import TRUE, join_keys
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import snapshot
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Payload, Time
from operator_cases import aggregates, joins, simple, windows
from operator_cases.base import PLAIN, UNKNOWN, Case, Histories, source, valid

GIVES_NET_CHANGES = (
    "signed-aggregate",
    "signed-difference",
    "signed-strict-difference",
    "signed-intersection",
    "signed-max-union",
    "signed-semi-join",
    "signed-anti-join",
)
"""These never take back what they give at the same instant."""


class Signed:
    """What has arrived of a signed stream: checked, and kept until its instant is over."""

    def __init__(self, gives_net_changes: bool) -> None:
        self.time: Time = BEGINNING
        self.valid: Counter[Payload] = Counter()
        self.waiting: Batch = []
        self.signs: dict[Payload, int] | None = {} if gives_net_changes else None

    def take(self, batch: Batch, promised: Time) -> None:
        """Elements that came after a promise of progress."""
        valid = self.valid
        for time, sign, payload in batch:
            assert time >= promised, "an element comes before the promise"
            assert time >= self.time, "out of order"
            assert time != FOREVER, "something begins or ends after all time"
            if self.signs is not None:
                if time > self.time:
                    self.signs = {}
                assert self.signs.setdefault(payload, sign) == sign, "given and taken back at one instant"
            self.time = time
            assert type(sign) is int and sign in (1, -1)
            height = valid[payload] = valid.get(payload, 0) + sign
            assert height >= 0, "something ends that has not begun"
            if not height:
                del valid[payload]
        self.waiting += batch

    def over(self, progress: Time) -> Iterator[tuple[Time, Counter[Payload]]]:
        """The net changes of the instants that are over."""
        over = bisect_left(self.waiting, progress, key=itemgetter(0))
        done, self.waiting = self.waiting[:over], self.waiting[over:]
        for time, elements in groupby(done, key=itemgetter(0)):
            net: Counter[Payload] = Counter()
            for _, sign, payload in elements:
                net[payload] += sign
            if any(net.values()):
                yield time, net


class ByIntervals(Operator):
    """A signed operator that is fed with intervals and read as intervals.

    From one change of its output to the next, each payload makes an element: the cut does not depend on
    batches.
    """

    def __init__(self, inner: Operator, is_fed_with_signs: bool, gives_net_changes: bool) -> None:
        super().__init__(len(inner.reached))
        self.inner = inner
        self.fronts = [IntervalsToSigns() for _ in inner.reached] if is_fed_with_signs else []
        self.signed = Signed(gives_net_changes)
        self.valid: Counter[Payload] = Counter()
        self.since: Time = BEGINNING

    def _process(self, port: int, batch: Batch) -> Batch:
        reached = self.reached[port]
        if self.fronts:
            batch = self.fronts[port].process(0, batch, reached)
        promised = self.inner.progress()
        self.signed.take(self.inner.process(port, batch, reached), promised)
        assert self.inner.progress() >= promised, "progress went back"
        out: Batch = []
        for time, net in self.signed.over(self.inner.progress()):
            out += self._slice(time)
            for payload, change in net.items():
                self.valid[payload] += change
            self.valid += Counter()  # without zeros
            self.since = time
        if self.inner.progress() == FOREVER:
            out += self._slice(FOREVER)
            self.valid.clear()
            self.signed.valid.clear()
        return out

    def _slice(self, end: Time) -> Batch:
        out: Batch = []
        for payload, height in self.valid.items():
            out += [(self.since, end, payload)] * height
        return out

    def progress(self) -> Time:
        return self.since if self.valid else self.inner.progress()

    def size(self) -> int:
        return self.inner.size() + sum(front.size() for front in self.fronts)

    def state(self) -> Iterable[Element]:
        return chain(self.inner.state(), *(front.state() for front in self.fronts))


class Converted(Operator):
    """The converter from signs to intervals, behind the one to signs."""

    def __init__(self, inner: Operator) -> None:
        super().__init__()
        self.inner = inner
        self.front = IntervalsToSigns()

    def _process(self, port: int, batch: Batch) -> Batch:
        reached = self.reached[0]
        return self.inner.process(0, self.front.process(0, batch, reached), reached)

    def progress(self) -> Time:
        return self.inner.progress()

    def size(self) -> int:
        return self.inner.size() + self.front.size()

    def state(self) -> Iterable[Element]:
        return chain(self.inner.state(), self.front.state())


@dataclass(frozen=True)
class SignedCase(Case):
    """Nothing holds back an operator on signed streams; its reader gives a slice when the next one begins."""

    is_eager: bool = False
    like: Case | None = None
    """A case with the inputs that this one is to have too."""

    @cached_property
    def streams(self) -> st.SearchStrategy[dict[str, list[Element]]]:
        return (super() if self.like is None else self.like).streams

    def operator(self) -> Operator:
        inner = running_operator(self.node)
        is_fed_with_signs = implementation_of(self.node).takes == "signs"
        return ByIntervals(inner, is_fed_with_signs, self.implementation in GIVES_NET_CHANGES)

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        now = self.inner_progress(min(reached))
        if now in (BEGINNING, FOREVER):
            return now
        at = self.past(histories, now)
        times = sorted(at)
        since = next((b for a, b in zip(times[-2::-1], times[:0:-1], strict=True) if at[a] != at[b]), None)
        if not times or not at[times[-1]]:
            return now
        return times[0] if since is None else since

    def past(self, histories: Histories, now: Time) -> dict[int, Counter[Payload]]:
        """The snapshots before an instant."""
        past = [[e for e in history if e[0] < now] for history in histories]
        first = min((e[0] for history in past for e in history), default=now)
        if logical(self.node).is_snapshot_reducible:
            return {t: self.snapshot(histories, t) for t in range(first, now)}
        known = snapshots(self.plan, dict(zip(self.sources, past, strict=True)))
        return {t: known[min(t, max(known))] for t in range(first, now)}

    def inner_progress(self, now: Time) -> Time:
        """How far the operator itself must be."""
        return now

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        now = min(operator.reached)
        assert operator.inner.progress() == self.inner_progress(now)
        assert all(end >= now for _, end, _ in kept)

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        now = min(reached)
        waiting = 0
        if implementation_of(self.node).takes == "signs":
            waiting = sum(
                end != FOREVER
                for history, time in zip(histories, reached, strict=True)
                for _, end, _ in valid(history, time)
            )
        assert size == waiting + (0 if now == FOREVER else self.inner_size(histories, reached))

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        """How much the operator itself must keep; by default nothing."""
        return 0

    @property
    def schemas(self) -> list[Any]:
        """Of the inputs."""
        return [child.schema for child in self.node.inputs]


def ahead(histories: Histories, reached: Sequence[Time], since: Time) -> list[int]:
    """Per port, how many signed elements have arrived that are at an instant or later."""
    return [
        sum(start >= since for start, _, _ in history)
        + sum(since <= end <= time and end != FOREVER for _, end, _ in history)
        for history, time in zip(histories, reached, strict=True)
    ]


def behind(histories: Histories, reached: Sequence[Time]) -> list[int]:
    """Per port, how many signed elements have arrived that are later than the progress of all."""
    now = min(reached)
    return [
        sum(start > now for start, _, _ in history)
        + sum(now < end <= time and end != FOREVER for _, end, _ in history)
        for history, time in zip(histories, reached, strict=True)
    ]


def before(history: Sequence[Element], now: Time) -> list[Payload]:
    """The payloads that are valid when an instant begins."""
    return [payload for start, end, payload in history if start < now <= end]


def next_in(time: Time, step: int, rest: int) -> Time:
    """The first instant from a time on that leaves a rest when divided."""
    return time + (rest - time) % step


class SignedUnionCase(SignedCase):
    """What is ahead waits."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        return sum(behind(histories, reached))


class SignedDistinctCase(SignedCase):
    """Valid payloads are kept."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        return len(snapshot(histories[0], reached[0]))


class SignedJoinCase(SignedCase):
    """Valid payloads are kept while the other side may bring something; what is ahead waits."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        waiting = behind(histories, reached)
        kept = 0
        for port, history in enumerate(histories):
            if reached[1 - port] != FOREVER or waiting[1 - port]:
                kept += sum(self.finds(port, payload) for payload in snapshot(history, min(reached)))
        return kept + sum(waiting)

    def finds(self, port: int, payload: Payload) -> bool:
        """Whether a payload may find a partner at all."""
        if "nested" in self.implementation:
            return True
        return all(value is not None for value in self.key(port, payload))

    def key(self, port: int, payload: Payload) -> tuple[Any, ...]:
        """The columns that are to be equal."""
        keys, _ = join_keys(self.plan.root.operator.condition, *self.schemas)
        return tuple(payload[self.schemas[port].index(pair[port])] for pair in keys)


class SignedMatchingCase(SignedJoinCase):
    """Of the right side only what the condition reads is kept; an instant that is not over waits."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        now = min(reached)
        left, right = ([e for e in before(history, now)] for history in histories)
        _, rest = join_keys(self.plan.root.operator.condition, *self.schemas)
        read = [self.schemas[1].index(name) for name in self.schemas[1].names if name in rest.columns()]
        kept = {payload for payload in left if self.finds(0, payload)}
        kinds = {
            (self.key(1, payload), tuple(payload[i] for i in read))
            for payload in right
            if self.finds(1, payload)
        }
        return len(kept) + len(kinds) + sum(ahead(histories, reached, now))


class SignedMultisetsCase(SignedCase):
    """Payloads that are valid on either side are kept; an instant that is not over waits."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        now = min(reached)
        payloads = {payload for history in histories for payload in before(history, now)}
        return len(payloads) + sum(ahead(histories, reached, now))


class SignedAggregateCase(SignedCase):
    """Groups are kept, and rows where a function needs all values; an instant that is not over waits."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        operator = self.plan.root.operator
        rows = before(histories[0], reached[0])
        keys = [self.schemas[0].index(key) for key in operator.keys]
        groups = {tuple(row[i] for i in keys) for row in rows}
        kept = len(rows) if any(keeps_values(call) for _, call in operator.calls) else 0
        return len(groups) + kept + sum(ahead(histories, reached, reached[0]))


class SignedTimeWindowCase(SignedCase):
    """Negatives wait; with a slide, what the window has not reached waits too."""

    def inner_progress(self, now: Time) -> Time:
        slide = self.plan.root.operator.slide
        return now if now in (BEGINNING, FOREVER) else next_in(now, slide, slide - 1)

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        size, slide = self.plan.root.operator.size, self.plan.root.operator.slide
        waiting = 0
        for time, _, _ in histories[0]:
            start = next_in(time, slide, slide - 1)
            end = FOREVER if size is None else next_in(time + size, slide, slide - 1)
            waiting += start < end and (start > reached[0] or reached[0] < end < FOREVER)
        return waiting


@dataclass(frozen=True)
class SignedRowsCase(SignedCase):
    """The rows in the window are kept, and those that enter it when it moves."""

    groups: tuple[int, ...] = ()

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        rows, slide = self.plan.root.operator.rows, self.plan.root.operator.slide
        counts = Counter(tuple(e[2][i] for i in self.groups) for e in histories[0])
        if rows is None:
            return sum(count % slide for count in counts.values())
        arrived = [(count // slide * slide, count % slide) for count in counts.values()]
        # A window that takes whole blocks holds, of each, no more than it has room for.
        entered = [min(rows, last // slide * min(slide, rows)) for last, _ in arrived]
        # The first rows after it has moved leave again before it moves next, if it is small.
        return sum(entered) + sum(max(fresh - max(slide - rows, 0), 0) for _, fresh in arrived)


class ToSignsCase(SignedCase):
    """Negatives wait."""

    def inner_size(self, histories: Histories, reached: Sequence[Time]) -> int:
        return sum(end != FOREVER for _, end, _ in valid(histories[0], reached[0]))


class ToIntervalsCase(SignedCase):
    """A result waits for its end, and behind those that do."""

    def operator(self) -> Operator:
        return Converted(running_operator(self.node))

    def progress(self, histories: Histories, reached: Sequence[Time]) -> Time:
        now = reached[0]
        return now if now in (BEGINNING, FOREVER) else min([now, *self.open(histories[0], now)])

    def open(self, history: Sequence[Element], now: Time) -> list[Time]:
        """Since when there is what is valid at the last instant before now: of equal payloads, what began
        last is still there."""
        found: list[Time] = []
        for payload in {payload for _, _, payload in history}:
            mine = [e for e in history if e[2] == payload]
            queue: list[Time] = []
            for time in sorted({t for e in mine for t in e[:2] if t < now}):
                change = sum(e[0] == time for e in mine) - sum(e[1] == time for e in mine)
                queue = queue + [time] * change if change > 0 else queue[-change:]
            found += queue
        return found

    def check_size(self, size: int, histories: Histories, reached: Sequence[Time]) -> None:
        if (now := reached[0]) == FOREVER:
            assert size == 0
            return
        open_ = self.open(histories[0], now)
        front = sum(end != FOREVER for _, end, _ in valid(histories[0], now))
        waiting = sum(ahead(histories, reached, now))
        since = min(open_, default=now)
        closed = sum(since <= start < now and end < now for start, end, _ in histories[0])
        assert len(open_) + front + waiting <= size <= len(open_) + closed + front + waiting

    def check_kept(self, kept: Sequence[Element], operator: Operator) -> None:
        assert all(end > operator.progress() for _, end, _ in kept if end != operator.reached[0])


def cases() -> list[Case]:
    """The cases: those of the operators on intervals, as far as there are such, and others."""
    kinds = {
        "filter": SignedCase,
        "map": SignedCase,
        "union": SignedUnionCase,
        "distinct": SignedDistinctCase,
        "hash-join": SignedJoinCase,
        "nested-loops-join": SignedJoinCase,
        "aggregate": SignedAggregateCase,
        "time-window": SignedTimeWindowCase,
        "count-window": SignedRowsCase,
        "partitioned-window": SignedRowsCase,
    }
    found: list[Case] = []
    for case in chain(simple.cases(), joins.cases(), aggregates.cases(), windows.cases()):
        if (kind := kinds.get(case.implementation)) is not None:
            options: dict[str, Any] = {"gaps": case.gaps, "lengths": case.lengths, "period": case.period}
            if kind is SignedRowsCase:
                options["groups"] = getattr(case, "groups", ())
            name = f"signed-{case.implementation}"
            found.append(kind(f"signed {case.name}", name, case.plan, case.payloads, like=case, **options))
    return [*found, *aggregations(), *multisets(), *matchings(), *converters()]


def aggregations() -> list[Case]:
    """Functions that need another accumulator here than over intervals."""
    widest = functions.user_aggregate("widest", abs, max, lambda x: x, type="integer")
    total = functions.user_aggregate(
        "total", lambda x: x, lambda a, b: a + b, lambda a: a, lambda a, b: a - b, type="integer"
    )
    calls = {
        "by merging": {"w": widest("v")},
        "by an inverse": {"t": total("v")},
        "of extremes": {"l": functions.min_("v"), "g": functions.max_("v")},
        "in order": {"m": functions.median("v")},
    }
    maybe = source(0, "integer?", "integer?")
    return [
        SignedAggregateCase(
            f"signed aggregate {title}",
            "signed-aggregate",
            maybe.group_by("k").aggregate(**which).plan(),
            UNKNOWN,
        )
        for title, which in calls.items()
    ]


def multisets() -> list[Case]:
    """Difference and the like."""
    found: list[Case] = []
    for kind, payloads in (("integer", PLAIN), ("integer?", UNKNOWN)):
        left, right = source(0, kind, kind), source(1, kind, kind)
        plans = {
            "difference": left.difference(right),
            "strict-difference": left.strict_difference(right),
            "intersection": left.intersection(right),
            "max-union": left.max_union(right),
        }
        found += [
            SignedMultisetsCase(f"signed {name} of {kind}", f"signed-{name}", query.plan(), payloads)
            for name, query in plans.items()
        ]
    return found


def matchings() -> list[Case]:
    """Semi-join and anti-join."""
    plain = (source(0, suffix="0"), source(1, suffix="1"), PLAIN)
    maybe = (*(source(i, "integer?", "integer?", str(i)) for i in (0, 1)), UNKNOWN)
    conditions = {
        "equal keys": (plain, [("k0", "k1")]),
        "two equal keys": (plain, [("k0", "k1"), ("v0", "v1")]),
        "equal keys and more": (plain, col("k0").eq(col("k1")) & (col("v0") < col("v1"))),
        "keys that may be unknown": (maybe, [("k0", "k1")]),
        "two keys that may be unknown": (maybe, [("k0", "k1"), ("v0", "v1")]),
        "a condition that may be unknown": (maybe, col("k0").eq(col("k1")) & (col("v0") <= col("v1"))),
        "an inequality": (plain, col("k0") < col("v1")),
        "alternatives that may be unknown": (maybe, col("k0").eq(col("k1")) | col("v1").is_null()),
        "no condition": (plain, TRUE),
    }
    found: list[Case] = []
    for title, ((left, right, payloads), on) in conditions.items():
        semi, anti = left.semi_join(right, on=on), left.anti_join(right, on=on)
        for name, query in (("semi-join", semi), ("anti-join", anti)):
            plan = query.plan()
            found.append(SignedMatchingCase(f"signed {name} with {title}", f"signed-{name}", plan, payloads))
    return found


def converters() -> list[Case]:
    """From one form to the other."""
    one = source(0).node
    to_signs, to_intervals = (Plan(Node(Convert(form), (one,))) for form in ("signs", "intervals"))
    return [
        ToSignsCase("intervals to signs", "intervals-to-signs", to_signs, PLAIN),
        ToIntervalsCase("signs to intervals", "signs-to-intervals", to_intervals, PLAIN),
        ToIntervalsCase(
            "signs of one payload to intervals", "signs-to-intervals", to_intervals, st.just((1, 1))
        ),
    ]
