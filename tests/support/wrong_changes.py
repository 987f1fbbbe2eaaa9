"""Changes of a query that change its meaning, as they are made by mistake: none may be taken for a rewrite.

By name, the query before and after. Streams have one or two columns of small types, so that an input on which
both differ can be found soon.
"""

from __future__ import annotations

from collections.abc import Mapping

import midstream as ms
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Binary, Const
from midstream.plans.expressions.operands import call
from midstream.plans.values.schema import Type

A = ms.stream("a", k="integer", x="integer")
B = ms.stream("b", j="integer", y="integer")
N = ms.stream("n", k="integer", x="integer?", p="boolean?")
T = ms.stream("t", k="integer", s="string")
F = ms.stream("f", k="integer", v="float")
W, V, M, U, G = (one.window(5) for one in (A, B, N, T, F))
ON = [("k", "j")]
k, x, y, p, s, v = map(ms.col, ("k", "x", "y", "p", "s", "v"))


def by_key(stream: ms.Stream, **calls: AggregateCall) -> ms.Stream:
    """An aggregation by the column k."""
    return stream.group_by("k").aggregate(**calls)


WRONG: Mapping[str, tuple[ms.Stream, ms.Stream]] = {
    "another bound": (W.filter(x > 3), W.filter(x > 4)),
    "a bound that is included": (W.filter(x > 3), W.filter(x >= 3)),
    "a filter dropped": (W.filter(x > 3), W),
    "a filter negated": (W.filter(x > 3), W.filter(x <= 3)),
    "or for and": (W.filter((x > 3) | (k > 1)), W.filter((x > 3) & (k > 1))),
    "De Morgan, half of it": (W.filter(~((x > 3) & (k > 1))), W.filter(~(x > 3) & ~(k > 1))),
    "not more than, of what may be unknown": (M.filter(~(x > 3) | x.is_null()), M.filter(x <= 3)),
    "not equal, without what is unknown": (M.filter(x.ne(3) | x.is_null()), M.filter(x.ne(3))),
    "equal to itself, but unknown": (M, M.filter(x.eq(x))),
    "one or the other, but unknown": (M, M.filter((x > 3) | ~(x > 3))),
    "what is false for what is unknown": (M.filter(~p), M.filter(p.is_null())),
    "BETWEEN without its upper bound": (
        W.filter((x >= 1) & (x <= 3)),
        W.filter((x >= 1) & (x < 3)),
    ),
    "BETWEEN, of floats, by integers": (G.filter((v > 0) & (v < 3)), G.filter((v >= 1) & (v <= 2))),
    "NOT BETWEEN as and": (
        W.filter(~((x >= 1) & (x <= 3))),
        W.filter((x < 1) & (x > 3)),
    ),
    "IN without a value": (W.filter(call("in", x, 1, 2)), W.filter(x.eq(1))),
    "IN with a value more": (W.filter(x.eq(1) | x.eq(2)), W.filter(call("in", x, 1, 2, 3))),
    "NOT IN an unknown value": (
        W.filter(~call("in", x, 1, None)),
        W.filter(~call("in", x, 1)),
    ),
    "NOT IN as or": (W.filter(~call("in", x, 1, 2)), W.filter(x.ne(1) | x.ne(2))),
    "columns exchanged": (W.filter(x > k), W.filter(k > x)),
    "a difference turned round": (W.select("k", d=x - k), W.select("k", d=k - x)),
    "brackets moved": (W.select(d=x - (k - 1)), W.select(d=(x - k) - 1)),
    "a constant computed wrongly": (W.filter(x > 2 * 3), W.filter(x > 5)),
    "integer division before multiplication": (
        W.select(d=call("//", x * 2, 4)),
        W.select(d=call("//", x, 4) * 2),
    ),
    "a quotient as an integer": (W.select(d=x / 2), W.select(d=(x // 2).cast(Type.FLOAT))),
    "rounded in between": (W.select(d=x * 0.5 * 2.0), W.select(d=(x // 2).cast(Type.FLOAT) * 2.0)),
    "a remainder of another sign": (
        W.select(d=Binary("%", (x - 2).expression, Const(3))),
        W.select(d=(x - 2) % 3),
    ),
    "unknown for nothing": (M.select(d=call("coalesce", x, 0)), M.select(d=call("coalesce", x, 1))),
    "another text": (U.filter(s.eq("a")), U.filter(call("lower", s).eq("a"))),
    "SUM for MAX": (by_key(W, r=ms.max_("x")), by_key(W, r=ms.sum_("x"))),
    "MIN for MAX": (by_key(W, r=ms.max_("x")), by_key(W, r=ms.min_("x"))),
    "COUNT(x) for COUNT(*)": (by_key(M, r=ms.count()), by_key(M, r=ms.count("x"))),
    "COUNT(DISTINCT x) for COUNT(x)": (by_key(W, r=ms.count("x")), by_key(W, r=ms.count_distinct("x"))),
    "SUM of one for COUNT(x)": (by_key(M, r=ms.count("x")), by_key(M, r=ms.sum_(ms.lit(1)))),
    "AVG by the number of rows": (
        by_key(M, r=ms.avg("x")),
        by_key(M, t=ms.sum_("x"), n=ms.count()).select("k", r=ms.col("t") / ms.col("n")),
    ),
    "aggregated twice": (
        W.aggregate(r=ms.avg("x")),
        by_key(W, r=ms.avg("x")).aggregate(r=ms.avg("r")),
    ),
    "grouped by another column": (
        W.group_by("k").aggregate(r=ms.count()),
        W.select(k=x, x=k).group_by("k").aggregate(r=ms.count()),
    ),
    "grouping columns exchanged": (
        W.group_by("k", "x").aggregate(r=ms.count()),
        W.group_by("x", "k").aggregate(r=ms.count()).rename({"x": "k", "k": "x"}),
    ),
    "HAVING below the groups": (
        by_key(W, x=ms.max_("x")).filter(x < 3),
        by_key(W.filter(x < 3), x=ms.max_("x")),
    ),
    "DISTINCT removed": (W.select("k").distinct(), W.select("k")),
    "DISTINCT below the projection": (W.select("k").distinct(), W.distinct().select("k")),
    "DISTINCT below UNION ALL": (
        W.union(W.filter(x > 1)).distinct(),
        W.distinct().union(W.filter(x > 1).distinct()),
    ),
    "DISTINCT below the window": (W.distinct(), A.distinct().window(5)),
    "GROUP BY without a column for DISTINCT": (
        W.distinct().select("k"),
        W.group_by("k", "x").aggregate(n=ms.count()).select(k=ms.col("n")),
    ),
    "difference the other way round": (
        W.filter(x > 1).difference(W.filter(k > 1)),
        W.filter(k > 1).difference(W.filter(x > 1)),
    ),
    "all at once for one by one": (
        W.union(W).difference(W.filter(x > 1)),
        W.union(W).strict_difference(W.filter(x > 1)),
    ),
    "a filter on what is taken away": (
        W.difference(W.filter(x > 1)).filter(k > 1),
        W.filter(k > 1).difference(W.filter((x > 1) & (k > 2))),
    ),
    "UNION for UNION ALL": (W.union(W.filter(x > 1)), W.max_union(W.filter(x > 1))),
    "intersection for union": (W.max_union(W.filter(x > 1)), W.intersection(W.filter(x > 1))),
    "a product for a join": (W.join(V, on=ON), W.join(V)),
    "joined by another column": (W.join(V, on=ON), W.join(V, on=[("k", "y")])),
    "a condition of an outer table": (
        W.anti_join(V, on=k.eq(ms.col("j")) & (x > 1)),
        W.filter(x > 1).anti_join(V, on=ON),
    ),
    "a join for a semi-join": (W.semi_join(V, on=ON), W.join(V, on=ON, columns=["k", "x"])),
    "an anti-join for a semi-join": (W.semi_join(V, on=ON), W.anti_join(V, on=ON)),
    "columns of the other side": (
        W.join(V, on=x < y, columns=["x"]),
        W.join(V, on=x < y, columns=["y"]).rename({"y": "x"}),
    ),
    "a longer window": (W, A.window(6)),
    "a window that slides": (A.window(6), A.window(6, slide=2)),
    "windows exchanged": (
        A.window(5).join(B.window(3), on=ON),
        A.window(3).join(B.window(5), on=ON),
    ),
    "a count window above the filter": (A.last(2).filter(x > 1), A.filter(x > 1).last(2)),
    "a count window by groups": (A.last(1), A.last(1, by=["k"])),
    "a count window of groups above a filter": (
        A.last(2, by=["k"]).filter(x > 1),
        A.filter(x > 1).last(2, by=["k"]),
    ),
    "rows for chronons": (A.last(5), A.window(5)),
    "granularity on one side": (
        W.granularity(2).join(V.granularity(2), on=ON),
        W.granularity(2).join(V, on=ON),
    ),
    "granularity below the window": (A.window(6).granularity(2), A.granularity(2).window(6)),
    "a coarser granularity": (W.granularity(2), W.granularity(4)),
    "what comes for what goes": (W.istream(), W.dstream()),
    "what comes, without columns": (
        W.istream().select("k"),
        W.select("k").istream(),
    ),
    "floats put together": (
        G.select(d=(v + 0.1) + 0.2),
        G.select(d=v + (ms.lit(0.1) + 0.2)),
    ),
}
