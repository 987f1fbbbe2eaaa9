"""The plans of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from midstream.io.plan_files import read_plan
from midstream.io.text_file import read_text
from midstream.plans.algebra.implementations import IMPLEMENTATIONS
from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.physical import Physical
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.properties import logical
from midstream.plans.algebra.serialise import plan_from_json
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import InputFileError, PlanError
from midstream.plans.values.schema import Schema, Type, suggest


def plan_of(
    sql: str | None, file: str | None, plan: dict[str, Any] | None, folder: Path, catalog: Catalog
) -> Plan:
    """The plan that is written in one of three forms.

    Raises   MidstreamError where it cannot be read.
    """
    if plan is not None:
        return plan_from_json(plan)
    if file is None:
        return catalog.query(sql or "").plan
    path = folder / file
    match path.suffix:
        case ".json":
            return read_plan(path)
        case ".sql":
            return catalog.query(read_text(path), str(path)).plan
    raise InputFileError(f"{path}: expected a file whose name ends in .sql or .json", path=str(path))


SQL_TYPES = {Type.INTEGER: "INT", Type.FLOAT: "FLOAT", Type.STRING: "TEXT", Type.BOOLEAN: "BOOLEAN"}


def declaration(name: str, schema: Schema) -> str:
    """The statement that declares a relation; names are quoted, so that they may be any.

    >>> declaration("item", Schema.of(id="integer", note="string?"))
    'CREATE RELATION "item" ("id" INT NOT NULL, "note" TEXT)'
    """
    columns = ", ".join(
        f"{_quoted(one.name)} {SQL_TYPES[one.type]}{'' if one.nullable else ' NOT NULL'}" for one in schema
    )
    return f"CREATE RELATION {_quoted(name)} ({columns})"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def implemented(plan: Plan, names: Sequence[str]) -> Plan:
    """A plan in which each implementation is chosen for all operators that it implements.

    Raises   PlanError for one that implements none of the plan's operators.
    """
    chosen: dict[type[Logical], str] = {}
    for name in names:
        kinds = [kind for kind, ways in IMPLEMENTATIONS.items() for way in ways if way.name == name]
        if not any(type(logical(node)) in kinds for node in plan.nodes):
            known = [way.name for node in plan.nodes for way in IMPLEMENTATIONS.get(type(logical(node)), ())]
            raise PlanError(
                f"found {name}, expected implementations of the plan's operators: "
                f"{', '.join(dict.fromkeys(known))}{suggest(name, known)}"
            )
        chosen |= dict.fromkeys(kinds, name)

    def choose(node: Node) -> Node:
        operator = logical(node)
        name = chosen.get(type(operator))
        return node if name is None else Node(Physical(name, operator), node.inputs)

    return plan.map(choose)


def require_sources(plan: Plan, streams: Mapping[str, Schema], relations: Mapping[str, Schema]) -> None:
    """Raise PlanError unless a plan has one output, and the scenario has its streams with equal columns."""
    if len(plan.outputs) != 1:
        raise PlanError(f"the plan has {len(plan.outputs)} outputs, expected one: {', '.join(plan.outputs)}")
    for what, read, known in (
        ("stream", {source.stream: source.columns for source in plan.sources}, streams),
        ("relation", {one.relation: one.columns for one in plan.relations}, relations),
    ):
        for name, schema in read.items():
            if name not in known:
                raise PlanError(
                    f"the plan reads {what} {name}, expected one of {', '.join(known)}{suggest(name, known)}"
                )
            if schema != known[name]:
                raise PlanError(f"the plan reads {what} {name} as {schema}, which is {known[name]}")
