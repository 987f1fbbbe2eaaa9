"""Errors of pydantic in a scenario, told as elsewhere: the place, the value, and the expected value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import suggest
from midstream.scenarios.streams.yaml_file import Document, Path

M = TypeVar("M", bound=BaseModel)

SHOWN = 10
"""The largest number of faults in a message."""

EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
    "mapping_type": "keys with values",
    "path_type": "a path",
}


def validated(model: type[M], document: Document, **context: Any) -> M:
    """Read the content of a file as a model.

    Raises   InputFileError, which names every fault.
    """
    try:
        return model.model_validate(document.data, context=context)
    except ValidationError as error:
        raise fault(document, error) from error


def fault(document: Document, error: ValidationError) -> InputFileError:
    """One error that names every fault, in order of their lines."""
    found = [document.error(path, message) for path, message in described(document.data, error)]
    found.sort(key=lambda one: one.line)  # type: ignore[attr-defined]
    if len(found) == 1:
        return found[0]
    first = found[0]
    lines = [str(one) for one in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN} more")
    return InputFileError("\n".join(lines), path=document.file, line=first.line, key=first.key)  # type: ignore[attr-defined]


def described(data: Any, error: ValidationError) -> list[tuple[Path, str]]:
    """Every fault that pydantic finds in some data, as its place and a message."""
    return [_described(data, details) for details in error.errors(include_url=False)]


def _described(data: Any, error: ErrorDetails) -> tuple[Path, str]:
    kind, context = error["type"], error.get("ctx", {})
    path = _path(data, error["loc"])
    if kind == "unknown_key":
        path = (*path, context["key"])
    elif kind == "missing":
        path = (*path, str(error["loc"][-1]))
    return path, _message(kind, context, error)


def _message(kind: str, context: dict[str, Any], error: ErrorDetails) -> str:
    found = shown(error["input"])
    match kind:
        case "unknown_key":
            known: list[str] = context["known"]
            return (
                f"found no such key, expected one of {', '.join(known)}{suggest(str(context['key']), known)}"
            )
        case "missing":
            return "found nothing, expected a value"
        case "union_tag_not_found":
            key = str(context["discriminator"]).strip("'")
            return f"found no key {key}, expected one that says which kind it is"
        case "union_tag_invalid":
            names = [name.strip("' ") for name in context["expected_tags"].split(",")]
            near = suggest(context["tag"], names)
            return f"found {context['tag']!r}, expected one of {', '.join(names)}{near}"
        case "literal_error":
            return f"found {found}, expected {context['expected']}"
        case "too_short" | "string_too_short":
            return "found nothing, expected one at least"
        case "greater_than":
            return f"found {found}, expected more than {context['gt']}"
        case "greater_than_equal":
            return f"found {found}, expected {context['ge']} or more"
        case "less_than_equal":
            return f"found {found}, expected {context['le']} or less"
        case "value_error":
            return f"found {found}, expected {context['error']}"
        case _:
            return f"found {found}, expected {EXPECTED.get(kind, error['msg'])}"


def shown(value: Any) -> str:
    """A value as faults show it, in short."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "keys with values"
        case list():
            return "a list"
        case str():
            return repr(value if len(value) <= 40 else f"{value[:37]}…")
    return repr(value)


def _path(data: Any, location: Iterable[str | int]) -> Path:
    """The keys of a place in the data, without the names of kinds that pydantic adds."""
    path: list[str | int] = []
    for key in location:
        known = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if key in known:
            path.append(key)
            data = data[key]
    return tuple(path)
