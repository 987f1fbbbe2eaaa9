"""Dates and timestamps in files: their forms, the column that orders rows, the unit of integers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, product
from typing import NamedTuple

from midstream.plans.sql.declarations import ISO
from midstream.plans.values.instants import nanoseconds, of_datetime

DATES = {
    ".": ("%d.%m.%Y", "%m.%d.%Y", "%Y.%m.%d", "%d.%m.%y", "%m.%d.%y"),
    "/": ("%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y"),
    "-": ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d", "%d-%b-%Y", "%d-%b-%y"),
    " ": ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%a, %d %b %Y", "%b %d %Y"),
}
"""The forms of dates besides ISO 8601, by their separator; `%Y-%m-%d` is for 2026-1-7 without zeros."""

CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S,%f")
"""The forms of times of day."""

IN_UTC = (" UTC", " GMT")
"""The names of zones that mean UTC; other names mean different offsets to different readers."""

BETWEEN = (" ", "T", ", ")
"""The texts between a date and a time of day."""

WHOLE = ("%d/%b/%Y:%H:%M:%S %z", "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %z %Y")
"""Forms that are no date with a time of day behind it: those of Apache's logs, of ctime and of date."""

COMPACT = ("%Y%m%d", "%Y%m%d%H%M%S", "%Y%m%d%H%M")
"""The forms of dates that look like integers."""

NAMES = (
    ("ts", "time", "timestamp", "datetime", "date", "date_time"),
    ("event_time", "event_ts", "event_timestamp", "event_date", "eventtime"),
    ("zeit", "zeitstempel", "datum", "fecha", "hora"),
)
"""The names of columns that order rows, the likelier ones first."""

ENDS = ("_at", "_ts", "_time", "_timestamp", "_datetime", "_date", "_on")
"""The ends of names of columns that hold times."""


def forms_of(texts: Sequence[str]) -> list[str]:
    """The forms in which all texts are dates or timestamps; ISO alone, if they are in ISO 8601.

    >>> forms_of(["26.11.2026 18:00", "1.2.2026 8:30"])
    ['%d.%m.%Y %H:%M']
    >>> forms_of(["03/04/2026"]), forms_of(["2026-11-26T18:00:00Z"]), forms_of(["x"])
    (['%d/%m/%Y', '%m/%d/%Y'], ['iso'], [])
    """
    if not texts:
        return []
    return narrowed([ISO], texts) or narrowed(list(_candidates(texts[0])), texts)


def narrowed(forms: Sequence[str], texts: Iterable[str], enough: int = 0) -> list[str]:
    """The forms in which all texts are instants, or all up to the text that leaves `enough` of them."""
    remaining = list(forms)
    for text in texts:
        if len(remaining) <= enough:
            break
        remaining = [form for form in remaining if instant(text, form) is not None]
    return remaining


class NearestForm(NamedTuple):
    """The form that most texts of a column have, and the position of the first text of another form."""

    form: str
    misfit: int


def nearest_form(texts: Sequence[str]) -> NearestForm | None:
    """The form of more than half of some texts, if not of all; None if there is none, or two read otherwise.

    >>> nearest_form(["2026-01-01", "2026-01-02", "Total"]), nearest_form(["a", "b"])
    (NearestForm(form='iso', misfit=2), None)
    """
    looked = texts[:1000]
    # One of three texts has the form that most have, unless chance is against it.
    examples = {looked[0], looked[len(looked) // 2], looked[-1]} if looked else set()
    forms = dict.fromkeys([ISO, *chain.from_iterable(map(_candidates, sorted(examples)))])
    counts = {form: sum(instant(text, form) is not None for text in looked) for form in forms}
    best = max(counts, key=counts.__getitem__)
    rivals = [form for form in forms if counts[form] == counts[best]]
    if 2 * counts[best] <= len(looked) or readings(rivals, looked) is not None:
        return None
    misfit = next((at for at, text in enumerate(texts) if instant(text, best) is None), None)
    return None if misfit is None else NearestForm(best, misfit)


def unlike_the_first(texts: Sequence[str]) -> int:
    """The position of the first text that has no form with all before it; 0 if the first text has none.

    >>> unlike_the_first(["03/04/2026", "13/04/2026", "04/13/2026"])
    2
    """
    forms = forms_of(texts[:1])
    for position, text in enumerate(texts):
        forms = narrowed(forms, [text])
        if not forms:
            return position
    return 0


def instant(text: str, form: str) -> int | None:
    """The instant that a text means in a form, in nanoseconds since 1970; None if it is none."""
    try:
        if form == ISO:
            return None if text.isdigit() else nanoseconds(text)
        return of_datetime(datetime.strptime(text, form))
    except (ValueError, OverflowError):
        return None


def readings(forms: Sequence[str], texts: Iterable[str]) -> tuple[str, dict[str, int]] | None:
    """A text that means different instants in some forms, with these instants; None if there is no such."""
    if len(forms) < 2:
        return None
    for text in texts:
        instants = {form: found for form in forms if (found := instant(text, form)) is not None}
        if len(set(instants.values())) > 1:
            return text, instants
    return None


def _candidates(text: str) -> Iterator[str]:
    """The forms that the separators of a text allow."""
    if not re.search(r"\d", text):
        return
    if text.isdigit():
        yield from (form for form in COMPACT if len(text) == len(datetime(2026, 1, 1).strftime(form)))
        return
    yield from WHOLE
    zones = ("", " %z", "%z") if re.search(r"[+-]\d\d:?\d\d$|Z$", text) else ("",)
    zones = next(((zone,) for zone in IN_UTC if text.endswith(zone)), zones)
    for separator, dates in DATES.items():
        if text.count(separator) >= 2:
            yield from dates
            if ":" in text:
                yield from map("".join, product(dates, BETWEEN, CLOCKS, zones))


def compact_forms(texts: Sequence[str]) -> tuple[str, ...]:
    """The form of integers that are dates between 1900 and 2100, such as 20261126; () if some are not.

    >>> compact_forms(["20261126", "20261201"]), compact_forms(["20261399"])
    (('%Y%m%d',), ())
    """
    is_plausible = all("1900" <= text[:4] <= "2100" for text in texts)
    return tuple(form for form in forms_of(texts) if form in COMPACT and is_plausible)


def likeliest(names: Sequence[str]) -> list[str]:
    """Of several columns of times those that order rows, by their names; several if names do not tell.

    >>> likeliest(["born", "ordered_at"]), likeliest(["updated_at", "created_at"]), likeliest(["a", "Date"])
    (['ordered_at'], ['updated_at', 'created_at'], ['Date'])
    """
    for usual in chain.from_iterable(NAMES):
        if found := [name for name in names if name.lower().replace(" ", "_") == usual]:
            return found
    return [name for name in names if is_name_of_time(name)] or list(names)


def may_hold_time(name: str) -> bool:
    """True if a column's name says that it holds a time, or might, as `at` and `day` do."""
    return is_name_of_time(name) or name.lower() in ("at", "when", "day", "tag", "dia")


def is_name_of_time(name: str) -> bool:
    """True if a column's name says that it holds a time."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace(" ", "_")
    return any(plain in group for group in NAMES) or plain.endswith(ENDS) or "epoch" in plain
