"""The parts of sqlglot's trees that are read, of all that sqlglot reads.

A kind of node that is not here, and an argument that is not here, is refused: what nobody reads must not
change what a query means, and a newer sqlglot may add any.
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
"""By kind of node, the arguments that are read.

Of DPipe and the casts, sqlglot sets some by the dialect: that || does not make texts of its sides, that
TRY_CAST gives NULL, and the type of a cast a second time.
"""

WORDS: Mapping[tuple[type[exp.Expr], str], str] = {
    (exp.With, "recursive"): "WITH RECURSIVE",
    (exp.CTE, "materialized"): "MATERIALIZED",
    (exp.CTE, "key_expressions"): "USING KEY",
    (exp.Select, "kind"): "SELECT AS",
    (exp.Table, "db"): "a name with a dot before it",
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
"""What to call arguments of a kind of node."""

CLAUSES: Mapping[str, str] = {
    "order": "ORDER BY (results come in order of time)",
    "windows": "WINDOW behind FROM (put it behind the stream)",
    "laterals": "LATERAL",
    "pivots": "PIVOT",
    "sample": "TABLESAMPLE",
    "match": "MATCH_RECOGNIZE",
    "locks": "FOR UPDATE",
}
"""What to call others, of whatever is part of a query."""

QUERY_PARTS = (exp.Query, exp.Table, exp.Join, exp.With, exp.CTE, exp.From, exp.Group, exp.TableAlias)

FALSE_SAYS = frozenset({(exp.CTE, "materialized"), (exp.Group, "all")})
"""The arguments that are False only where a word says so."""


def refuse_unread(script: Script, query: exp.Expr) -> None:
    """Raise SqlError, at its place, for what nobody would read of a query."""
    for node in _nodes(query):
        read = READ.get(type(node))
        if read is None:
            raise unsupported(script, in_words(node), node)
        for name, found in node.args.items():
            is_there = found or (found is False and (type(node), name) in FALSE_SAYS)
            if is_there and name not in read:
                at = found[0] if isinstance(found, list) else found
                raise unsupported(script, _words(node, name), at if isinstance(at, exp.Expr) else node)


def unsupported(script: Script, what: str, node: exp.Expr) -> SqlError:
    """The error that something is not supported."""
    instead = hint("OVER") if isinstance(node, exp.Window) else ""
    return script.fault(f"{what} is not supported{instead}", span(node))


def _nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """All nodes, each before its parts; also those of windows."""
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
    """A part of a query as sqlglot writes it, or its kind, where it cannot write it."""
    try:
        return tree.sql(comments=False, unsupported_level=ErrorLevel.IGNORE)
    except (ValueError, LookupError, TypeError, AttributeError):
        return type(tree).__name__.upper()


def in_words(tree: exp.Expr) -> str:
    """What to call a part of a query in a message: its text, as far as there is room for it.

    >>> in_words(exp.column("price") + 1)
    'price + 1'
    """
    text = " ".join(text_of(tree).split())
    return text if len(text) <= 40 else f"{text[:40]}…"
