"""A query costs the same however it is written: flat, nested, or over derived streams."""

from __future__ import annotations

import random

import pytest

import midstream as ms
from midstream.optimizer import Sample, Statistics, StreamStatistics, optimize
from midstream.optimizer.rules import BAGS, RULES
from midstream.plans.algebra.operators import Source
from midstream.plans.algebra.plan import Plan

STREAMS = """
SET time_unit = 'seconds';
CREATE STREAM a(t TIMESTAMP, x INT, y INT, v INT) ORDERED BY t;
CREATE STREAM b(t TIMESTAMP, z INT, w INT, u INT) ORDERED BY t;
CREATE STREAM c(t TIMESTAMP, p INT, q INT, r INT) ORDERED BY t;
CREATE STREAM d(t TIMESTAMP, x INT, y INT, v INT) ORDERED BY t;
"""
WINDOW = "[RANGE 60 SECONDS]"

QUERIES: dict[str, tuple[str, str, dict[str, str]]] = {
    "a filter": (
        "SELECT A.x FROM a # A WHERE A.y > 3",
        "SELECT V.x AS x FROM {V} V WHERE V.y > 3",
        {"V": "SELECT A.x AS x, A.y AS y FROM a # A"},
    ),
    "a filter inside": (
        "SELECT A.x FROM a # A WHERE A.y > 3 AND A.x < 5",
        "SELECT V.x AS x FROM {V} V WHERE V.x < 5",
        {"V": "SELECT A.x AS x FROM a # A WHERE A.y > 3"},
    ),
    "two filters, one above the other": (
        "SELECT A.x, A.y FROM a # A WHERE A.y > 3 AND A.v = 2 AND A.x <> 1",
        "SELECT W.x AS x, W.y AS y FROM {W} W WHERE W.x <> 1",
        {
            "V": "SELECT A.x AS x, A.y AS y, A.v AS v FROM a # A WHERE A.y > 3",
            "W": "SELECT V.x AS x, V.y AS y FROM {V} V WHERE V.v = 2",
        },
    ),
    "a computed column": (
        "SELECT A.x + A.y AS s FROM a # A WHERE A.x + A.y > 7",
        "SELECT V.s AS s FROM {V} V WHERE V.s > 7",
        {"V": "SELECT A.x + A.y AS s FROM a # A"},
    ),
    "a computed column twice": (
        "SELECT (A.x + A.y) * 2 AS d FROM a # A WHERE (A.x + A.y) * 2 > 7",
        "SELECT W.d AS d FROM {W} W WHERE W.d > 7",
        {"V": "SELECT A.x + A.y AS s FROM a # A", "W": "SELECT V.s * 2 AS d FROM {V} V"},
    ),
    "a join with a derived stream": (
        "SELECT A.y, B.w FROM a # A, b # B WHERE A.x = B.z",
        "SELECT V.y AS y, B.w AS w FROM {V} V, b # B WHERE V.x = B.z",
        {"V": "SELECT A.x AS x, A.y AS y FROM a # A"},
    ),
    "a join of two derived streams": (
        "SELECT A.y, B.w FROM a # A, b # B WHERE A.x = B.z AND A.y > 3 AND B.w < 5",
        "SELECT V.y AS y, W.w AS w FROM {V} V, {W} W WHERE V.x = W.z",
        {
            "V": "SELECT A.x AS x, A.y AS y FROM a # A WHERE A.y > 3",
            "W": "SELECT B.z AS z, B.w AS w FROM b # B WHERE B.w < 5",
        },
    ),
    "a filter above a join": (
        "SELECT A.y, B.w FROM a # A, b # B WHERE A.x = B.z AND A.y > 3",
        "SELECT V.y AS y, V.w AS w FROM {V} V WHERE V.y > 3",
        {"V": "SELECT A.y AS y, B.w AS w FROM a # A, b # B WHERE A.x = B.z"},
    ),
    "a condition on both sides above a join": (
        "SELECT A.y, B.w FROM a # A, b # B WHERE A.x = B.z AND A.y > B.w",
        "SELECT V.y AS y, V.w AS w FROM {V} V WHERE V.y > V.w",
        {"V": "SELECT A.y AS y, B.w AS w FROM a # A, b # B WHERE A.x = B.z"},
    ),
    "an equality above a product": (
        "SELECT A.y, B.w FROM a # A, b # B WHERE A.x = B.z",
        "SELECT V.y AS y, V.w AS w FROM {V} V WHERE V.x = V.z",
        {"V": "SELECT A.x AS x, A.y AS y, B.z AS z, B.w AS w FROM a # A, b # B"},
    ),
    "a join of a join": (
        "SELECT A.y, B.w, C.r FROM a # A, b # B, c # C WHERE A.x = B.z AND B.w = C.p",
        "SELECT V.y AS y, V.w AS w, C.r AS r FROM {V} V, c # C WHERE V.w = C.p",
        {"V": "SELECT A.y AS y, B.w AS w FROM a # A, b # B WHERE A.x = B.z"},
    ),
    "a join with a join on the right": (
        "SELECT A.y, B.w, C.r FROM a # A, b # B, c # C WHERE A.x = B.z AND B.w = C.p",
        "SELECT A.y AS y, V.w AS w, V.r AS r FROM a # A, {V} V WHERE A.x = V.z",
        {"V": "SELECT B.z AS z, B.w AS w, C.r AS r FROM b # B, c # C WHERE B.w = C.p"},
    ),
    "a star": (
        "SELECT A.y, B.w, C.r FROM a # A, b # B, c # C WHERE A.x = B.z AND A.x = C.p",
        "SELECT V.y AS y, V.w AS w, C.r AS r FROM {V} V, c # C WHERE V.x = C.p",
        {"V": "SELECT A.x AS x, A.y AS y, B.w AS w FROM a # A, b # B WHERE A.x = B.z"},
    ),
    "a join of a join, filtered above": (
        "SELECT A.y, C.r FROM a # A, b # B, c # C WHERE A.x = B.z AND B.w = C.p AND A.v > 6 AND C.q < 2",
        "SELECT W.y AS y, W.r AS r FROM {W} W WHERE W.v > 6 AND W.q < 2",
        {
            "V": "SELECT A.y AS y, A.v AS v, B.w AS w FROM a # A, b # B WHERE A.x = B.z",
            "W": "SELECT V.y AS y, V.v AS v, C.q AS q, C.r AS r FROM {V} V, c # C WHERE V.w = C.p",
        },
    ),
    "a join of two joins": (
        "SELECT A.v, D.v AS dv FROM a # A, b # B, c # C, d # D WHERE A.x = B.z AND C.p = D.x AND B.w = C.q",
        "SELECT V.v AS v, W.v AS dv FROM {V} V, {W} W WHERE V.w = W.q",
        {
            "V": "SELECT A.v AS v, B.w AS w FROM a # A, b # B WHERE A.x = B.z",
            "W": "SELECT C.q AS q, D.v AS v FROM c # C, d # D WHERE C.p = D.x",
        },
    ),
    "a self-join": (
        "SELECT A.v, B.v AS w FROM a # A, a # B WHERE A.x = B.y",
        "SELECT V.v AS v, W.v AS w FROM {V} V, {V} W WHERE V.x = W.y",
        {"V": "SELECT A.x AS x, A.y AS y, A.v AS v FROM a # A"},
    ),
    "a union": (
        "(SELECT A.x, A.y FROM a # A WHERE A.y > 3) UNION ALL (SELECT D.x, D.y FROM d # D WHERE D.y > 3)",
        "SELECT V.x AS x, V.y AS y FROM {V} V WHERE V.y > 3",
        {"V": "(SELECT A.x AS x, A.y AS y FROM a # A) UNION ALL (SELECT D.x AS x, D.y AS y FROM d # D)"},
    ),
    "a union of filtered streams": (
        "(SELECT A.x FROM a # A WHERE A.y > 3 AND A.x < 5) UNION ALL (SELECT D.x FROM d # D WHERE D.x < 5)",
        "SELECT V.x AS x FROM {V} V WHERE V.x < 5",
        {"V": "(SELECT A.x AS x FROM a # A WHERE A.y > 3) UNION ALL (SELECT D.x AS x FROM d # D)"},
    ),
    "a join with a union": (
        "SELECT U.y, B.w FROM ((SELECT A.x, A.y FROM a # A WHERE A.y > 3) UNION ALL "
        "(SELECT D.x, D.y FROM d # D WHERE D.y > 3)) U, b # B WHERE U.x = B.z",
        "SELECT V.y AS y, B.w AS w FROM {V} V, b # B WHERE V.x = B.z AND V.y > 3",
        {"V": "(SELECT A.x AS x, A.y AS y FROM a # A) UNION ALL (SELECT D.x AS x, D.y AS y FROM d # D)"},
    ),
    "an aggregate": (
        "SELECT A.x, COUNT(*) AS n FROM a # A GROUP BY A.x",
        "SELECT V.x AS x, COUNT(*) AS n FROM {V} V GROUP BY V.x",
        {"V": "SELECT A.x AS x FROM a # A"},
    ),
    "an aggregate of a filtered stream": (
        "SELECT A.x, MAX(A.y) AS m FROM a # A WHERE A.v > 4 GROUP BY A.x",
        "SELECT V.x AS x, MAX(V.y) AS m FROM {V} V GROUP BY V.x",
        {"V": "SELECT A.x AS x, A.y AS y FROM a # A WHERE A.v > 4"},
    ),
    "a filter on the key of an aggregate": (
        "SELECT A.x, MAX(A.y) AS m FROM a # A WHERE A.x > 4 GROUP BY A.x",
        "SELECT V.x AS x, V.m AS m FROM {V} V WHERE V.x > 4",
        {"V": "SELECT A.x AS x, MAX(A.y) AS m FROM a # A GROUP BY A.x"},
    ),
    "a filter on an aggregate": (
        "SELECT A.x, MAX(A.y) AS m FROM a # A GROUP BY A.x HAVING MAX(A.y) > 4",
        "SELECT V.x AS x, V.m AS m FROM {V} V WHERE V.m > 4",
        {"V": "SELECT A.x AS x, MAX(A.y) AS m FROM a # A GROUP BY A.x"},
    ),
    "an aggregate of a join": (
        "SELECT A.y, COUNT(*) AS n FROM a # A, b # B WHERE A.x = B.z AND B.w > 4 GROUP BY A.y",
        "SELECT V.y AS y, COUNT(*) AS n FROM {V} V WHERE V.w > 4 GROUP BY V.y",
        {"V": "SELECT A.y AS y, B.w AS w FROM a # A, b # B WHERE A.x = B.z"},
    ),
    "an aggregate of a union": (
        "SELECT U.x, SUM(U.y) AS s FROM ((SELECT A.x, A.y FROM a # A) UNION ALL "
        "(SELECT D.x, D.y FROM d # D)) U GROUP BY U.x",
        "SELECT V.x AS x, SUM(V.y) AS s FROM {V} V GROUP BY V.x",
        {"V": "(SELECT A.x AS x, A.y AS y FROM a # A) UNION ALL (SELECT D.x AS x, D.y AS y FROM d # D)"},
    ),
    "a join with an aggregate": (
        "SELECT U.n, B.w FROM (SELECT A.x, COUNT(*) AS n FROM a # A WHERE A.x > 2 GROUP BY A.x) U, b # B "
        "WHERE U.x = B.z",
        "SELECT V.n AS n, B.w AS w FROM {V} V, b # B WHERE V.x = B.z AND V.x > 2",
        {"V": "SELECT A.x AS x, COUNT(*) AS n FROM a # A GROUP BY A.x"},
    ),
    "different rows": (
        "SELECT DISTINCT A.x FROM a # A WHERE A.x > 4",
        "SELECT V.x AS x FROM {V} V WHERE V.x > 4",
        {"V": "SELECT DISTINCT A.x AS x FROM a # A"},
    ),
    "different rows of different rows": (
        "SELECT DISTINCT A.x, A.y FROM a # A",
        "SELECT DISTINCT V.x AS x, V.y AS y FROM {V} V",
        {"V": "SELECT DISTINCT A.x AS x, A.y AS y FROM a # A"},
    ),
    "a subquery with IN": (
        "SELECT A.y FROM a # A WHERE A.v > 4 AND A.x IN (SELECT B.z FROM b # B WHERE B.w < 5)",
        "SELECT V.y AS y FROM {V} V WHERE V.x IN (SELECT W.z FROM {W} W)",
        {
            "V": "SELECT A.x AS x, A.y AS y FROM a # A WHERE A.v > 4",
            "W": "SELECT B.z AS z FROM b # B WHERE B.w < 5",
        },
    ),
    "a subquery with EXISTS, filtered above": (
        "SELECT A.y FROM a # A WHERE A.v > 4 AND EXISTS (SELECT * FROM b # B WHERE B.z = A.x)",
        "SELECT V.y AS y FROM {V} V WHERE V.v > 4",
        {"V": "SELECT A.y AS y, A.v AS v FROM a # A WHERE EXISTS (SELECT * FROM b # B WHERE B.z = A.x)"},
    ),
}


