"""The queries of a second file, over its own declarations or those of the first file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from midstream.commands import options
from midstream.plans.values.errors import MidstreamError

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Plan
    from midstream.plans.sql.catalog import Catalog, Query


def is_plan_file(path: str) -> bool:
    """True if a file's name says that it holds a plan in JSON."""
    return Path(path).suffix.lower() == ".json"


def only(queries: list[Query], script: str, what_for: str) -> Query:
    """The only query of a script."""
    if len(queries) != 1:
        name = "standard input" if script == "-" else script
        raise MidstreamError(f"{name}: found {len(queries)} queries, expected one to {what_for}")
    return queries[0]


def plan_in(
    path: str, what_for: str, catalog: Catalog | None, unit: str | None, functions: Path | None
) -> tuple[Plan, Catalog | None]:
    """The plan of a JSON file, or of the only query of a script, with its catalog.

    The catalog is the given one, else that of the script.
    """
    from midstream.io.plan_files import read_plan

    if is_plan_file(path):
        return read_plan(Path(path)), catalog
    if catalog is None:
        catalog, queries = options.read(path, unit, functions)
    else:
        queries = _queries_over(path, catalog, unit, functions)
    return only(queries, path, what_for).plan, catalog


def _queries_over(path: str, catalog: Catalog, unit: str | None, functions: Path | None) -> list[Query]:
    """The queries of a script, over its own declarations if it has some, else over those of a catalog."""
    from midstream.commands.running import read_script
    from midstream.plans.sql.syntax import CreateStatement, SetStatement, parse

    text = read_script(path)
    if not any(isinstance(one, CreateStatement | SetStatement) for one in parse(text)):
        return catalog.execute(text.text, text.name)
    own, queries = options.read(path, unit, functions)
    if own.unit != catalog.unit:
        raise MidstreamError(f"{path}: found time in {own.unit.name}, expected {catalog.unit.name}")
    return queries
