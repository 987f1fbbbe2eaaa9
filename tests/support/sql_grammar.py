"""Statements at random: after the grammar of our SQL, and next to it.

Most statements are well-typed and supported, as the others end soon. Whoever generates says how to choose:
hypothesis draws, so that a failure shrinks, or a seeded random number generator, which is faster.

    >>> from random import Random
    >>> Grammar(Random(180).choice).statement()
    'SELECT p.price FROM Bid WINDOW(RANGE 2 SECONDS SLIDE 1 SECOND) p'
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.schema import Type

DECLARATIONS = """
    CREATE STREAM Bid(item INT, price REAL, note TEXT, is_open BOOLEAN, placed TIMESTAMP) ORDERED BY placed;
    CREATE STREAM Auction(item INT NOT NULL, seller INT, price REAL, note TEXT, opened TIMESTAMP)
        ORDERED BY opened;
    CREATE RELATION Category(item INT, note TEXT, is_open BOOLEAN);
    CREATE STREAM Dear AS SELECT item, price, note, is_open FROM Bid WHERE price > 2;
"""

NUMBERS, TEXTS, CONDITIONS = "numbers", "texts", "conditions"

COLUMNS = {
    "Bid": {"item": NUMBERS, "price": NUMBERS, "note": TEXTS, "is_open": CONDITIONS},
    "Auction": {"item": NUMBERS, "seller": NUMBERS, "price": NUMBERS, "note": TEXTS},
    "Category": {"item": NUMBERS, "note": TEXTS, "is_open": CONDITIONS},
    "Dear": {"item": NUMBERS, "price": NUMBERS, "note": TEXTS, "is_open": CONDITIONS},
}

LITERALS = {
    NUMBERS: (
        "0",
        "1",
        "2",
        "7",
        "-3",
        "0.5",
        "1e3",
        "9223372036854775807",
        "1e308",
        "NULL",
        "1" + "0" * 40,
    ),
    TEXTS: ("'a'", "''", "'a%'", "'_b'", "'2024-02-29'", "'é'", "'12'", "'it''s'", "NULL", "'{0}'", "'\\1'"),
    CONDITIONS: ("TRUE", "FALSE", "NULL"),
}

# By what they give: names, and what they take.
FUNCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    NUMBERS: (
        ("abs", "n"), ("sign", "n"), ("ceil", "n"), ("floor", "n"), ("round", "n"), ("round", "ni"),
        ("trunc", "n"),
        ("sqrt", "n"), ("exp", "n"), ("ln", "n"), ("power", "nn"), ("mod", "nn"), ("greatest", "nn"),
        ("least", "nnn"), ("coalesce", "nn"), ("nullif", "nn"), ("length", "t"), ("ascii", "t"),
        ("strpos", "tt"),
        ("year", "i"), ("hour", "i"), ("epoch", "i"), ("twice", "n"), ("log10", "n"), ("dow", "i"),
    ),
    TEXTS: (
        ("lower", "t"), ("upper", "t"), ("trim", "t"), ("ltrim", "tt"), ("substring", "ti"),
        ("substring", "tii"),
        ("replace", "ttt"), ("concat", "tn"), ("concat_ws", "ttn"), ("left", "ti"), ("right", "ti"),
        ("reverse", "t"),
        ("lpad", "tit"), ("rpad", "tit"), ("repeat", "ti"), ("split_part", "tti"), ("chr", "i"),
        ("coalesce", "tt"),
        ("regexp_replace", "ttt"), ("strftime", "it"), ("nullif", "tt"),
    ),
    CONDITIONS: (
        ("starts_with", "tt"), ("ends_with", "tt"), ("contains", "tt"), ("regexp_matches", "tt"),
        ("coalesce", "cc"),
    ),
}  # fmt: skip
KINDS = {"n": NUMBERS, "i": NUMBERS, "t": TEXTS, "c": CONDITIONS}

AGGREGATES = (
    "count", "sum", "avg", "min", "max", "var_samp", "var_pop", "stddev", "stddev_pop", "median", "tally",
)  # fmt: skip

WINDOWS = (
    "WINDOW(RANGE 5)", "WINDOW(RANGE 3 MILLISECONDS)", "WINDOW(RANGE 2 SECONDS SLIDE 1 SECOND)",
    "WINDOW(NOW)", "WINDOW(ROWS 2 TIES BY ARRIVAL)", "WINDOW(ROWS 3 SLIDE 2 TIES BY ARRIVAL)",
    "WINDOW(ROWS 2)", "[RANGE 4]", "[ROWS 2]", "[PARTITION BY item ROWS 1 TIES BY ARRIVAL]",
    "WINDOW(PARTITION BY note ROWS 2)", "[NOW]", "WINDOW(UNBOUNDED)", "WINDOW(RANGE UNBOUNDED)",
    "WINDOW(RANGE MIN 2, MAX 6)", "WINDOW(RANGE 6) GRANULARITY(2)",
    "WINDOW(RANGE 6) GRANULARITY(COARSEST 4, FINEST 2)",
    "WINDOW(RANGE '5' MILLISECONDS)", "WINDOW(RANGE INTERVAL '5' SECOND)", "WINDOW(RANGE MIN 7 MAX 2)",
    "WINDOW(RANGE 1 DAY)", "WINDOW(RANGE 99999999999999999)",
    "WINDOW(RANGE 0)", "WINDOW(RANGE 5 APPLES)", "WINDOW(ROWS 5 SECONDS)", "WINDOW(RANGE 5) [ROWS 2]",
)  # fmt: skip

ODD = (
    "SELECT", "FROM", "(", ")", ",", "nowhere", '"item"', '"Item"', '"no such"', "x.y.z", "*", "-- what\n",
    "/* so */",
    "@", "?", ":x", "$1", "{", "}", "[", "]", "::", "||", "'",
    '"', ";", "é", "日本", "\0", "OVER (ORDER BY item)",
    "INTERVAL '1' MONTH", "INTERVAL '2' DAY", "DATE '2024-02-30'", "TIMESTAMP '2024-02-29'", "1e999",
    "0x1F", "1..2",
    "FILTER (WHERE TRUE)", "COLLATE de", "AT TIME ZONE 'UTC'", "IS", "NOT", "x -> x", "ARRAY[1]", "(1, 2)",
    "ANY",
)  # fmt: skip

SUFFIXES = (
    "ORDER BY item", "LIMIT 3", "OFFSET 1", "FOR UPDATE", "TABLESAMPLE (5)", "QUALIFY TRUE", "WINDOW w AS ()",
    "INTO x", "FETCH FIRST ROW ONLY", "LATERAL VIEW explode(x) t", "PIVOT(sum(a) FOR b IN (1))",
)  # fmt: skip

Pick = Callable[[Sequence[Any]], Any]


class Grammar:
    """Makes statements; `pick` chooses one of several things."""

    def __init__(self, pick: Pick) -> None:
        self._pick = pick
        self._scopes: list[list[tuple[str, str]]] = []
        self._aliases = 0

    def statement(self) -> str:
        """A statement of any kind."""
        makers = [self.query] * 12 + [self._changes, self._creation, self._derivation, self._drop, self._set]
        maker = self._pick([*makers, self._deep])
        self._scopes, self._aliases = [], 0
        return str(maker())

    def _rarely(self, of: int = 12) -> bool:
        return bool(self._pick(range(of)) == of - 1)

    def _several(self, make: Callable[[], str], most: int = 3) -> list[str]:
        return [make() for _ in range(self._pick(range(1, most + 1)))]

    # Statements

    def _creation(self) -> str:
        name = self._pick(("x", "Bid", '"a b"', "select", "Category", "x y"))
        types = (
            "INT",
            "REAL",
            "TEXT",
            "VARCHAR(20)",
            "DECIMAL(10, 2)",
            "TIMESTAMP",
            "JSON",
            "INTT",
            "",
            "INT[]",
        )
        columns = self._several(
            lambda: f"{self._pick(('a', 'b', 'c'))} {self._pick(types)} {self._pick(('', 'NOT NULL'))}"
        )
        ends = (
            "",
            "ORDERED BY a",
            "SOURCE csv('x.csv') ORDERED BY b",
            "SOURCE nexmark('bid', 5)",
            "VALID FROM a TO b",
            "TIME_UNIT 'us'",
            "ORDERED BY a TIME_UNIT nanoseconds",
            "VALID FROM a TO b TIME_UNIT 'apples'",
            "TIME_UNIT",
        )
        kind = self._pick(("STREAM", "RELATION", "TABLE"))
        return f"CREATE {kind} {name}({', '.join(columns)}) {self._pick(ends)}"

    def _derivation(self) -> str:
        return f"CREATE STREAM {self._pick(('y', 'Dear', 'z'))} AS {self.query()}; SELECT * FROM y"

    def _drop(self) -> str:
        name = self._pick(("Bid", "Dear", "Category", "x"))
        return f"DROP {self._pick(('STREAM', 'RELATION', 'VIEW'))} {name}"

    def _set(self) -> str:
        name = self._pick(("time_unit", "ties", "unbounded_state", "speed"))
        value = self._pick(("'seconds'", "arrival", "'allow'", "'apples'", "5", ""))
        return f"SET {name} {self._pick(('=', 'TO', ''))} {value}"

    def _changes(self) -> str:
        return f"{self._pick(('ISTREAM', 'DSTREAM', 'RSTREAM'))}({self.query()})"

    def _deep(self) -> str:
        count = self._pick((3, 10, 40, 150, 500))
        before, inside, after = self._pick(
            (
                ("(", "item", ")"), ("-(", "item", ")"), ("- ", "item", ""), ("NOT ", "is_open", ""),
                ("CASE item WHEN 1 THEN ", "item", " WHEN 2 THEN 5 END"), ("abs(", "item", ")"),
                ("[", "1", "]"),
                ("CASE ", "item", " WHEN 1 THEN 2 WHEN 2 THEN 1 END"),
                ("(", "is_open", " BETWEEN FALSE AND TRUE)"),
                ("item + ", "item", ""), ("is_open OR ", "is_open", ""), ("item = 1 AND ", "is_open", ""),
                ("CAST(", "item", " AS INT)"), ("coalesce(1, ", "item", ")"), ("{", "1", "}"),
                ("date(", "item", ""),
                ("item IN (SELECT item FROM Bid WHERE ", "is_open", ")"),
                ("item IN (", "1", ""), ("(", "1", ""),
                ("EXISTS (SELECT * FROM Dear WHERE ", "is_open", ")"),
                ("((", "is_open", " AND is_open) OR is_open)"),
                ("((", "item IN (SELECT item FROM Dear)", " AND is_open) OR is_open)"),
                ("note || ", "note", ""),
                ("(SELECT max(item) FROM Bid WHERE item > ", "1", ")"), ("CAST(1 AS DECIMAL(", "1", "))"),
            )
        )  # fmt: skip
        whole = before * count + inside + after * count
        frame = self._pick(("SELECT {} FROM Bid", "SELECT item FROM Bid WHERE {}", "SELECT sum({}) FROM Bid"))
        return str(frame).replace("{}", whole)

    # Queries

    def query(self, depth: int = 2) -> str:
        """A query."""
        if depth and self._rarely(8):
            word = self._pick(("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT"))
            by_name = " BY NAME" if self._rarely(20) else ""
            return f"({self._alike(depth)}) {word}{by_name} {self._alike(depth)}"
        if depth and self._rarely(12):
            columns = self._pick(("", "", "(item, price, note, is_open)", "(price, item)"))
            return f"WITH Dear{columns} AS ({self._alike(depth)}) {self.query(depth - 1)}"
        return self._select(depth)

    def _alike(self, depth: int) -> str:
        """A query with the columns of Dear, as a rule."""
        if self._rarely(6):
            return self.query(depth - 1)
        scopes, self._scopes = self._scopes, [[]]
        source = self._part(0)
        items = ", ".join(self._value(kind, 2, 0) + f" AS {name}" for name, kind in COLUMNS["Dear"].items())
        where = f" WHERE {self._value(CONDITIONS, 2, depth - 1)}"
        self._scopes = scopes
        return f"SELECT {items} FROM {source}{where}"

    def _select(self, depth: int) -> str:
        self._scopes.append([])
        source = self._from(depth)
        is_grouped = self._rarely(3)
        where = f" WHERE {self._value(CONDITIONS, 2, depth)}" if self._pick((0, 1)) else ""
        distinct = "DISTINCT " if self._rarely(8) else ""
        if is_grouped:
            keys = self._several(lambda: self._value(self._pick((NUMBERS, TEXTS)), 1, 0), 2)
            items = [*keys, *self._several(self._aggregate, 2)]
            having = (
                f" HAVING {self._aggregate(is_compared=True)} {self._pick(('>', '<', '='))} 1"
                if self._rarely(3)
                else ""
            )
            end = f" GROUP BY {', '.join(keys)}{having}"
        else:
            items, end = self._several(lambda: self._item(depth)), ""
        if self._rarely(40):
            end += f" {self._pick(SUFFIXES)}"
        selected = ", ".join(items)
        if self._rarely(30):
            selected = f"{self._pick(('ISTREAM', 'DSTREAM', 'RSTREAM'))}({selected})"
        self._scopes.pop()
        return f"SELECT {distinct}{selected} FROM {source}{where}{end}"

    def _from(self, depth: int) -> str:
        text = self._part(depth)
        group = 0
        for _ in range(self._pick((0, 0, 0, 1, 1, 2))):
            match self._pick((",", ",", "JOIN", "JOIN", "USING", "LEFT", "RIGHT", "CROSS", "FULL")):
                case ",":
                    group = len(self._scopes[-1])
                    text = f"{text}, {self._part(depth)}"
                case "USING":
                    side = self._pick(("", "LEFT ", "RIGHT "))
                    text = f"{text} {side}JOIN {self._part(depth)} USING (item)"
                case "CROSS":
                    word = "NATURAL" if self._rarely() else "CROSS"
                    text = f"{text} {word} JOIN {self._part(depth)}"
                case word:
                    side = "" if word == "JOIN" else f"{word} "
                    text = f"{text} {side}JOIN {self._part(depth)} ON {self._on(group)}"
        return text

    def _on(self, group: int) -> str:
        """A condition over what stands behind the last comma, as a rule."""
        self._scopes.append(self._scopes[-1] if self._rarely(12) else self._scopes[-1][group:])
        condition = self._value(CONDITIONS, 1, 0)
        self._scopes.pop()
        return condition

    def _part(self, depth: int) -> str:
        alias = self._pick(("p", "q", "r", "s"))
        if not self._rarely(30):
            self._aliases += 1
            alias = f"{alias}{self._aliases}" if self._aliases > 1 else alias
        if self._rarely(10):
            alias = self._pick(("Bid", "Auction", "Dear"))  # called as another stream is
        name = self._pick(("Bid", "Bid", "Bid", "Auction", "Auction", "Dear", "Category"))
        windows = WINDOWS[: len(WINDOWS) if self._rarely(12) else 11] if self._rarely(3) else WINDOWS[:3]
        window = self._pick(windows)
        if depth and self._rarely(6):
            name, text = "Dear", f"({self._alike(depth)})"
        else:
            text = name if name != "Bid" or not self._rarely(40) else "Bdi"
            if self._rarely(40):
                text = f"{self._pick(('ISTREAM', 'DSTREAM', 'RSTREAM'))}({name})"
        self._scopes[-1].append((alias, name))
        if name == "Category" or self._rarely(4):
            return f"{text} {alias}"
        return f"{text} {self._pick((f'{window} {alias}', f'{alias} {window}', f'{window} AS {alias}'))}"

    def _item(self, depth: int) -> str:
        if self._rarely(6):
            return str(self._pick(("*", f"{self._pick(self._scopes[-1])[0]}.*", "count(*)")))
        text = self._value(self._pick((NUMBERS, TEXTS, CONDITIONS)), 3, depth)
        name = self._pick(("x", "y", '"a b"', "item"))
        return f"{text} AS {name}" if self._rarely(3) else text

    def _aggregate(self, is_compared: bool = False) -> str:
        """A call; where it is compared with a number, of what gives one."""
        name = self._pick(AGGREGATES)
        has_text = name in ("count", "min", "max") and not is_compared
        kind = self._pick((NUMBERS, TEXTS)) if has_text else NUMBERS
        distinct = "DISTINCT " if self._rarely(6) else ""
        k = ", 2" if name == "max" and has_text and self._rarely(6) else ""
        return f"{name}({distinct}{self._value(kind, 1, 0)}{k})"

    # Expressions

    def _value(self, kind: str, size: int, depth: int) -> str:
        if self._rarely(60):
            kind = self._pick((NUMBERS, TEXTS, CONDITIONS))
        if self._rarely(120):
            return str(self._pick(ODD))
        if size <= 0 or self._rarely(3):
            return self._leaf(kind)
        if self._rarely(8):
            return f"({self._value(kind, size - 1, depth)})"
        if self._rarely(10):
            when, then = self._value(CONDITIONS, size - 1, depth), self._value(kind, size - 1, depth)
            return f"CASE WHEN {when} THEN {then} ELSE {self._leaf(kind)} END"
        if self._rarely(60):
            return self._aggregate(is_compared=True)
        if self._rarely(4):
            return self._call(kind, size, depth)
        return {NUMBERS: self._number, TEXTS: self._text, CONDITIONS: self._condition}[kind](size - 1, depth)

    def _leaf(self, kind: str) -> str:
        scope = self._scopes[-1] if not self._rarely(10) else self._pick(self._scopes)
        found = [
            (alias, column)
            for alias, name in scope
            for column, type_ in COLUMNS[name].items()
            if type_ == kind
        ]
        if not found or self._rarely(4):
            return str(self._pick(LITERALS[kind]))
        alias, column = self._pick(found)
        return column if self._rarely(15) or (len(scope) == 1 and self._rarely(2)) else f"{alias}.{column}"

    def _call(self, kind: str, size: int, depth: int) -> str:
        name, takes = self._pick(FUNCTIONS[kind])
        arguments = [
            str(self._pick(("0", "1", "2", "-1", "item")))
            if letter == "i" and not self._rarely(5)
            else self._value(KINDS[letter], size - 1, depth)
            for letter in takes
        ]
        if self._rarely(40):
            arguments = arguments[1:]
        if self._rarely(60):
            arguments = [*arguments, "1"]
        if self._rarely(60):
            name = f"{name}s"
        return f"{name}({', '.join(arguments)})"

    def _number(self, size: int, depth: int) -> str:
        one, other = self._value(NUMBERS, size, depth), self._value(NUMBERS, size, 0)
        match self._pick(("+", "-", "*", "/", "%", "-x", "cast", "extract", "position", "::")):
            case "-x":
                return f"-{one}"
            case "cast":
                return f"CAST({self._value(self._pick((NUMBERS, TEXTS, CONDITIONS)), size, 0)} AS INT)"
            case "extract":
                part, instant = self._pick(("YEAR", "HOUR", "EPOCH", "X")), self._pick(("1", "item", "-5"))
                return f"EXTRACT({part} FROM {instant})"
            case "position":
                return f"POSITION({self._value(TEXTS, size, 0)} IN {self._value(TEXTS, size, 0)})"
            case "::":
                return f"{self._value(TEXTS, 0, 0)}::{self._pick(('REAL', 'INT', 'BIGINT'))}"
            case operator:
                return f"{one} {operator} {other}"

    def _text(self, size: int, depth: int) -> str:
        match self._pick(("||", "cast", "trim")):
            case "||":
                other = self._value(self._pick((TEXTS, NUMBERS)), size, 0)
                return f"{self._value(TEXTS, size, depth)} || {other}"
            case "cast":
                return f"CAST({self._value(self._pick((NUMBERS, CONDITIONS)), size, 0)} AS TEXT)"
            case _:
                side = self._pick(("", "LEADING", "BOTH"))
                return f"TRIM({side} {self._leaf(TEXTS)} FROM {self._leaf(TEXTS)})"

    def _condition(self, size: int, depth: int) -> str:
        kind = self._pick((NUMBERS, NUMBERS, TEXTS))
        one = self._value(kind, size, 0)
        compared = self._pick(("=", "<>", "<", "<=", ">", ">="))
        forms = ("compare", "compare", "and", "or", "not", "between", "in", "like", "null", "is", "distinct")
        match self._pick((*forms, "in query", "exists", "any", "scalar") if depth else forms):
            case "compare":
                return f"{one} {compared} {self._value(kind, size, 0)}"
            case "and" | "or" as word:
                other = self._value(CONDITIONS, size, depth)
                return f"{self._value(CONDITIONS, size, depth)} {word.upper()} {other}"
            case "not":
                return f"NOT {self._value(CONDITIONS, size, depth)}"
            case "between":
                return f"{one} {self._pick(('', 'NOT'))} BETWEEN {self._leaf(kind)} AND {self._leaf(kind)}"
            case "in":
                values = ", ".join(self._several(lambda: self._leaf(kind)))
                return f"{one} {self._pick(('IN', 'NOT IN'))} ({values})"
            case "like":
                word = self._pick(("LIKE", "NOT LIKE", "ILIKE", "SIMILAR TO"))
                escape = self._pick(("", "", "", "ESCAPE 'a'"))
                return f"{self._leaf(TEXTS)} {word} {self._leaf(TEXTS)} {escape}"
            case "null":
                return f"{one} IS {self._pick(('', 'NOT'))} NULL"
            case "is":
                return f"{self._leaf(CONDITIONS)} IS {self._pick(('TRUE', 'NOT FALSE', 'UNKNOWN'))}"
            case "distinct":
                return f"{one} IS {self._pick(('', 'NOT'))} DISTINCT FROM {self._leaf(kind)}"
            case "in query":
                return f"{one} {self._pick(('IN', 'NOT IN'))} ({self._inner(kind, depth)})"
            case "exists":
                return f"{self._pick(('', 'NOT'))} EXISTS ({self._inner(kind, depth)})"
            case "any":
                return f"{one} {compared} {self._pick(('ANY', 'ALL', 'SOME'))} ({self._inner(kind, depth)})"
            case _:
                return f"{one} {compared} ({self._inner(kind, depth, is_scalar=True)})"

    def _inner(self, kind: str, depth: int, is_scalar: bool = False) -> str:
        """A query in a condition, which may refer to the outer query."""
        if self._rarely(10):
            return self.query(depth - 1)
        self._scopes.append([])
        source = self._part(0)
        item = self._leaf(kind)
        if is_scalar and not self._rarely(10):
            item = f"{self._pick(('max', 'min', 'count'))}({item})"
        where = f" WHERE {self._value(CONDITIONS, 1, depth - 1)}" if self._pick((0, 1)) else ""
        if self._rarely(2):
            where = f"{where or ' WHERE TRUE'} AND {self._leaf(NUMBERS)} = {self._outer(NUMBERS)}"
        self._scopes.pop()
        return f"SELECT {item} FROM {source}{where}"

    def _outer(self, kind: str) -> str:
        inner = self._scopes.pop()
        found = self._leaf(kind)
        self._scopes.append(inner)
        return found


_TOKEN = re.compile(r"\w+|\s+|'[^']*'|.", re.DOTALL)
INSERTED = (
    "(",
    ")",
    ",",
    "'",
    '"',
    ";",
    "--",
    "/*",
    "\0",
    "é",
    "\U0001f389",
    "[",
    "]",
    ".",
    "*",
    " ",
    "NOT",
    "9",
    *ODD,
)


def mutated(text: str, pick: Pick) -> str:
    """A text with a few characters or tokens deleted, inserted, doubled or exchanged, or cut off."""
    for _ in range(pick((1, 1, 2, 3, 6))):
        parts = _TOKEN.findall(text) if pick((0, 1)) else list(text)
        if not parts:
            return text
        at, other = pick(range(len(parts))), pick(range(len(parts)))
        match pick(("delete", "insert", "double", "exchange", "copy", "cut")):
            case "delete":
                del parts[at]
            case "insert":
                parts.insert(at, pick(INSERTED))
            case "double":
                parts.insert(at, parts[at])
            case "exchange":
                parts[at], parts[other] = parts[other], parts[at]
            case "copy":
                parts[at] = parts[other]
            case _:
                parts = parts[:at] if pick(range(4)) == 0 else parts
        text = "".join(parts)
    return text


@st.composite
def statements(draw: st.DrawFn) -> str:
    """Statements after the grammar, and next to it."""
    return Grammar(lambda options: draw(st.sampled_from(options))).statement()


@st.composite
def mutations(draw: st.DrawFn, texts: Sequence[str]) -> str:
    """Some of the texts, changed in a few places."""
    pick: Pick = lambda options: draw(st.sampled_from(options))  # noqa: E731
    return mutated(pick(texts), pick)


def prepared(declarations: str = DECLARATIONS, unit: str | None = "milliseconds") -> Catalog:
    """A catalog with streams, a relation, a function and an aggregate function."""
    catalog = Catalog(unit)
    catalog.add_function("twice", doubled)
    catalog.add_function("DolToEuro", doubled, "float?")
    catalog.add_aggregate(UserAggregate("tally", lambda _: 1, operator.add, int, type=Type.INTEGER))
    catalog.execute(declarations)
    return catalog


def doubled(value: object) -> float | None:
    return 2.0 * value if isinstance(value, float) else None
