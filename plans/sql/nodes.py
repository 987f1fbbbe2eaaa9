"""The parts of sqlglot's trees that the translation reads.

Other kinds of nodes, and other arguments, are refused: a part that is not read must not change the meaning of
a query, and a newer sqlglot may add parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from midstream.plans.sql.faults import Script, span
from midstream.plans.sql.hints import hint
from midstream.plans.sql.syntax import WINDOW
from midstream.plans.values.errors import SqlError

_BINARY = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is,
    exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod, exp.Escape,
)  # fmt: skip
_UNARY = (exp.Paren, exp.Not, exp.Neg, exp.Exists, exp.Any, exp.All)
_SET = ("this", "expression", "distinct", "with_")

_ARGUMENTS: dict[type[exp.Expr], tuple[str, ...]] = {
    # Queries
    exp.Select: ("expressions", "distinct", "from_", "joins", "where", "group", "having", "with_"),
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _SET),
    exp.Subquery: ("this", "alias", "with_", "joins"),
    exp.With: ("expressions",),
    exp.CTE: ("this", "alias"),
    exp.TableAlias: ("this", "columns"),
    exp.From: ("this",),
    exp.Join: ("this", "on", "using", "method", "side", "kind"),
    exp.Table: ("this", "alias", "joins"),
    exp.Where: ("this",),
    exp.Group: ("expressions",),
    exp.Having: ("this",),
    exp.Distinct: ("expressions",),
    exp.Alias: ("this", "alias"),
    exp.Star: (),
    # Expressions
    **dict.fromkeys(_BINARY, ("this", "expression")),
    **dict.fromkeys(_UNARY, ("this",)),
    exp.Identifier: ("this", "quoted"),
    exp.Column: ("this", "table"),
    exp.Literal: ("this", "is_string"),
    exp.Boolean: ("this",),
    exp.Null: (),
    exp.Var: ("this",),
    exp.Tuple: ("expressions",),
    exp.Div: ("this", "expression"),
    exp.DPipe: ("this", "expression", "safe"),
    exp.Like: ("this", "expression", "negate"),
    exp.ILike: ("this", "expression", "negate"),
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions", "query"),
    exp.Case: ("this", "ifs", "default"),
    exp.If: ("this", "true"),
    exp.Cast: ("this", "to", "_type"),
    exp.TryCast: ("this", "to", "_type", "safe", "requires_string"),
    exp.DataType: ("this", "expressions"),
    exp.DataTypeParam: ("this",),
    exp.Interval: ("this", "unit"),
    exp.IntervalSpan: ("this", "expression"),
    exp.Extract: ("this", "expression"),
    exp.Trim: ("this", "expression", "position"),
    exp.Substring: ("this", "start", "length"),
    exp.StrPosition: ("this", "substr"),
    exp.Anonymous: ("this", "expressions"),
}
READ: Mapping[type[exp.Expr], frozenset[str]] = {node: frozenset(names) for node, names in _ARGUMENTS.items()}
"""The arguments that are read, by kind of node.

sqlglot sets some arguments of DPipe and the casts by the dialect: || does not convert its sides to text,
TRY_CAST gives NULL, and the type of a cast is there a second time.
"""

WORDS: Mapping[tuple[type[exp.Expr], str], str] = {
    (exp.With, "recursive"): "WITH RECURSIVE",
    (exp.CTE, "materialized"): "MATERIALIZED",
    (exp.CTE, "key_expressions"): "USING KEY",
    (exp.Select, "kind"): "SELECT AS",
    (exp.Table, "db"): "a name with a dot before it (a file stands in single quotes)",
    (exp.Distinct, "on"): "DISTINCT ON",
    (exp.Group, "all"): "GROUP BY ALL or DISTINCT",
    **{
        (exp.Group, word): f"GROUP BY {word.upper().replace('_', ' ')}"
        for word in ("rollup", "cube", "grouping_sets", "totals")
    },
    **{(exp.Star, word): "* with exceptions" for word in ("except_", "replace", "rename", "ilike")},
    (exp.In, "unnest"): "UNNEST in IN",
    (exp.In, "field"): "IN without brackets",
    **{(node, "by_name"): "BY NAME" for node in (exp.Union, exp.Except, exp.Intersect)},
}
"""The words of messages for arguments of a kind of node."""

CLAUSES: Mapping[str, str] = {
    "order": "ORDER BY (results come in order of time)",
    "windows": "WINDOW behind FROM (put it behind the stream)",
    "laterals": "LATERAL",
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "match": "MATCH_RECOGNIZE",
    "locks": "FOR UPDATE",
}
"""The words of messages for other arguments, of any part of a query."""

QUERY_PARTS = (exp.Query, exp.Table, exp.Join, exp.With, exp.CTE, exp.From, exp.Group, exp.TableAlias)

FALSE_SAYS = frozenset({(exp.CTE, "materialized"), (exp.Group, "all")})
"""The arguments that are False only if a word in the query says so."""


def refuse_unread(script: Script, query: exp.Expr) -> None:
    """Raise SqlError, with its place, for a part of a query that the translation does not read."""
    for node in _nodes(query):
        read = READ.get(type(node))
        if read is None:
            raise unsupported(script, in_words(node), node)
        for name, value in node.args.items():
            is_there = value or (value is False and (type(node), name) in FALSE_SAYS)
            if is_there and name not in read:
                at = value[0] if isinstance(value, list) else value
                raise unsupported(script, _words(node, name), at if isinstance(at, exp.Expr) else node)


def unsupported(script: Script, what: str, node: exp.Expr) -> SqlError:
    """The error for a part of a query that is not supported."""
    instead = hint("OVER") if isinstance(node, exp.Window) else ""
    return script.fault(f"{what} is not supported{instead}", span(node))


def _nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """All nodes, each before its parts, also those in windows."""
    for node in tree.dfs():
        yield node
        window: Any = node.meta.get(WINDOW)
        for key in window.keys if window is not None else ():
            yield from _nodes(key)


def _words(node: exp.Expr, name: str) -> str:
    if (words := WORDS.get((type(node), name))) is not None:
        return words
    if name in CLAUSES or isinstance(node, QUERY_PARTS):
        return CLAUSES.get(name, name.strip("_").replace("_", " ").upper())
    return in_words(node)


def text_of(tree: exp.Expr) -> str:
    """A part of a query as sqlglot writes it, or its kind if sqlglot cannot write it."""
    try:
        return tree.sql(comments=False, unsupported_level=ErrorLevel.IGNORE)
    except (ValueError, LookupError, TypeError, AttributeError):
        return type(tree).__name__.upper()


def in_words(tree: exp.Expr) -> str:
    """A part of a query in a message: its text, cut to 40 characters.

    >>> in_words(exp.column("price") + 1)
    'price + 1'
    """
    text = " ".join(text_of(tree).split())
    return text if len(text) <= 40 else f"{text[:40]}…"
