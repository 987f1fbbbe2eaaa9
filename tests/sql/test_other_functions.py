"""Functions of other dialects: a suggestion names only what does the same."""

from __future__ import annotations

import re

import pytest
from sqlglot import exp

import midstream as ms
from midstream.plans.sql.hints import OTHER_FUNCTIONS
from midstream.plans.sql.scalars import function_names
from midstream.plans.values.schema import suggest_spelling

STREAM = "SET time_unit = 'ms'; CREATE STREAM s(ts INT, a INT, b TEXT) ORDERED BY ts; "

SAME = {
    "char": "chr",  # MySQL, SQL Server
    "countt": "count",
    "endswith": "ends_with",  # Snowflake, Spark
    "lenght": "length",
    "regex_replace": "regexp_replace",
    "startswith": "starts_with",
    "stdev": "stddev",  # SQL Server; of a sample
    "varpop": "var_pop",  # ClickHouse
    "varsamp": "var_samp",
}
"""What is suggested: slips, and functions that do the same."""

OTHERS = """
    FIRST LAST FIRST_VALUE LAST_VALUE ANY_VALUE NTH_VALUE INSTRB INSTRC INSTR2 INSTR4 LENGTHB LENGTHC
    LENGTH2 LENGTH4 SUBSTRB SUBSTRC SUBSTR2 SUBSTR4 LENB LEFTB RIGHTB MIDB SUMX MAXA MAXX MINA MINX
    AVERAGEX COUNTA COUNTX COUNTIF COUNT_IF SUMIF AVGIF SCALE TOP TOPK TOP_N TOP_K_WEIGHTED SORT LOG LOG1P
    LN1P EXPM1 SIN SINH SIGNUM SIGNBIT STDEVP VARP MAD SEM ISNULL ISNULLORZERO NVL2 DATEPARSE DATE_PARSE
    STRPTIME STR_TO_DATE TO_CHAR YEARS QUARTERS MONTHS WEEKS DAYS HOURS MINUTES SECONDS MILLISECONDS
    MICROSECOND NANOSECOND WEEKDAY WEEKOFYEAR DAYNAME MONTHNAME LEAD LAG MEDIAN_EXACT REGEXP_ILIKE
    REGEXP_I_LIKE REGEXP_MATCH REGEXP_COUNT REGEXP_INSTR REGEXP_SUBSTR REGEXP_EXTRACT POSITIONUTF8
    LOWERUTF8 UPPERUTF8 REVERSEUTF8 TRIMBOTH TRIMLEFT TRANSLATE REPLICATE REPLACEALL REPLACEONE CONCAT_MAP
    SPLIT SPLIT_TO_ARRAY ROUND_EVEN ROUNDDOWN CEILINGDOWN FLOORMOD POWER_SUM SQRTPI MOD MODE RANDSTR RINT
    ROW SOUNDEX USER UUID VARIANT WITHIN_GROUP EPOCH_MS EPOCHS ASCIISTR CHRW NULLIFZERO ZEROIFNULL
    PREFIXES
"""
"""Functions of Oracle, SQL Server, MySQL, ClickHouse, DAX and others."""


def functions_elsewhere() -> set[str]:
    """The functions of sqlglot, DuckDB and PySpark, and some more of other systems, in small letters."""
    names = {*OTHERS.split(), *exp.FUNCTION_BY_NAME}
    duckdb = pytest.importorskip("duckdb")
    names |= {name for (name,) in duckdb.sql("SELECT function_name FROM duckdb_functions()").fetchall()}
    names |= {name for name in dir(pytest.importorskip("pyspark.sql.functions")) if not name.startswith("_")}
    return {name.lower() for name in names if re.fullmatch(r"\w+", name)}


def suggested(name: str) -> str | None:
    """The function that the error about an unknown one names."""
    with pytest.raises(ms.SqlError) as caught:
        ms.sql(f"{STREAM}SELECT {name}(b, a) AS z FROM s WINDOW(RANGE 5)")
    near = re.search(r"did you mean (\w+)\?", str(caught.value))
    return near and near[1]


def test_only_what_does_the_same_is_suggested_for_functions_of_other_dialects() -> None:
    ours = function_names()
    near = {name for name in functions_elsewhere() - set(ours) if suggest_spelling(name, ours)}
    assert len(near) > 5
    found = {name: close for name in near | set(OTHERS.lower().split()) if (close := suggested(name))}
    assert found == {name: SAME[name] for name in found}


@pytest.mark.parametrize("name", SAME)
def test_slips_and_other_spellings_are_corrected(name: str) -> None:
    assert suggested(name) == SAME[name]


def test_functions_that_do_something_else_are_near_ones() -> None:
    """Or the list of them could be shorter."""
    assert [name for name in OTHER_FUNCTIONS if not suggest_spelling(name, function_names())] == []


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("FIRST(a)", "rows of a group have no order; MIN"),
        ("LAST(a)", r"WINDOW\(PARTITION BY item ROWS 1\) keeps the last row of each"),
        ("LOG(a)", r"bases differ between systems; write LN\(x\), LOG10\(x\) or LOG2\(x\)"),
        ("LOCATE(b, b)", r"write STRPOS\(text, part\), which takes the text first"),
        ("YEAR(a, a)", "YEAR: found 2 arguments, expected one, a timestamp"),
        ("YEAR()", "YEAR: found 0 arguments, expected one, a timestamp"),
    ],
)
def test_words_of_other_dialects_get_advice(call: str, advice: str) -> None:
    with pytest.raises(ms.SqlError, match=advice):
        ms.sql(f"{STREAM}SELECT {call} AS z FROM s WINDOW(RANGE 5)")
