"""Rewrites of a query as people write them by hand, which leave its meaning as it is.

By name, the query before and after. `PROVED` are shown to mean the same by their normal form; of `UNKNOWN` it
is told why not by that; rules may show it. None may ever be refuted.
"""

from __future__ import annotations

from collections.abc import Mapping

import midstream as ms
from midstream.plans.expressions.operands import call

A = ms.stream("a", k="integer", x="integer")
A2 = ms.stream("a2", k="integer", x="integer")
B = ms.stream("b", j="integer", y="integer")
C = ms.stream("c", i="integer", z="integer")
N = ms.stream("n", k="integer", x="integer?", p="boolean?")
F = ms.stream("f", k="integer", v="float")
R = ms.relation("r", r="integer", w="integer")
W, W2, V, Z, M, G = (one.window(5) for one in (A, A2, B, C, N, F))
KJ, JI, KI = [("k", "j")], [("j", "i")], [("k", "i")]
k, x, y, j, z, p, v = map(ms.col, ("k", "x", "y", "j", "z", "p", "v"))


PROVED: Mapping[str, tuple[ms.Stream, ms.Stream]] = {
    # windows
    "a filter below the window": (W.filter(x > 3), A.filter(x > 3).window(5)),
    "columns chosen below the window": (W.select("x"), A.select("x").window(5)),
    "computed below the window": (
        W.select("k", d=x * 2).filter(ms.col("d") > 3),
        A.select("k", d=x * 2).filter(ms.col("d") > 3).window(5),
    ),
    "one window for a union": (W.union(W2), A.union(A2).window(5)),
    "a filter below the windows of a union": (
        A.union(A2).window(5).filter(x > 3),
        A.filter(x > 3).window(5).union(A2.window(5).filter(x > 3)),
    ),
    "a filter below the window of a join": (
        W.join(V, on=KJ).filter(x > 3).group_by("k").aggregate(n=ms.count()),
        A.filter(x > 3).window(5).join(V, on=KJ).group_by("k").aggregate(n=ms.count()),
    ),
    "a filter below a window that slides": (
        A.window(6, slide=2).filter(x > 3),
        A.filter(x > 3).window(6, slide=2),
    ),
    "a window of one chronon dropped": (A.window(1).filter(x > 3), A.filter(x > 3)),
    "filters merged below a count window": (
        A.filter(x > 3).filter(k > 1).last(5),
        A.filter((k > 1) & (x > 3)).last(5),
    ),
    "a filter on what comes": (W.istream().filter(x > 3), W.filter(x > 3).istream()),
    # conditions
    "De Morgan": (W.filter(~((x > 3) | (k < 1))), W.filter((x <= 3) & (k >= 1))),
    "De Morgan, of what may be unknown": (M.filter(~((x > 3) & p)), M.filter((x <= 3) | ~p)),
    "a negated comparison": (M.filter(~(x > 3)), M.filter(x <= 3)),
    "a negation negated": (M.filter(~~p), M.filter(p)),
    "IN for or": (W.filter(x.eq(1) | x.eq(2) | x.eq(3)), W.filter(call("in", x, 3, 2, 1))),
    "NOT IN for and": (M.filter(x.ne(1) & x.ne(2)), M.filter(~call("in", x, 1, 2))),
    "BETWEEN for two comparisons": (
        W.filter((x >= 1) & (x <= 3)),
        W.filter(x <= 3).filter(ms.lit(1) <= x),
    ),
    "NOT BETWEEN": (M.filter(~((x >= 1) & (x <= 3))), M.filter((x < 1) | (x > 3))),
    "bounds of integers": (W.filter((x > 0) & (x < 4)), W.filter((x >= 1) & (x <= 3))),
    "a condition factored out": (
        W.filter(((x > 3) & (k > 1)) | ((x > 3) & (k < 0))),
        W.filter((x > 3) & ((k > 1) | (k < 0))),
    ),
    "a condition that says no more": (W.filter(x > 3), W.filter((x > 3) | ((x > 3) & (k > 1)))),
    "a condition that is true": (W.filter((ms.lit(1) == 1) & (x > 3)), W.filter(x > 3)),
    "equal to true": (M.filter(p.eq(True)), M.filter(p)),
    "known where it cannot be otherwise": (W.filter(x.is_not_null()), W),
    "constants computed": (W.filter(x > 60 * 60), W.filter(x > 3600)),
    "a constant on the other side": (W.filter(x - 1 > 2), W.filter(x > 3)),
    "a whole number for a float": (G.filter(v > 10), G.filter(v > 10.0)),
    "sums in another order": (W.select(d=(x + 1) + k), W.select(d=x + (k + 1))),
    "computed in steps": (W.select(p=x + 1).select(q=ms.col("p") * 2), W.select(q=2 * x + 2)),
    # joins
    "joins in another order": (
        W.join(V, on=KJ).join(Z, on=JI),
        W.join(V.join(Z, on=JI), on=KJ),
    ),
    "sides of a join exchanged": (W.join(V, on=KJ), V.join(W, on=KJ).select("k", "x", "j", "y")),
    "an equality that follows": (W.join(V, on=KJ).join(Z, on=JI), W.join(V, on=KJ).join(Z, on=KI)),
    "a filter below a join": (
        W.join(V, on=KJ).filter((x > 3) & (y > 1)),
        W.filter(x > 3).join(V.filter(y > 1), on=KJ),
    ),
    "a constant on both sides": (
        W.join(V, on=KJ).filter(k.eq(3)),
        W.filter(k.eq(3)).join(V.filter(j.eq(3)), on=KJ),
    ),
    "the column of the other side": (
        W.join(V, on=KJ).select("k", "y"),
        W.join(V, on=KJ).select(k=j, y=y),
    ),
    "grouped by the column of the other side": (
        W.join(V, on=KJ).group_by("k").aggregate(n=ms.count()),
        W.join(V, on=KJ).group_by("j").aggregate(n=ms.count()).rename({"j": "k"}),
    ),
    "a relation joined first": (
        W.join(V, on=KJ).join(R, on=[("k", "r")]),
        W.join(R, on=[("k", "r")]).join(V, on=KJ).select("k", "x", "j", "y", "r", "w"),
    ),
    # groups and sets
    "grouping columns in another order": (
        W.group_by("k", "x").aggregate(n=ms.count()),
        W.group_by("x", "k").aggregate(n=ms.count()).select("k", "x", "n"),
    ),
    "functions in another order": (
        W.group_by("k").aggregate(n=ms.count(), m=ms.max_("x")),
        W.group_by("k").aggregate(m=ms.max_("x"), n=ms.count()).select("k", "n", "m"),
    ),
    "HAVING a grouping column": (
        W.group_by("k").aggregate(n=ms.count()).filter(k > 1),
        W.filter(k > 1).group_by("k").aggregate(n=ms.count()),
    ),
    "GROUP BY for DISTINCT": (W.distinct(), W.group_by("k", "x").aggregate()),
    "GROUP BY for DISTINCT of some columns": (W.select("k").distinct(), W.group_by("k").aggregate()),
    "DISTINCT of groups": (
        W.group_by("k").aggregate(n=ms.count()).distinct(),
        W.group_by("k").aggregate(n=ms.count()),
    ),
    "COUNT(x) of what is known": (
        W.group_by("k").aggregate(n=ms.count("x")),
        W.group_by("k").aggregate(n=ms.count()),
    ),
    "DISTINCT below a join": (W.join(V, on=KJ).distinct(), W.distinct().join(V.distinct(), on=KJ)),
    "an intersection turned round": (W.intersection(W2), W2.intersection(W)),
    "an intersection of what may be unknown": (
        W.select("x").intersection(M.select("x")),
        M.select("x").intersection(W.select("x")),
    ),
    "a filter below a difference": (
        W.difference(W2).filter(x > 3),
        W.filter(x > 3).difference(W2.filter(x > 3)),
    ),
    "a filter below a semi-join": (W.semi_join(V, on=KJ).filter(x > 3), W.filter(x > 3).semi_join(V, on=KJ)),
    "a filter below an anti-join": (W.anti_join(V, on=KJ).filter(x > 3), W.filter(x > 3).anti_join(V, on=KJ)),
    "renamed and back": (
        W.rename({"x": "u"}).filter(ms.col("u") > 3).rename({"u": "x"}),
        W.filter(x > 3),
    ),
}

