"""Aggregates for the conformance suites: every function, over all rows and per group, of integers, of floats
and of what is unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from midstream.plans.algebra.builder import Stream, stream
from midstream.plans.algebra.plan import Plan
from midstream.plans.expressions.aggregates import (
    AggregateCall,
    avg,
    count,
    count_distinct,
    max_,
    median,
    min_,
    stddev_pop,
    stddev_samp,
    sum_,
    top_k,
    user_aggregate,
    var_pop,
    var_samp,
)
from midstream.plans.expressions.operands import call, col
from operator_cases.base import SMALL, UNKNOWN, any_row

FLOATS = st.sampled_from([0.1, 0.2, -0.3, 1.0, 2.0, 1e16, -1e16, 5e-324, 1.7e308, -1.7e308])

INDEFINITE = col("v") * 2 - col("v")
"""Unknown where twice v is beyond the largest float."""

SPREAD = user_aggregate(
    "spread",
    initialise=lambda x: (x, x),
    merge=lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    evaluate=lambda a: a[1] - a[0],
)
"""No inverse; none exists."""

PRODUCT = user_aggregate(
    "product",
    initialise=lambda x: (x or 1, x == 0),
    merge=lambda a, b: (a[0] * b[0], a[1] + b[1]),
    evaluate=lambda a: 0 if a[1] else a[0],
    inverse=lambda a, b: (a[0] // b[0], a[1] - b[1]),
    type="integer",
)
"""Of integers. To be undone, it counts the zeros."""

ODDITY = user_aggregate(
    "oddity",
    initialise=lambda x: int(x) % 2,
    merge=lambda a, b: a ^ b,
    evaluate=lambda a: True if a else None,
    type="boolean?",
)
"""Sometimes unknown, and neither idempotent nor ordered: a value merged twice or lost shows."""


def of_tuple(function: str, x: Any, *weights: Any) -> AggregateCall:
    """A function of a value with its weights."""
    value = col(x) if isinstance(x, str) else x
    return AggregateCall(function, call("tuple", value, *weights).expression)


BUILT_IN: dict[str, Callable[[Any], AggregateCall]] = {
    "sum": sum_,
    "avg": avg,
    "min": min_,
    "max": max_,
    "count": count,
    "count distinct": count_distinct,
    "sum distinct": lambda x: sum_(x, distinct=True),
    "avg distinct": lambda x: avg(x, distinct=True),
    "var_pop": var_pop,
    "var_samp": var_samp,
    "stddev_pop": stddev_pop,
    "stddev_samp": stddev_samp,
    "stddev_samp distinct": lambda x: stddev_samp(x, distinct=True),
    "median": median,
    "median distinct": lambda x: median(x, distinct=True),
    "top 2": lambda x: top_k(x, 2),
    "top 2 distinct": lambda x: top_k(x, 2, distinct=True),
    "scaled sum": lambda x: of_tuple("scaled_sum", x, 0.3),
    "standard error": lambda x: of_tuple("standard_error", x, 0.3, col("k")),
}
"""Every function, from its argument to a call."""

BY_USER: dict[str, Callable[[Any], AggregateCall]] = {
    "spread": SPREAD,
    "product": PRODUCT,
    "oddity": ODDITY,
    "spread distinct": lambda x: SPREAD(x, distinct=True),
    "product distinct": lambda x: PRODUCT(x, distinct=True),
    "oddity distinct": lambda x: ODDITY(x, distinct=True),
}
"""Functions of integers."""


def aggregate_cases() -> list[tuple[str, Plan, st.SearchStrategy[Any]]]:
    """Per case a title, a plan over the stream s0, and its payloads."""
    integers = any_row(SMALL, range(-2, 4))
    small = st.sampled_from(SMALL)
    floats = st.tuples(small, st.one_of(st.none(), FLOATS, small))
    known = st.tuples(small, st.one_of(FLOATS, small))
    groups = {
        "moments": ["var_pop", "var_samp", "stddev_pop", "stddev_samp", "stddev_samp distinct"],
        "order statistics": ["median", "median distinct", "top 2", "top 2 distinct"],
        "distinct values": ["count distinct", "sum distinct", "avg distinct"],
        "totals and extremes": ["sum", "avg", "min", "max", "count"],
        "estimates": ["scaled sum", "standard error"],
    }
    assert {name for names in groups.values() for name in names} == BUILT_IN.keys()
    cases = []
    for title, names in groups.items():
        calls = {name.replace(" ", "_"): BUILT_IN[name]("v") for name in names}
        cases += [
            (f"{title} over all", _source().aggregate(**calls), integers),
            (
                f"{title} per group, of floats",
                _source("integer", "float").group_by("k").aggregate(**calls),
                known,
            ),
            (f"{title} per group, of unknowns", _maybe().group_by("k").aggregate(**calls), UNKNOWN),
            (f"{title} over all, of floats and unknowns", _floats().aggregate(**calls), floats),
        ]
    calls = {name.replace(" ", "_"): make(INDEFINITE) for name, make in BUILT_IN.items()}
    cases.append(("everything of what may overflow", _floats().group_by("k").aggregate(**calls), floats))
    calls = {name.replace(" ", "_"): make("v") for name, make in BY_USER.items()}
    cases += [
        ("by users over all", _source().aggregate(**calls), integers),
        ("by users per group", _source().group_by("k").aggregate(**calls), integers),
        ("by users over all, of unknowns", _maybe().aggregate(**calls), UNKNOWN),
        ("by users per group, of unknowns", _maybe().group_by("k").aggregate(**calls), UNKNOWN),
        ("by users per pair of keys", _source().group_by("v", "k").aggregate(**calls), integers),
    ]
    return [(title, query.plan(), payloads) for title, query, payloads in cases]


def granule_cases() -> list[tuple[str, Plan, st.SearchStrategy[Any]]]:
    """Cases as in `aggregate_cases` of functions whose values merge: together and with shared arguments."""
    small = st.sampled_from(SMALL)
    numbers = st.one_of(st.none(), st.booleans(), FLOATS, small, st.fractions(-2, 2, max_denominator=6))
    integers, any_number = any_row(SMALL, range(-2, 4)), st.tuples(small, numbers)
    merging = ("sum", "avg", "min", "max", "count", "var_pop", "stddev_samp")
    calls = {name: BUILT_IN[name]("v") for name in merging}
    mixed = {
        "median": median("v"),
        "sum": sum_("v"),
        "min": min_("v"),
        "number": count(),
        "known": count("v"),
    }
    numbers_of_any_kind = stream("s0", {"k": "integer", "v": "any?"}, intervals=True)
    queries = {
        "rows over all": (_source().aggregate(n=count()), integers),
        "rows per group": (_source().group_by("k").aggregate(n=count()), integers),
        "maximum and mean per group": (_source().group_by("k").aggregate(m=max_("v"), a=avg("v")), integers),
        "everything over all": (_source().aggregate(**calls), integers),
        "everything per group": (_source().group_by("k").aggregate(**calls), integers),
        "everything over all, of unknowns": (_maybe().aggregate(**calls), UNKNOWN),
        "everything per group, of any numbers": (
            numbers_of_any_kind.group_by("k").aggregate(**calls),
            any_number,
        ),
        "what does not merge": (_maybe().group_by("k").aggregate(**mixed), UNKNOWN),
    }
    return [(title, query.plan(), payloads) for title, (query, payloads) in queries.items()]


def _source(key: str = "integer", value: str = "integer") -> Stream:
    return stream("s0", {"k": key, "v": value}, intervals=True)


def _maybe() -> Stream:
    return _source("integer?", "integer?")


def _floats() -> Stream:
    return _source("integer", "float?")
