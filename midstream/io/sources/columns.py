"""Columns by name, as SQL compares names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from midstream.io.readers import other_separator, separated
from midstream.io.sources.bad_rows import Misfit
from midstream.plans.values.schema import suggest_in_any_case


def find_column(name: str, names: Sequence[str], delim: str = ",") -> int:
    """The position of a column, by its name in any case; `delim` is the separator that a reader looks for.

    Raises   Misfit where the column is missing, with the nearest name, or occurs twice.

    >>> find_column("itemID", ["ts", "ITEMID"])
    1
    >>> try:
    ...     find_column("itemID", ["ts", "Item_ID"])
    ... except Misfit as misfit:
    ...     print(misfit)
    column itemID: found no such column, expected one of ts, Item_ID; did you mean Item_ID?
    """
    spelled = {found.lower(): found for found in names}
    wanted = name.lower()
    match sum(found.lower() == wanted for found in names):
        case 0:
            if separator := other_separator(name, names, delim):
                raise Misfit(name, *separated(separator, delim))
            near = suggest_in_any_case(name, names)
            raise Misfit(name, "no such column", f"one of {', '.join(names) or 'none'}{near}")
        case 1:
            return list(names).index(spelled[wanted])
        case several:
            raise Misfit(name, f"{several} columns of this name", "one; rename the others, or leave them out")


def require_no_further(
    names: Sequence[str], existing: Sequence[str], left_out: Collection[str] | None
) -> None:
    """Raise Misfit where there are other columns than those of a stream, and those that may be left out.

    >>> require_no_further(["a", "b"], ["B", ""], {""})
    >>> require_no_further(["a"], ["A", "c"], None)
    >>> try:
    ...     require_no_further(["a"], ["A", "c", "d"], ())
    ... except Misfit as misfit:
    ...     print(misfit)
    column c: found a column that the file's beginning lacks, expected only a
    """
    if left_out is None:
        return
    known = {name.lower() for name in (*names, *left_out)}
    if further := [name for name in existing if name.lower() not in known]:
        what = "a column that the file's beginning lacks"
        column = None if "" in further else further[0]
        if column is None:
            what = "a column without a name, which the file's beginning lacks"
        raise Misfit(column, what, f"only {', '.join(names)}", further=further)


def find_columns(
    names: Sequence[str], existing: Sequence[str], optional: Collection[str] = (), delim: str = ","
) -> list[int | None]:
    """The positions of columns as `find_column` finds them; None for an `optional` one that is missing.

    >>> find_columns(["a", "b"], ["B"], optional=["a"])
    [None, 0]
    """
    there = {name.lower() for name in existing}
    return [
        None if name in optional and name.lower() not in there else find_column(name, existing, delim)
        for name in names
    ]
