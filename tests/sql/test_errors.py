"""Typical mistakes and what is said of them: errors.txt has statements, carets under them, and messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from sql_grammar import DECLARATIONS

from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import SqlError

MISTAKES = [
    entry.split("\n")
    for entry in (Path(__file__).parent / "errors.txt").read_text(encoding="utf-8").rstrip().split("\n\n")
]


def test_there_are_as_many_as_we_think() -> None:
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_the_message_says_what_and_where(mistake: list[str]) -> None:
    statement, carets, message = mistake
    catalog = Catalog()
    catalog.execute(DECLARATIONS)
    with pytest.raises(SqlError) as caught:
        catalog.execute(statement)
    assert str(caught.value) == f"SQL, line 1, {message}\n  {statement}\n  {carets}"


def test_lines_are_counted_over_the_whole_script() -> None:
    catalog = Catalog()
    catalog.execute(DECLARATIONS)
    with pytest.raises(SqlError) as caught:
        catalog.execute("SELECT item FROM Bid;\n\n\tSELECT price,\n\t\tprise\n\tFROM Bid", "q.sql")
    assert str(caught.value) == (
        "q.sql, line 4, column 3: there is no column prise; did you mean price?\n  \t\tprise\n  \t\t^^^^^"
    )
    assert (caught.value.line, caught.value.column) == (4, 3)  # type: ignore[attr-defined]
