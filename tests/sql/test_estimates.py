"""SCALED and STANDARD_ERROR: estimates from a sample, in SQL."""

from __future__ import annotations

import pytest

import midstream as ms
from midstream.plans.algebra.builder import stream
from midstream.plans.equivalence.prover import same_meaning
from midstream.plans.expressions.aggregates import avg, count, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.sql.catalog import Catalog

S = stream("s", x="integer?", k="integer")
SAMPLE = S.sample(0.5).window(9)
IN_SQL = "FROM s SAMPLE(50 %) WINDOW(RANGE 9)"
ROWS = list(ms.chronons([(t, (t if t % 3 else None, t % 2)) for t in range(40)]))


@pytest.fixture
def catalog() -> Catalog:
    made = Catalog("seconds")
    made.execute("CREATE STREAM s(at TIMESTAMP, x INT, k INT NOT NULL) ORDERED BY at")
    made.execute("CREATE RELATION r(k INT NOT NULL, name TEXT NOT NULL)")
    made.execute("CREATE STREAM q(at TIMESTAMP, k INT NOT NULL, name TEXT NOT NULL) ORDERED BY at")
    return made


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            f"SELECT k, SCALED(COUNT(*)) AS n, standard_error(count(*)) AS e {IN_SQL} GROUP BY k",
            SAMPLE.group_by("k").aggregate(n=count().scaled(), e=count().standard_error()),
        ),
        (
            "SELECT SCALED(SUM(x + 1)) AS n, STANDARD_ERROR(COUNT(x)) AS e, AVG(x) AS a "
            f"{IN_SQL} WHERE k > 0",
            SAMPLE.filter(col("k") > 0).aggregate(
                n=sum_(col("x") + 1).scaled(), e=count("x").standard_error(), a=avg("x")
            ),
        ),
        (
            f"SELECT k % 2 AS odd, SCALED(SUM(x)) / SCALED(COUNT(x)) AS mean {IN_SQL} GROUP BY odd",
            SAMPLE.select("x", odd=col("k") % 2)
            .group_by("odd")
            .aggregate(total=sum_("x").scaled(), n=count("x").scaled())
            .select("odd", mean=col("total") / col("n")),
        ),
        (
            f"SELECT k FROM (SELECT k + 1 AS k, x {IN_SQL}) AS t GROUP BY k HAVING SCALED(COUNT(*)) > 4",
            SAMPLE.select(k=col("k") + 1).group_by("k").aggregate(n=count().scaled()).filter(col("n") > 4)
            .select("k"),
        ),
    ],
)  # fmt: skip
def test_they_mean_what_the_builder_means(catalog: Catalog, text: str, same: ms.Stream) -> None:
    plan = catalog.query(text).plan
    assert same_meaning(plan.root, same.node)
    assert ms.run(plan, {"s": ROWS}) == ms.run(same.plan(), {"s": ROWS}) != []


def test_over_no_rows_a_count_is_0_and_a_sum_is_unknown(catalog: Catalog) -> None:
    inner = f"SELECT {{}} {IN_SQL} AS i WHERE i.k = q.k"
    asked = ("SCALED(COUNT(*))", "STANDARD_ERROR(COUNT(*))", "SCALED(SUM(x))", "STANDARD_ERROR(SUM(x))")
    text = f"SELECT name, {', '.join(f'({inner.format(one)})' for one in asked)} FROM q WINDOW(RANGE 9)"
    results = ms.run(catalog.query(text).plan, {"q": ms.chronons([(0, (7, "seven"))]), "s": ROWS})
    assert {row for _, _, row in results} == {("seven", 0.0, 0.0, None, None)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SCALED(x)", "scaled: found x, expected an aggregate function, as in scaled(count(*))"),
        ("SCALED()", "scaled: found nothing, expected an aggregate function"),
        ("SCALED(COUNT(*), 2)", "scaled: found COUNT(*), 2, expected an aggregate function"),
        ("SCALED(SCALED(COUNT(*)))", "scaled: found scaled(count(*)), expected count or sum"),
        ("SUM(SCALED(COUNT(*)))", "an aggregate function in another one is not supported"),
        ("SCALED(COUNT(DISTINCT x))", "scaled(count(distinct x)): found distinct values, expected all"),
        ("STANDARD_ERROR(AVG(x))", "standard_error(avg(x)): found avg, expected count or sum"),
        ("SCALED(SUM(name))", "there is no column name"),
    ],
)
def test_what_a_sample_does_not_tell_is_refused(catalog: Catalog, text: str, message: str) -> None:
    with pytest.raises(ms.errors.SqlError) as caught:
        catalog.query(f"SELECT {text} AS n {IN_SQL}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "s WINDOW(RANGE 9)",
            "found source s, expected filters, projections and time windows of one sampled",
        ),
        ("s SAMPLE(50 %) WINDOW(ROWS 9)", "the last rows of a sample are no sample of the last rows"),
        (f"(SELECT DISTINCT x {IN_SQL}) AS t", "a row is there if any of its equals is drawn"),
        (f"(SELECT x {IN_SQL} EXCEPT ALL SELECT k {IN_SQL}) AS t", "needs rows of several streams"),
        ("s SAMPLE(50 %) WINDOW(RANGE 9) JOIN r ON s.k = r.k", "needs rows of several streams"),
    ],
)
def test_what_is_no_sample_is_refused_at_the_estimate(catalog: Catalog, rows: str, message: str) -> None:
    with pytest.raises(ms.errors.SqlError) as caught:
        catalog.query(f"SELECT COUNT(*) AS m, SCALED(COUNT(*)) AS n FROM {rows}")
    assert message in str(caught.value)
    assert caught.value.column == 23  # type: ignore[attr-defined]


def test_their_names_are_taken(catalog: Catalog) -> None:
    with pytest.raises(ms.errors.PlanError, match="scaled is a built-in aggregate; give yours another name"):
        catalog.add_aggregate(ms.user_aggregate("scaled", abs, max, abs))
