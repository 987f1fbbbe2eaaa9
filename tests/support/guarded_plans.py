"""Plans that ask a function which raises for some rows, kept away from these in five ways; and rewritings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from midstream.optimizer.rules import ALL_STAGES, apply, flat
from midstream.optimizer.verification.conditions import inverse
from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import count, max_, min_, sum_
from midstream.plans.expressions.expressions import Case, Const
from midstream.plans.expressions.operands import Operand, col, opaque


def asks(column: str) -> Operand:
    """A function of a column, which raises for 0 and for NULL."""
    return opaque(inverse, [column], "integer")


def _safe(random: Random, column: str) -> Operand:
    """A condition that keeps away what the function does not take."""
    return random.choice((col(column) != 0, col(column) > 0, (col(column) == 1) | (col(column) == 2)))


class GuardedPlans:
    """Random plans over streams of k and v, w and u, in which a function is asked behind a condition."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0
        self.ways: dict[str, Callable[[], tuple[Stream, str]]] = {
            "filter below": self._filter_below,
            "same condition": self._same_condition,
            "join": self._join,
            "groups": self._groups,
            "case": self._case,
        }

    def draw(self) -> Plan:
        """One more plan; by chance without the guard."""
        random = self._random
        rows, column = random.choice(list(self.ways.values()))()
        for _ in range(random.randint(0, 3)):
            rows, column = self._above(rows, column)
        return rows.plan()

    def _name(self) -> str:
        self._names += 1
        return f"c{self._names}"

    def _base(self) -> tuple[Stream, str, str]:
        """Rows of two columns, and their names."""
        random = self._random
        k, v = self._name(), self._name()
        if random.random() < 0.9:
            declared = {k: "integer?", v: random.choice(("integer?", "integer"))}
            rows = stream(f"s{self._names}", intervals=True, **declared)
        else:  # one that may be read in several places
            name, declared_v = random.choice((("a", "integer?"), ("b", "integer")))
            shared = stream(name, intervals=True, k="integer?", v=declared_v)
            rows = shared.select(**{k: col("k"), v: col("v")})
        if random.random() < 0.5:
            rows = rows.window(random.choice((1, 3)))
        match random.randint(0, 5):
            case 0:
                rows = rows.distinct()
            case 1:
                rows = rows.union(rows.filter(col(k) > 0))
            case 2:
                other = self._name()
                few = stream(f"s{self._names}", intervals=True, **{other: "integer?"})
                rows = random.choice((rows.semi_join, rows.anti_join))(few, on=[(k, other)])
            case 3:
                k, old, was = self._name(), k, v
                v = self._name()
                rows = rows.select(**{k: col(old), v: col(was) - 1 if random.random() < 0.3 else col(was)})
        return rows, k, v

    def _ask(self, rows: Stream, v: str) -> tuple[Stream, str]:
        """Rows that a function has been asked of, in a condition or a column."""
        if self._random.random() < 0.5:
            return rows.filter(asks(v) > self._random.choice((0, 1, 2))), v
        given = self._name()
        return rows.select(*rows.schema.names, **{given: asks(v)}), given

    def _filter_below(self) -> tuple[Stream, str]:
        rows, _, v = self._base()
        return self._ask(rows.filter(_safe(self._random, v)), v)

    def _same_condition(self) -> tuple[Stream, str]:
        rows, k, v = self._base()
        parts = [_safe(self._random, v), asks(v) > 1]
        if self._random.random() < 0.4:
            parts.insert(self._random.randint(0, 2), col(k) < 2)
        condition = parts[0]
        for part in parts[1:]:
            condition &= part
        if self._random.random() < 0.2:
            condition = ~_safe(self._random, v) | (asks(v) > 1) if "?" not in str(rows.schema) else condition
        return rows.filter(condition), v

    def _join(self) -> tuple[Stream, str]:
        left, k, v = self._base()
        right, j, w = self._base()
        on = (col(k) == col(j)) & _safe(self._random, v)
        if self._random.random() < 0.5:
            on = (col(v) == col(j)) & (col(j) > 0)
        if self._random.random() < 0.3:
            return left.join(right, on=on & (asks(v) > col(w))), v
        return self._ask(left.join(right, on=on), v)

    def _groups(self) -> tuple[Stream, str]:
        rows, k, v = self._base()
        least = self._name()
        call = self._random.choice((min_, max_, sum_))
        groups = rows.group_by(k).aggregate(**{least: call(v)}).filter(col(least) > 0)
        if self._random.random() < 0.3:
            return self._ask(groups.filter(_safe(self._random, k)), k)
        return self._ask(groups, least)

    def _case(self) -> tuple[Stream, str]:
        rows, _, v = self._base()
        given = self._name()
        value = Operand(Case(((_safe(self._random, v).expression, asks(v).expression),), Const(0)))
        rows = rows.select(*rows.schema.names, **{given: value})
        return (rows.filter(col(given) > 1) if self._random.random() < 0.5 else rows), given

    def _above(self, rows: Stream, column: str) -> tuple[Stream, str]:
        """Another operator, which rules may bring below the function."""
        random, names = self._random, rows.schema.names
        other = random.choice(names)
        match random.randint(0, 8):
            case 0 | 1:
                return rows.filter(random.choice((col(other) == 1, col(other) != 0, col(other) < 2))), column
            case 2:
                few = self._name()
                chosen = {few: col(other)}
                return rows.select(column, **chosen), column
            case 3:
                return rows.distinct(), column
            case 4:
                right, j, _ = self._base()
                if set(right.schema.names) & set(names):
                    return rows, column
                return rows.join(right, on=[(other, j)]), column
            case 5:
                right, j, _ = self._base()
                if set(right.schema.names) & set(names):
                    return rows, column
                return random.choice((rows.semi_join, rows.anti_join))(right, on=[(other, j)]), column
            case 6:
                number = self._name()
                return rows.group_by(column).aggregate(**{number: count()}), column
            case 7:
                part = rows.filter(col(other) > 0)
                return random.choice((rows.difference, rows.intersection, rows.union, rows.max_union))(
                    part
                ), column
            case _:
                if random.random() < 0.5:
                    return self._ask(rows.filter(_safe(random, column)), column)
                return rows.filter(_safe(random, column)).filter(asks(column) > 0), column


def rewritten(plan: Plan, random: Random, most: int) -> Iterator[tuple[str, Plan]]:
    """Plans that rules make of one, each rule in each place once; then of some of these again."""
    waiting, made = [plan], {plan}
    while waiting and most > 0:
        current = waiting.pop(random.randrange(len(waiting)))
        for node in current.nodes:
            for rule in flat(ALL_STAGES):
                for result in apply(rule, node):
                    after = current.replace(node, result)
                    if after not in made:
                        made.add(after)
                        waiting.append(after)
                        most -= 1
                        yield rule.name, after