UNKNOWN: Mapping[str, tuple[ms.Stream, ms.Stream, str]] = {
    "a condition implied by another": (
        W.filter(x > 5).filter(x > 3),
        W.filter(x > 5),
        "which comparisons follow from others is not looked at",
    ),
    "a semi-join as a join with distinct rows": (
        W.semi_join(V, on=KJ),
        W.join(V.select("j").distinct(), on=KJ, columns=["k", "x"]),
        "semi-joins and joins have forms of their own",
    ),
    "an anti-join as what is left": (
        W.anti_join(V, on=KJ),
        W.difference(W.semi_join(V, on=KJ)),
        "differences have a form of their own",
    ),
    "DISTINCT by counting": (
        W.select("k").distinct(),
        W.group_by("k").aggregate(n=ms.count()).select("k"),
        "functions whose values nobody reads are not left out",
    ),
    "AVG as a quotient": (
        W.group_by("k").aggregate(r=ms.avg("x")),
        W.group_by("k").aggregate(t=ms.sum_("x"), n=ms.count()).select("k", r=ms.col("t") / ms.col("n")),
        "what functions have to do with each other is not looked at",
    ),
    "groups of groups": (
        W.aggregate(n=ms.sum_("x")),
        W.group_by("k").aggregate(n=ms.sum_("x")).aggregate(n=ms.sum_("n")),
        "aggregations of aggregations are not put together",
    ),
    "CASE for coalesce": (
        M.select(d=call("coalesce", x, 0)),
        M.select(d=ms.case((x.is_null(), 0), default=x)),
        "choices are not looked into",
    ),
    "MAX of what is MAX already": (
        W.group_by("k").aggregate(m=ms.max_("x")).aggregate(m=ms.max_("m")),
        W.aggregate(m=ms.max_("x")),
        "aggregations of aggregations are not put together",
    ),
    "UNION by MAX": (
        W.distinct().max_union(W2.distinct()),
        W.union(W2).distinct(),
        "max unions have a form of their own",
    ),
}
