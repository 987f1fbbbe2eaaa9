"""Missing attributes: the error names the one that was meant, and nothing that does something else."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

import midstream as ms
from midstream.plans.values.near_names import NearNames
from midstream.runner import Runner

S = ms.stream("s", x="integer", t="string").window(9)


def objects() -> dict[str, Any]:
    """An object of each class that names near attributes."""
    engine = ms.Engine(S, ms.Results())
    return {
        "Stream": S,
        "Group": S.group_by("x"),
        "Operand": ms.col("x"),
        "Text": ms.col("t").str,
        "Instant": ms.col("x").dt("seconds"),
        "Plan": S.plan(),
        "Engine": engine,
        "Query": engine.query(),
        "Results": ms.Results(),
        "Transition": engine.migrate(S.filter(ms.lit(True))),
        "MigrationReport": ms.report(engine.migrate(S)),
        "EngineAutopilot": engine.autopilot(every=10),
        "ResourceManager": ms.Engine(S).budget(memory="1 MB"),
        "Runner": Runner(engine, {}),
        "Catalog": ms.catalog(),
        "Choice": engine.optimize(),
        "Equivalence": ms.equivalent(S, S),
    }


def meant(one: object, name: str) -> str | None:
    """The attribute that the error for a missing one names; None if it is not missing, or there is none."""
    try:
        getattr(one, name)
    except AttributeError as error:
        near = re.search(r"did you mean (.*)\?", str(error))
        assert str(error).startswith(f"{type(one).__name__} has no attribute {name}")
        return near and near[1]
    except ms.MidstreamError:
        pass  # a property that is there
    return None


def test_each_slip_in_a_public_name_is_corrected() -> None:
    """A letter too few, and two letters that are swapped."""
    for kind, one in objects().items():
        assert type(one).__name__ == kind
        public = {name for name in dir(type(one)) if not name.startswith("_")}
        for name in public:
            for slip in (name[:2] + name[3:], name[:2] + name[3:4] + name[2:3] + name[4:]):
                if len(slip) > 3 and slip not in public:
                    assert meant(one, slip) in public, (kind, slip)


FRAMES = {
    "agg": "aggregate",
    **dict.fromkeys(("crossJoin", "merge"), "join"),
    **dict.fromkeys(("dropDuplicates", "drop_duplicates"), "distinct"),
    "exceptAll": "difference",
    **dict.fromkeys(("groupBy", "groupby"), "group_by"),
    "intersectAll": "intersection",
    "project": "select",
    **dict.fromkeys(("unionAll", "vstack"), "union"),
    "where": "filter",
    "withColumnsRenamed": "rename",
}
"""What the methods of DataFrames elsewhere are called here; of the others there is no counterpart."""

COLUMNS = {
    "astype": "cast",
    "fillna": "fill_null",
    "isin": "is_in",
    "is_between": "between",
    **dict.fromkeys(("isna", "isnull", "isNull"), "is_null"),
    **dict.fromkeys(("notna", "notnull", "isNotNull"), "is_not_null"),
    **{name: f"str.{name}" for name in ("contains", "like", "ilike", "lower", "upper")},
    **dict.fromkeys(("startswith", "starts_with"), "str.starts_with"),
    **dict.fromkeys(("endswith", "ends_with"), "str.ends_with"),
}

RESULTS = {"toArrow": "to_arrow", "toPandas": "to_pandas", "to_dict": "to_dicts"}


def names_elsewhere() -> tuple[set[str], set[str]]:
    """The public methods of DataFrames, and those of columns, in pandas, Polars, DuckDB and PySpark."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    duckdb, spark = pytest.importorskip("duckdb"), pytest.importorskip("pyspark.sql")
    frames = [pandas.DataFrame, polars.DataFrame, polars.LazyFrame, duckdb.DuckDBPyRelation, spark.DataFrame]
    frames += [duckdb.DuckDBPyConnection, polars.SQLContext, spark.SparkSession, spark.GroupedData]
    text = polars.col("t")
    columns = [pandas.Series, pandas.Series.str, pandas.Series.dt, polars.Expr, type(text.str), type(text.dt)]
    columns += [spark.Column]
    return {n for one in frames for n in dir(one)}, {n for one in columns for n in dir(one)}


def test_only_what_does_the_same_is_named_for_methods_of_other_libraries() -> None:
    frames, columns = names_elsewhere()
    expected: dict[str, dict[str, str]] = {
        "Stream": FRAMES,
        "Group": {"agg": "aggregate"},
        "Results": RESULTS,
        "Transition": {"stop": "abort"},
        "Operand": COLUMNS,
        "Text": {"startswith": "starts_with", "endswith": "ends_with"},
    }
    for kind, one in objects().items():
        names = columns if kind in ("Operand", "Text", "Instant") else frames
        found = {name: near for name in names if not name.startswith("_") and (near := meant(one, name))}
        assert found.items() <= expected.get(kind, {}).items(), kind
        assert not names & (expected.get(kind, {}).keys() - found.keys()), kind


def test_what_other_libraries_call_it_is_there() -> None:
    """Each named attribute is one."""
    for one in objects().values():
        for name in filter(None, type(one)._elsewhere.values()):
            place = one
            for part in name.split("."):
                place = getattr(place, part)


def test_an_error_within_a_property_is_not_hidden() -> None:
    class Broken(NearNames):
        @property
        def size(self) -> int:
            raise AttributeError("no disk")

    with pytest.raises(AttributeError, match="no disk"):
        _ = Broken().size
    with pytest.raises(AttributeError, match=r"^Broken has no attribute sise; did you mean size\?$"):
        _ = Broken().sise  # type: ignore[attr-defined]


def test_objects_are_copied_and_pickled_as_before() -> None:
    assert copy.deepcopy(S) == S
    assert pickle.loads(pickle.dumps(S.plan())) == S.plan()
    assert not hasattr(ms.col("x"), "__array__")
