"""Names and subqueries at random: aliases that are other streams' names, the same texts inside and outside,
nested WITH, double names; a name is in scope, or one further out, or nowhere. Queries of one row over rows
and over nothing, in every place where a condition may have one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sql_oracle.queries import Query

STREAMS = ("Ash", "Birch")
ALIASES = ("", "", "a", "b", "Ash", "Birch", "w")
DEFINED = ("w", "w", "x", "Ash", "Birch")
COLUMNS = ("k", "v")

Pick = Callable[[Sequence[Any]], Any]


class Names:
    """Makes queries over the streams of `groves` in which few names stand for many things; `pick` chooses.

    Half of them are not valid. Aggregates over all rows stand in conditions and values only, where they have
    a row over nothing too.
    """

    def __init__(self, pick: Pick) -> None:
        self._pick = pick
        self._scopes: list[list[tuple[str, tuple[str, ...]]]] = []
        self._defined: dict[str, tuple[str, ...]] = {}

    def query(self) -> Query:
        """A query with subqueries."""
        self._scopes, self._defined = [], {}
        text = self._query(2)
        return Query(text, text, text)

    def _rarely(self, of: int = 8) -> bool:
        return bool(self._pick(range(of)) == of - 1)

    def _query(self, depth: int, width: int = 0) -> str:
        """A query of some columns, or of one or two."""
        before, text = dict(self._defined), ""
        if depth and self._rarely(4):
            text = f"WITH {', '.join(self._definition(depth) for _ in range(self._pick((1, 1, 2))))} "
        text += self._select(depth, width or self._pick((1, 2)))
        if self._rarely(10):
            text += f" UNION ALL {self._select(depth, width or 1)}"
        self._defined = before
        return text

    def _definition(self, depth: int) -> str:
        name = self._pick(DEFINED)
        columns = self._pick(("(v, k)", "(v, k)", "(k, v)", "(k, v)", "", "(k)"))
        if self._rarely(10):
            columns = self._pick(("(k, v, u)", "(k, k)"))
        body = self._query(depth - 1, 2)
        self._defined[name] = COLUMNS
        return f"{name}{columns} AS ({body})"

    def _select(self, depth: int, width: int) -> str:
        self._scopes.append([])
        source = self._from(depth)
        where = f" WHERE {self._condition(depth)}" if self._rarely(2) or depth else ""
        if self._rarely(4):
            text = self._grouped(depth, width, source, where)
        else:
            items = ", ".join(self._item(depth) for _ in range(width))
            text = f"SELECT {'*' if width == 2 and self._rarely(12) else items} FROM {source}{where}"
        self._scopes.pop()
        return text

    def _item(self, depth: int) -> str:
        value = self._column()
        if self._rarely(3):
            value = f"{value} + 1"
        if depth and self._rarely(8):
            value = f"({self._scalar(depth)})"
        return value if self._rarely(2) else f"{value} AS {self._pick(('k', 'v', 'z', 'u'))}"

    def _grouped(self, depth: int, width: int, source: str, where: str) -> str:
        key = self._column()
        name = self._pick(("k", "v", "z", "u"))
        call = self._call()
        items = [f"{key} AS {name}", f"{call} AS {self._pick((name, 'k', 'n', 'u'))}"][:width]
        by = self._pick((key, key, key, name))
        having = ""
        if depth and self._rarely(2):
            compared = self._pick((call, call, self._call(), key, "n" if width > 1 else name))
            other = self._pick(("1", f"({self._scalar(depth)})", f"({self._scalar(depth, call)})"))
            having = f" HAVING {compared} {self._pick(('=', '<', '>='))} {other}"
        return f"SELECT {', '.join(items)} FROM {source}{where} GROUP BY {by}{having}"

    def _call(self) -> str:
        alias, columns = self._pick(self._scopes[-1])
        column = self._column() if self._rarely(8) else f"{alias}.{self._pick(columns)}"
        return f"{self._pick(('MAX', 'MIN', 'COUNT'))}({column})"

    def _from(self, depth: int) -> str:
        text = self._part(depth)
        for _ in range(self._pick((0, 0, 0, 0, 1, 1, 2))):
            word = self._pick((",", "JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN"))
            text += f"{'' if word == ',' else ' '}{word} {self._part(depth)}"
            how = self._pick(("on", "on", "using", "")) if word.endswith("JOIN") else ""
            if word == "CROSS JOIN" and not self._rarely():
                how = ""
            if how == "on":
                text += f" ON {self._column()} = {self._column()}"
            elif how == "using":
                text += " USING (k)"
        return text

    def _part(self, depth: int) -> str:
        if depth and self._rarely(6):
            scopes, self._scopes = self._scopes, self._scopes if self._rarely(3) else []
            body = self._query(depth - 1, 2)
            self._scopes = scopes
            taken = {alias for alias, _ in self._scopes[-1]}
            alias = self._pick([alias for alias in ("q", "a", "Ash", "r") if alias not in taken])
            self._scopes[-1].append((alias, COLUMNS))
            return f"({body}) {alias}{self._pick(('', '(v, k)', '(v, k)', '(k, v)', '(k)'))}"
        is_defined = bool(self._defined) and not self._rarely(4)
        name = self._pick(sorted(self._defined) if is_defined else STREAMS)
        taken = {alias for alias, _ in self._scopes[-1]}
        free = [alias for alias in ALIASES if (alias or name) not in taken]
        alias = self._pick(ALIASES if self._rarely(20) else free)
        if is_defined:
            self._scopes[-1].append((alias or name, COLUMNS))
            return f"{name} {alias}".rstrip()
        self._scopes[-1].append((alias or name, COLUMNS))
        if name in self._defined:
            return f"{name} {alias}".rstrip()
        return f"{{{name}|RANGE {self._pick((4, 9))}|{alias}}}"

    def _column(self) -> str:
        scope = self._scopes[-1] if not self._rarely(5) else self._pick(self._scopes[-2:])
        if self._rarely(20):
            scope = self._pick(self._scopes)
        alias, columns = self._pick(scope) if scope else ("Ash", COLUMNS)
        if self._rarely(25):
            alias = self._pick(("Ash", "Birch", "a", "w"))
        column = self._pick(columns)
        return str(column) if self._rarely(4 * len(scope or COLUMNS) ** 2) else f"{alias}.{column}"

    def _condition(self, depth: int) -> str:
        forms = ("compare", "exists", "in", "scalar", "any", "of one row") if depth else ("compare",)
        match self._pick(forms):
            case "exists":
                return f"{self._pick(('', 'NOT '))}EXISTS ({self._query(depth - 1)})"
            case "in":
                return f"{self._column()} {self._pick(('', 'NOT '))}IN ({self._query(depth - 1, 1)})"
            case "scalar":
                return f"{self._column()} {self._pick(('=', '<', '>='))} ({self._scalar(depth)})"
            case "any":
                inner = self._scalar(depth) if self._rarely(2) else self._query(depth - 1, 1)
                word = self._pick(("ANY", "ALL"))
                return f"{self._column()} {self._pick(('=', '<', '>='))} {word} ({inner})"
            case "of one row":
                inner = self._scalar(depth)
                test = self._pick(
                    (
                        f"EXISTS ({inner})",
                        f"{self._column()} IN ({inner})",
                        f"COALESCE(({inner}), 2) > 1",
                        f"({inner}) IS NULL",
                        f"({inner}) = 0",
                        f"({inner}) BETWEEN 1 AND {self._column()}",
                    )
                )
                test = f"NOT {test}" if self._rarely(3) else test
                return f"({test} OR {self._column()} = 3)" if self._rarely(4) else test
            case _:
                return f"{self._column()} {self._pick(('=', '<', '>='))} {self._column()}"

    def _scalar(self, depth: int, call: str = "") -> str:
        """A query of one row at most; `call` is what it selects, perhaps what the query around has, too."""
        self._scopes.append([])
        source = self._part(0)
        tie = f" WHERE {self._column()} = {self._column()}" if self._rarely(2) else ""
        plain = self._call()
        forms = (plain, plain, "COUNT(*)", f"COALESCE({plain}, 0)", f"{plain} + 1")
        case = f"CASE WHEN {plain} > 1 THEN 1 ELSE 0 END"
        selected = call or self._pick((*forms, case))
        call = self._call()
        unknown = f"COUNT(*) = 0 OR {call} > 1"  # true over nothing, and over rows perhaps unknown
        having = self._pick(("", "", "", "COUNT(*) > 0", "COUNT(*) = 0", f"{call} > 1", unknown))
        self._scopes.pop()
        return f"SELECT {selected} FROM {source}{tie}{having and ' HAVING '}{having}"
