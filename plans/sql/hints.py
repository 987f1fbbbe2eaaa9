"""Hints for words of other SQL dialects: the way to write them here."""

from __future__ import annotations

from collections.abc import Mapping

_TUMBLING = "write the window behind its stream: FROM bid WINDOW(RANGE 10 MINUTES SLIDE 10 MINUTES)"
_HOPPING = "write the window behind its stream: FROM bid WINDOW(RANGE 10 MINUTES SLIDE 1 MINUTE)"
_NOW = "a window says how long rows count: FROM bid WINDOW(RANGE 10 MINUTES)"
_LIST = (
    "no aggregate makes texts or lists; TOP_K(item, 3) gives the largest values, and --functions or "
    "catalog.add_aggregate adds an aggregate of yours, made by ms.user_aggregate"
)
_ONE = "rows of a group have no order; MIN(item) and MAX(item) choose one by its value"
_QUERY = "write CREATE STREAM name AS SELECT …"

WINDOW_FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(("TUMBLE", "TUMBLE_START", "TUMBLE_END"), _TUMBLING),
    **dict.fromkeys(("HOP", "HOP_START", "HOP_END"), _HOPPING),
}
"""Windows that other dialects call like functions."""

_HINTS: Mapping[str, str] = {
    **WINDOW_FUNCTIONS,
    "TUMBLING": _TUMBLING,
    "HOPPING": _HOPPING,
    "OVER": "write the window behind its stream: FROM bid WINDOW(PARTITION BY item ROWS 3) GROUP BY item",
    "TABLE": "write CREATE STREAM name(column type, …) ORDERED BY column, or CREATE RELATION for rows "
    "that are known before the streams begin",
    "VIEW": _QUERY,
    "MATERIALIZED": _QUERY,
    "WITH": "SOURCE csv('bids.csv') declares the source of the rows",
    **dict.fromkeys(
        ("CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIMESTAMP", "NOW", "SYSDATE"), _NOW
    ),
    **dict.fromkeys(("STRING_AGG", "LISTAGG", "GROUP_CONCAT", "ARRAY_AGG", "COLLECT_LIST"), _LIST),
    **dict.fromkeys(("FIRST", "FIRST_VALUE", "ANY_VALUE"), _ONE),
    **dict.fromkeys(
        ("LAST", "LAST_VALUE"), f"{_ONE}, and WINDOW(PARTITION BY item ROWS 1) keeps the last row of each"
    ),
    "LOG": "bases differ between systems; write LN(x), LOG10(x) or LOG2(x)",
    **dict.fromkeys(("LOCATE", "CHARINDEX"), "write STRPOS(text, part), which takes the text first"),
    "APPROX_COUNT_DISTINCT": "write COUNT(DISTINCT item), which is exact",
    "STREAM": "leave the word out, as every query is over streams: SELECT item FROM bid",
    "EXPLAIN": "midstream explain QUERY.sql shows how a query runs",
}


OTHER_FUNCTIONS = frozenset(
    ("isnull", "lead", "log1p", "maxx", "regexp_ilike", "scale", "sort", "strptime", "top_n", "topk")
)
"""Functions of other dialects whose names are one letter away from ours, and which do something else."""


def hint(word: str) -> str:
    """`; write …` for a word of another dialect, else nothing.

    >>> hint("explain"), hint("SELECT")
    ('; midstream explain QUERY.sql shows how a query runs', '')
    """
    advice = _HINTS.get(word.upper())
    return "" if advice is None else f"; {advice}"