def flat(name: str) -> Plan:
    return ms.sql(STREAMS + QUERIES[name][0].replace("#", WINDOW))


def nested(name: str) -> Plan:
    _, outer, parts = QUERIES[name]
    inside: dict[str, str] = {}
    for part, query in parts.items():
        inside[part] = f"({query.format(**inside)})"
    return ms.sql(STREAMS + outer.format(**inside).replace("#", WINDOW))


def views(name: str) -> Plan:
    _, outer, parts = QUERIES[name]
    names = {part: f"view_{part.lower()}" for part in parts}
    made = "".join(
        f"CREATE STREAM {names[part]} AS {query.format(**names)};\n" for part, query in parts.items()
    )
    return ms.sql(STREAMS + (made + outer.format(**names)).replace("#", WINDOW))


def statistics(seed: int, *plans: Plan) -> Statistics:
    """Of the sources of plans; they are the same whatever plan they are in."""
    found = {}
    for plan in plans:
        for node in plan.nodes:
            if isinstance(node.operator, Source):
                rng = random.Random(f"{seed} {node.operator.stream}")
                values = [rng.randrange(5, 40) for _ in node.schema]
                rows = [tuple(rng.randrange(n) for n in values) for _ in range(200)]
                found[node] = StreamStatistics(rng.uniform(0.5, 5.0), 1.0, sample=Sample(node.schema, rows))
    return Statistics(found)


def costs(name: str, seed: int) -> list[float]:
    """Of the plans that are chosen for the three ways to write a query."""
    plans = [flat(name), nested(name), views(name)]
    known = statistics(seed, *plans)
    return [optimize(plan, known, rules=(*RULES, *BAGS)).cost.total for plan in plans]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_the_chosen_plans_cost_the_same(name: str, seed: int) -> None:
    first, *others = costs(name, seed)
    assert others == [pytest.approx(first, rel=1e-6)] * 2
