"""Functions from generated source."""

from __future__ import annotations

from midstream.operators.compile.generated import define

SOURCE = "def add(x):\n    return x + more"


def test_equal_source_is_one_code_with_names_of_its_own() -> None:
    names = {"more": 1}
    one, other = define(SOURCE, "add", names, "sum"), define(SOURCE, "add", {"more": 10}, "sum")
    assert one.__code__ is other.__code__
    assert (one(5), other(5)) == (6, 15)
    assert names["add"] is one
