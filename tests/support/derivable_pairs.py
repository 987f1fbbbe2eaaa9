"""Pairs of plans that mean the same, as rules show and the normal form of plans does not."""

from __future__ import annotations

from collections.abc import Mapping

import midstream as ms
from midstream.plans.algebra.builder import Stream

S = ms.stream("s", x="integer", y="integer?")
S2 = ms.stream("s2", x="integer", y="integer?")
S3 = ms.stream("s3", x="integer", y="integer?")
T = ms.stream("t", u="integer", v="integer?")
A, B, C, R = (rows.window(9) for rows in (S, S2, S3, T))
K = R.group_by("u").aggregate(m=ms.count())
"""One row for each u."""
x, y, u, v = (ms.col(name) for name in "xyuv")

DERIVABLE: Mapping[str, tuple[Stream, Stream]] = {
    # Filters.
    "filter below the left of a semi-join, of what it equates": (
        A.semi_join(R, on=[("x", "u")]).filter(x > 3),
        A.semi_join(R.filter(u > 3), on=[("x", "u")]),
    ),
    "filter on either side of a semi-join": (
        A.filter(x > 3).semi_join(R, on=[("x", "u")]),
        A.filter(x > 3).semi_join(R.filter(u > 3), on=[("x", "u")]),
    ),
    "filter below an anti-join, of what it equates": (
        A.filter(x > 3).anti_join(R, on=[("x", "u")]),
        A.filter(x > 3).anti_join(R.filter(u > 3), on=[("x", "u")]),
    ),
    "filter below the left of a difference": (
        A.difference(B).filter(x > 3),
        A.filter(x > 3).difference(B),
    ),
    "filter below the left of a strict difference": (
        A.strict_difference(B).filter(x > 3),
        A.filter(x > 3).strict_difference(B),
    ),
    "filter below one side of an intersection": (
        A.intersection(B).filter(x > 3),
        A.filter(x > 3).intersection(B),
    ),
    "transitive bound": (
        A.join(R, on=[("x", "u")]).filter(x > 5),
        A.filter(x > 5).join(R.filter(u > 5), on=[("x", "u")]),
    ),
    "implied bound": (A.filter((x > 5) & (x > 3)), A.filter(x > 5)),
    "implied by an equality": (A.filter((x == 5) & (x > 3)), A.filter(x == 5)),
    "contradiction": (A.filter((x > 5) & (x < 3)), A.filter((x > 7) & (x < 2))),
    "De Morgan over bounds": (A.filter(~((x < 5) | (x < 3))), A.filter(x >= 5)),
    "filter implied below": (A.filter(x > 5).distinct().filter(x > 3), A.filter(x > 5).distinct()),
    "filter on a key below grouping": (
        A.group_by("x").aggregate(n=ms.count()).filter((x > 5) & (x > 3)),
        A.filter(x > 5).group_by("x").aggregate(n=ms.count()),
    ),
    # Joins, semi-joins and anti-joins.
    "semi-joins commute": (
        A.semi_join(R, on=[("x", "u")]).semi_join(K, on=[("y", "u")]),
        A.semi_join(K, on=[("y", "u")]).semi_join(R, on=[("x", "u")]),
    ),
    "semi-join and anti-join commute": (
        A.semi_join(R, on=[("x", "u")]).anti_join(K, on=[("y", "u")]),
        A.anti_join(K, on=[("y", "u")]).semi_join(R, on=[("x", "u")]),
    ),
    "semi-join below a join": (
        A.join(R.alias("r"), on=[("x", "r.u")]).semi_join(K, on=[("y", "u")]),
        A.semi_join(K, on=[("y", "u")]).join(R.alias("r"), on=[("x", "r.u")]),
    ),
    "anti-join below a join": (
        A.join(R.alias("r"), on=[("x", "r.u")]).anti_join(K, on=[("y", "u")]),
        A.anti_join(K, on=[("y", "u")]).join(R.alias("r"), on=[("x", "r.u")]),
    ),
    "semi-join as join with what is distinct": (
        A.semi_join(R, on=[("x", "u")]),
        A.join(R.select("u").distinct(), on=[("x", "u")], columns=["x", "y"]),
    ),
    "semi-join with a key as join": (
        A.semi_join(K, on=[("x", "u")]),
        A.join(K, on=[("x", "u")], columns=["x", "y"]),
    ),
    "semi-join with what is distinct": (
        A.semi_join(R.distinct(), on=[("x", "u")]),
        A.semi_join(R, on=[("x", "u")]),
    ),
    "anti-join with what is distinct": (
        A.anti_join(R.distinct(), on=[("x", "u")]),
        A.anti_join(R, on=[("x", "u")]),
    ),
    "anti-join as difference": (
        A.anti_join(R, on=[("x", "u")]),
        A.difference(A.semi_join(R, on=[("x", "u")])),
    ),
    "anti-join as strict difference": (
        A.anti_join(R, on=[("x", "u")]),
        A.strict_difference(A.semi_join(R, on=[("x", "u")])),
    ),
    "join over union": (
        A.union(B).distinct().union(C).join(R, on=[("x", "u")]),
        A.union(B).distinct().join(R, on=[("x", "u")]).union(C.join(R, on=[("x", "u")])),
    ),
    "semi-join over union": (
        A.union(B).semi_join(R, on=[("x", "u")]),
        A.semi_join(R, on=[("x", "u")]).union(B.semi_join(R, on=[("x", "u")])),
    ),
    "distinct join as distinct semi-join": (
        A.join(R, on=[("x", "u")], columns=["x", "y"]).distinct(),
        A.distinct().semi_join(R, on=[("x", "u")]),
    ),
    # Duplicates.
    "distinct as grouping, counted": (
        A.distinct().group_by("x").aggregate(n=ms.count()),
        A.group_by("x", "y").aggregate(m=ms.count()).group_by("x").aggregate(n=ms.count()),
    ),
    "distinct under MAX": (
        A.distinct().group_by("x").aggregate(m=ms.max_("y")),
        A.group_by("x").aggregate(m=ms.max_("y")),
    ),
    "distinct under MIN": (A.distinct().aggregate(m=ms.min_("y")), A.aggregate(m=ms.min_("y"))),
    "distinct of a max union": (A.max_union(B).distinct(), A.union(B).distinct()),
    "max union of sets": (A.distinct().max_union(B.distinct()), A.union(B).distinct()),
    "distinct of an intersection": (
        A.intersection(B).distinct(),
        A.distinct().intersection(B.distinct()),
    ),
    "distinct of a strict difference": (
        A.strict_difference(B).distinct(),
        A.distinct().strict_difference(B),
    ),
    # Differences.
    "what was added is taken away": (A.union(B).difference(B), A.select("x", "y")),
    "difference twice": (A.difference(B).difference(C), A.difference(B.union(C))),
    "strict difference twice": (
        A.strict_difference(B).strict_difference(C),
        A.strict_difference(B.union(C)),
    ),
    "strict difference of duplicates": (A.strict_difference(B.distinct()), A.strict_difference(B)),
    "difference with itself": (A.union(B).difference(A.union(B)), A.difference(A)),
    "intersection by difference": (A.difference(A.difference(B)), A.intersection(B)),
    "difference of a max union": (A.max_union(B).difference(B), A.difference(B)),
    "the difference and what both have": (
        A.difference(B).union(A.intersection(B)),
        A.select("x", "y"),
    ),
    "a max union by differences": (A.difference(B).union(B), B.difference(A).union(A)),
    "max union with a part": (A.max_union(A.difference(B)), A.select("x", "y")),
    "intersection with a part": (A.intersection(A.difference(B)), A.difference(B)),
    "those with a partner and those without": (
        A.semi_join(R, on=[("x", "u")]).union(A.anti_join(R, on=[("x", "u")])),
        A.select("x", "y"),
    ),
    "the same partner twice": (
        A.semi_join(R, on=[("x", "u")]).semi_join(K, on=[("y", "u")]).semi_join(R, on=[("x", "u")]),
        A.semi_join(K, on=[("y", "u")]).semi_join(R, on=[("x", "u")]),
    ),
    "no partner of either kind": (
        A.anti_join(R, on=x == u).anti_join(R, on=y == u),
        A.anti_join(R, on=(x == u) | (y == u)),
    ),
    # Groups.
    "different values as groups": (
        A.group_by("x").aggregate(n=ms.count_distinct("y")),
        A.select("x", "y").distinct().group_by("x").aggregate(n=ms.count("y")),
    ),
    "eager SUM": (
        A.join(R, on=[("x", "u")]).group_by("x").aggregate(m=ms.sum_("y")),
        A.group_by("x").aggregate(p=ms.sum_("y")).join(R, on=[("x", "u")])
        .group_by("x").aggregate(m=ms.sum_("p")),
    ),
    "sum of a union": (
        A.union(B).group_by("x").aggregate(m=ms.sum_("y")),
        A.group_by("x").aggregate(p=ms.sum_("y"))
        .union(B.group_by("x").aggregate(p=ms.sum_("y"))).group_by("x").aggregate(m=ms.sum_("p")),
    ),
    "semi-join below a grouping by its keys": (
        A.group_by("x").aggregate(n=ms.count()).semi_join(R, on=[("x", "u")]),
        A.semi_join(R, on=[("x", "u")]).group_by("x").aggregate(n=ms.count()),
    ),
    "anti-join below a difference": (
        A.difference(B).anti_join(R, on=[("x", "u")]),
        A.anti_join(R, on=[("x", "u")]).difference(B.anti_join(R, on=[("x", "u")])),
    ),
    "anti-join over union": (
        A.union(B).anti_join(R, on=[("x", "u")]),
        A.anti_join(R, on=[("x", "u")]).union(B.anti_join(R, on=[("x", "u")])),
    ),
    "sum of sums": (
        A.group_by("x", "y").aggregate(p=ms.sum_("y")).group_by("x").aggregate(s=ms.sum_("p")),
        A.group_by("x").aggregate(s=ms.sum_("y")),
    ),
    "count as sum of counts": (
        A.group_by("x", "y").aggregate(p=ms.count()).group_by("x").aggregate(n=ms.sum_("p")),
        A.group_by("x").aggregate(n=ms.sum_(ms.lit(1))),
    ),
    "maximum of maxima": (
        A.group_by("x", "y").aggregate(p=ms.max_("y")).group_by("x").aggregate(m=ms.max_("p")),
        A.group_by("x").aggregate(m=ms.max_("y")),
    ),
    "minimum of a union": (
        A.union(B).group_by("x").aggregate(m=ms.min_("y")),
        A.group_by("x").aggregate(p=ms.min_("y"))
        .union(B.group_by("x").aggregate(p=ms.min_("y"))).group_by("x").aggregate(m=ms.min_("p")),
    ),
    "eager MAX": (
        A.join(R, on=[("x", "u")]).group_by("u").aggregate(m=ms.max_("y")),
        A.group_by("x").aggregate(p=ms.max_("y")).join(R, on=[("x", "u")])
        .group_by("u").aggregate(m=ms.max_("p")),
    ),
    # Windows.
    "windows merge below distinct": (S.window(4).window(3).distinct(), S.window(6).distinct()),
    "windows merge below MAX": (
        S.window(4).window(3).group_by("x").aggregate(m=ms.max_("y")),
        S.window(6).group_by("x").aggregate(m=ms.max_("y")),
    ),
    "filter and a partitioned window": (
        S.last(2, by=["x"], ties="arrival").filter(x > 3),
        S.filter(x > 3).last(2, by=["x"], ties="arrival"),
    ),
    "projection and a partitioned window": (
        S.last(2, by=["x"], ties="arrival").select("x", z=y + 1),
        S.select("x", z=y + 1).last(2, by=["x"], ties="arrival"),
    ),
    "projection and a count window": (
        S.last(2, ties="arrival").select(z=y + 1),
        S.select(z=y + 1).last(2, ties="arrival"),
    ),
    "granularity and a join": (
        A.join(R, on=[("x", "u")]).granularity(3),
        A.granularity(3).join(R.granularity(3), on=[("x", "u")]),
    ),
    "granularity and a difference": (
        A.difference(B).granularity(3),
        A.granularity(3).difference(B.granularity(3)),
    ),
    "granularities merge": (A.granularity(2).granularity(4), A.granularity(4)),
    "granularity and grouping": (
        A.group_by("x").aggregate(n=ms.count()).granularity(3),
        A.granularity(3).group_by("x").aggregate(n=ms.count()),
    ),
    "istream of an unbounded window": (S.window(None).istream(), S),
    "istream of an unbounded window of some rows": (
        S.filter(x > 3).window(None).istream().select("x"),
        S.select("x").filter(x > 3),
    ),
}  # fmt: skip
