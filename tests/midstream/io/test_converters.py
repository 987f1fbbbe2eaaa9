"""What converters take whole, they take value by value, and make the same of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.io.sources.converter import ODD, Converter
from midstream.io.sources.separators import Separators
from midstream.io.sources.sniffed_columns import in_the_guessed_unit, without_codes, without_integers
from midstream.io.sources.texts import text_converter
from midstream.io.sources.values import value_converter
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.units import TimeUnit

WORDS = (
    "7 -7 +7 007 1_000 ٣ 7.0 1e3 -.5 5. . - +-1 1e999 nan inf Infinity 0x10 NA null true TRUE tRuE False é "
    "1.7976931348623157e308 -1.7976931348623157e308 20240229 2024-02-29 1970-13-01 2024-W09-4 24-02-29 "
    "1970-01-01T00:00:01.5 1970-01-01T00:00:01.1234567 1970-01-01T00:00:01Z 1970-01-01T00:00:01.5+01:00 "
    "1970-01-01T00:00:01+01:00:00.5 1970-01-01T000001,123456789"
)
BLANKS = (
    "",
    " 7 ",
    "7 ",
    "\t7",
    "\x1c7",
    "\x00",
    "1969-12-31 23:59:59,999Z",
    " 1970-01-01",
    "1970-01-01\n00:00",
)
TEXTS = st.sampled_from([*WORDS.split(), *BLANKS, "9" * 20, "9" * 5000])
VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | TEXTS
    | st.decimals()
    | st.dates()
    | st.datetimes()
    | st.sampled_from([2**2000, "\ud800", [1], {}, (1, 2), ([],), float("nan"), b"x"])
)
TIMES = {Type.INTEGER: ((False, False), (True, False), (True, True))}
"""By type, if a column of it can have timestamps, and if these can be dates."""

COLUMNS = [
    ColumnDeclaration("x", type_, is_nullable, is_timestamp, is_date)
    for type_ in Type
    for is_nullable in (False, True)
    for is_timestamp, is_date in TIMES.get(type_, ((False, False),))
]
every_column = pytest.mark.parametrize("column", COLUMNS, ids=str)


def counting(length: int) -> Timestamps:
    """Integers and chronons of so many nanoseconds."""
    return Timestamps.of(TimeUnit("units", length))


def require_agreement(converter: Converter, values: list[Any], column: ColumnDeclaration) -> None:
    try:
        whole = list(converter.many(values))
    except ODD:
        return
    assert list(map(repr, whole)) == [repr(converter.single(value)) for value in values]
    Schema((Column("x", column.type, column.nullable),)).check([(value,) for value in whole])
    assert float("inf") not in whole and float("-inf") not in whole


@every_column
@given(data=st.data())
def test_texts(column: ColumnDeclaration, data: st.DataObject) -> None:
    values = data.draw(st.lists(TEXTS | st.text(max_size=3), max_size=3))
    length = data.draw(st.sampled_from([1, 10**6]))
    require_agreement(text_converter(column, column.nullable, counting(length)), values, column)


@every_column
@given(data=st.data())
def test_values(column: ColumnDeclaration, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES, max_size=3))
    require_agreement(value_converter(column, column.nullable, counting(10**6)), values, column)


@every_column
@given(data=st.data())
def test_texts_of_sniffed_columns(column: ColumnDeclaration, data: st.DataObject) -> None:
    values = data.draw(st.lists(TEXTS | st.text("+-0.5e\n", max_size=4), max_size=3))
    plain = text_converter(column, column.nullable, counting(10**6))
    refusing = without_integers(plain, ()) if column.is_timestamp else without_codes(plain)
    require_agreement(refusing, values, column)
    guessed = in_the_guessed_unit(plain, counting(10**9))
    if column.is_timestamp and not column.is_date and not column.nullable:
        require_agreement(guessed, values, column)


@pytest.mark.parametrize("text", ["02139", "+49", "007.5", "+1.5", "00"])
def test_codes_are_no_numbers_to_a_sniffer(text: str) -> None:
    converter = without_codes(text_converter(ColumnDeclaration("x", Type.FLOAT), True, counting(1)))
    assert converter.many(["0", "-07", "0.5", ""]) == [0.0, -7.0, 0.5, None]
    for read in (converter.single, lambda t: converter.many(["1", t])):
        with pytest.raises(ValueError):
            read(text)


def test_integers_of_another_unit_are_refused() -> None:
    column = ColumnDeclaration("x", Type.INTEGER, False, True)
    seconds = in_the_guessed_unit(text_converter(column, False, counting(10**9)), counting(10**9))
    assert seconds.many(["1767225600"]) == [1767225600] and "unit = 'units' takes" in seconds.expected
    for text in ("1767225600000", "5", "2026-01-01", "-1"):
        for read in (seconds.single, lambda t: seconds.many(["1767225600", t])):
            with pytest.raises(ValueError):
                read(text)


@pytest.mark.parametrize("converters", [text_converter, value_converter])
def test_dates_are_days(converters: Any) -> None:
    column = ColumnDeclaration("x", Type.INTEGER, True, True, True)
    days = converters(column, True, counting(10**9))
    assert days.many(["1970-01-02", "1970-01-02 00:00", "1970-01-02T02:00+02:00"]) == [86400] * 3
    for text in ("1970-01-02 09:00", "1970-01-02T00:00+02:00", "7"):
        for read in (days.single, lambda t: days.many(["1970-01-02", t])):
            with pytest.raises(ValueError):
                read(text)
    assert "TIMESTAMP takes times of day" in days.expected


@given(st.text("0123.,'+-eE", max_size=8), st.sampled_from([",", "."]), st.sampled_from([",", ".", "'"]))
@example("1.234,5", ",", ".")
@example("12.34", ",", ".")
def test_numbers_with_separators(text: str, decimal: str, thousands: str) -> None:
    if decimal == thousands:
        return
    separators = Separators(decimal, thousands)
    plain = text_converter(ColumnDeclaration("x", Type.FLOAT), True, counting(1))
    require_agreement(separators.converter(plain), [text], ColumnDeclaration("x", Type.FLOAT))


@given(
    st.decimals(-(10**9), 10**9, places=2), st.sampled_from([",", "."]), st.sampled_from([",", ".", "'", " "])
)
def test_numbers_between_thousands(number: Decimal, decimal: str, thousands: str) -> None:
    if decimal == thousands:
        return
    text = f"{number:,.2f}".translate(str.maketrans({",": thousands, ".": decimal}))
    separators = Separators(decimal, thousands)
    assert separators.plain(text) == f"{number:.2f}"
    if thousands in text:
        assert separators.plain(text.replace(f"{thousands}", f"{thousands}0", 1)) is None


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (ColumnDeclaration("x", Type.INTEGER, False), ["1", "-2"]),
        (ColumnDeclaration("x", Type.INTEGER), ["1", ""]),
        (ColumnDeclaration("x", Type.FLOAT), ["1e3", "", "-.5"]),
        (ColumnDeclaration("x", Type.BOOLEAN), ["true", "", "False"]),
        (ColumnDeclaration("x", Type.STRING), ["é", ""]),
        (ColumnDeclaration("x", Type.INTEGER, False, True), ["5", "2024-02-29T12:00:00Z"]),
    ],
    ids=str,
)
def test_ordinary_texts_are_taken_whole(column: ColumnDeclaration, texts: list[str]) -> None:
    converter = text_converter(column, column.nullable, counting(10**6))
    assert list(converter.many(texts)) == [converter.single(text) for text in texts]


@pytest.mark.parametrize("text", [" 7", "7 ", "1_000", "٣", "7.0", "", "0x10", "9" * 5000])
def test_what_is_no_integer(text: str) -> None:
    converter = text_converter(ColumnDeclaration("x", Type.INTEGER, False), False, counting(1))
    for read in (converter.single, lambda t: converter.many([t])):
        with pytest.raises(ValueError):
            read(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999", "1_0.5", " 1.5", ""])
def test_what_is_no_float(text: str) -> None:
    converter = text_converter(ColumnDeclaration("x", Type.FLOAT, False), False, counting(1))
    for read in (converter.single, lambda t: converter.many([t])):
        with pytest.raises(ValueError):
            read(text)


def test_an_empty_text_is_unknown_where_that_may_be() -> None:
    for type_ in Type:
        assert text_converter(ColumnDeclaration("x", type_), True, counting(1)).many(["", ""]) == [None, None]
    assert text_converter(ColumnDeclaration("x", Type.STRING, False), False, counting(1)).many([""]) == [""]


MILLISECOND, MINUTE = 10**6, 60 * 10**9


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),
    st.integers(-839, 839),
    st.sampled_from([MILLISECOND, MINUTE]),
)
@example(datetime(1969, 12, 31, 23, 59, 59, 999999), 0, MINUTE)
def test_dates_with_times_are_rounded_down_to_chronons(instant: datetime, offset: int, length: int) -> None:
    zone = timezone(timedelta(minutes=offset))
    passed = instant.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    microseconds = (passed.days * 86400 + passed.seconds) * 10**6 + passed.microseconds
    expected = microseconds * 1000 // length
    column = ColumnDeclaration("ts", Type.INTEGER, False, True)
    text, value = (
        text_converter(column, False, counting(length)),
        value_converter(column, False, counting(length)),
    )
    local = instant.replace(tzinfo=UTC).astimezone(zone)
    for converter, spelled in (
        (text, str(instant)),
        (text, local.isoformat()),
        (value, instant.isoformat()),
        (value, local),
        (value, instant),
    ):
        assert converter.single(spelled) == expected
        assert converter.many([spelled]) == [expected]


def test_what_else_a_timestamp_may_be() -> None:
    column = ColumnDeclaration("ts", Type.INTEGER, True, True)
    values = value_converter(column, True, counting(10**9))
    assert values.many([7, None, "8", date(1970, 1, 2), Decimal(9)]) == [7, None, 8, 86400, 9]
    texts = text_converter(column, True, counting(10**9))
    assert texts.many(["7", "", "1970-01-02", "1970-01-01T00:00:00.999999999"]) == [7, None, 86400, 0]


@pytest.mark.parametrize("text", ["20240229", "1970-01-01T00:00:00.1234567", "1970-01-01T00:00:01.5+01:00"])
def test_dates_are_read_alike_alone_and_among_others(text: str) -> None:
    converter = text_converter(ColumnDeclaration("ts", Type.INTEGER, False, True), False, counting(1))
    for other in ("1970-01-01", "1970-01-01T00:00:00Z"):
        assert converter.many([other, text]) == [0, converter.single(text)]


def test_values_keep_their_meaning() -> None:
    number = value_converter(ColumnDeclaration("x", Type.FLOAT), True, counting(1))
    assert list(map(repr, number.many([1, 2.5, None, Decimal("0.5")]))) == ["1.0", "2.5", "None", "0.5"]
    integer = value_converter(ColumnDeclaration("x", Type.INTEGER), True, counting(1))
    for wrong in (True, 7.0, "7", Decimal("7.5")):
        with pytest.raises(ValueError):
            integer.single(wrong)
    assert integer.many([10**400, None, Decimal(7)]) == [10**400, None, 7]


DATES = st.sampled_from(
    [
        *(
            "26.11.2026",
            "6.1.2026",
            "06.01.2026",
            "06.01.26",
            "31.02.2026",
            "٠٦.01.2026",
            "2026-01-06",
            "20260106",
        ),
        *("06.01.2026 10:30", "06.01.2026  10:30", "06.01.2026 9:30", "06.01.2026 10:30:59", "x06.01.2026"),
        *("06.01.2026\n06.01.2026", "\n06.01.2026", "06.01.2026\n", "06.01.0000", "", "7", "01/06/2026"),
    ]
)
FORMS = st.sampled_from(
    ["%d.%m.%Y", "%d.%m.%Y %H:%M", "%m/%d/%Y", "%d.%m.%y", "iso", "%Y%m%d", "%d.%m.%Y %H:%M:%S"]
)


@pytest.mark.parametrize("is_nullable", [False, True])
@given(st.lists(DATES, max_size=4), st.lists(FORMS, min_size=1, max_size=2), st.sampled_from([1, 10**6]))
def test_dates_in_given_forms(is_nullable: bool, texts: list[str], forms: list[str], length: int) -> None:
    column = ColumnDeclaration("x", Type.INTEGER, is_nullable, is_timestamp=True)
    for converters in (text_converter, value_converter):
        require_agreement(converters(column, is_nullable, counting(length), forms), texts, column)


def test_a_form_reads_what_strptime_reads() -> None:
    column = ColumnDeclaration("x", Type.INTEGER, False, is_timestamp=True)
    converter = text_converter(column, False, counting(10**9), ["%d.%m.%Y %H:%M", "%d.%m.%Y"])
    assert converter.many(["02.01.1970 00:01", "03.01.1970 00:00"]) == [86460, 172800]
    assert converter.many(["2.1.1970 0:01", "03.01.1970"]) == [86460, 172800]
