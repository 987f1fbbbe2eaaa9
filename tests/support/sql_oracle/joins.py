"""FROM clauses at random: commas and joins of all kinds in any order, over four small streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from sql_oracle.data import Table, World
from sql_oracle.queries import Query

COLUMNS = {"k": "INTEGER", "v": "INTEGER"}
STREAMS = ("Ash", "Birch", "Cedar", "Dogwood")

Pick = Callable[[Sequence[Any]], Any]


def groves(seed: int = 6) -> World:
    """Streams of few rows, with unknown keys and keys that only some of the streams have."""
    random = Random(seed)

    def row() -> tuple[Any, ...]:
        return (random.choice((0, 1, 1, 2, 3, None)), random.choice((0, 1, 2, None)))

    return World(
        "seconds",
        1,
        [
            Table(name, COLUMNS, [(t, row()) for t in sorted(random.randrange(12) for _ in range(6))])
            for name in STREAMS
        ],
    )


class Joins:
    """Makes queries over joined streams; `pick` chooses one of several things.

    >>> Joins(Random(18).choice).query().ours
    'SELECT c.*, a.k FROM {Ash|RANGE 1|a} RIGHT JOIN {Birch|RANGE 4|b} USING (k), {Cedar|RANGE 1|c}'
    """

    def __init__(self, pick: Pick) -> None:
        self._pick = pick

    def query(self) -> Query:
        """A query over two to four streams."""
        aliases = "abcd"[: self._pick((2, 3, 3, 4))]
        clause = self._stream(0)
        group = [aliases[0]]
        for number, alias in enumerate(aliases[1:], start=1):
            word = self._pick((",", ",", "CROSS JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            if word == ",":
                group = [alias]
                clause += f", {self._stream(number)}"
                continue
            clause += f" {word} {self._stream(number)}"
            if word != "CROSS JOIN":
                # In USING a name must stand for one column on the left.
                with_using = len(group) == 1 and word != "FULL JOIN"
                clause += " USING (k)" if with_using and self._pick((0, 1)) else self._on(group, alias)
            group.append(alias)
        columns = [f"{alias}.{column}" for alias in aliases for column in COLUMNS]
        selected = self._pick(("*", ", ".join(columns), ", ".join(columns), f"{aliases[-1]}.*, a.k"))
        where = self._pick(
            ("", "", f" WHERE {self._pick(columns)} {self._pick(('> 0', 'IS NULL', '= a.v'))}")
        )
        text = f"SELECT {selected} FROM {clause}{where}"
        return Query(text, text, text)

    def _stream(self, number: int) -> str:
        return f"{{{STREAMS[number]}|RANGE {self._pick((1, 4, 9))}|{'abcd'[number]}}}"

    def _on(self, group: Sequence[str], alias: str) -> str:
        left, right = f"{self._pick(group)}.{self._pick('kv')}", f"{alias}.{self._pick('kv')}"
        more = self._pick(("", "", f" AND {self._pick([left, right])} > 0"))
        return f" ON {left} {self._pick(('=', '=', '=', '<'))} {right}{more}"
