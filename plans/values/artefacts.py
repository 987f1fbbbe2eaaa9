"""Artefacts: JSON that programs write, in forms that dataclasses declare.

An artefact is an object with a header, which names its format and version, and with the fields of a
dataclass. Statistics, charts, cost profiles, settings, cost series, manifests and records are such files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from midstream.plans.values.errors import MidstreamError
from midstream.plans.values.finite import is_finite

T = TypeVar("T")

Header = Mapping[str, str | int]
"""The fields that name a format and its version, such as `{"format": "midstream-chart", "version": 1}`."""


class ArtefactError(MidstreamError):
    """A file that a program writes is not as that program would write it; the message names the place.

    Write the file again by the command or function that made it.
    """


def artefact_text(header: Header, content: Any, *, indent: int | None = None) -> str:
    """Write an artefact: a header, and the fields of a dataclass or of a mapping, which may hold dataclasses.

    Raises   ArtefactError where a number is NaN or infinite, which JSON has not, or a value has no form.

    >>> artefact_text({"midstream_example": 1}, {"rates": (0.5, 2)})
    '{"midstream_example": 1, "rates": [0.5, 2]}'
    >>> artefact_text({"midstream_example": 1}, {"rates": (0.5, float("inf"))})
    Traceback (most recent call last):
    midstream.plans.values.artefacts.ArtefactError: rates[1]: found inf, expected a finite number
    """
    data = {**header, **(content if isinstance(content, Mapping) else _fields(content))}
    try:
        return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False, default=_fields)
    except (TypeError, ValueError) as error:
        _require_finite(data, "")
        raise ArtefactError(str(error)) from error


def bounded_bytes(path: Path, most: int) -> bytes:
    """All bytes of a file, which may be a device or a pipe without an end.

    Raises   OSError; ArtefactError for more than `most` bytes.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ArtefactError(f"found more than {most:,} bytes, expected fewer")
    return data


def parsed(text: str | bytes, *, constant: Callable[[str], Any] = float) -> Any:
    """Parse JSON.

    constant    a function from `NaN`, `Infinity` and `-Infinity`, which are no JSON, to values

    Raises   ArtefactError where the text holds none.
    """
    try:
        return json.loads(text, parse_constant=constant)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArtefactError(f"this is no JSON: {error}") from error


def read_artefact(data: Any, header: Header, form: type[T]) -> T:
    """Read an artefact from plain data, such as `parsed` returns, into a dataclass.

    Cost     O(parts)
    Raises   ArtefactError where the header is another one, a field is unknown or missing, a value has another
             type, or a number is NaN or infinite; and what the dataclass raises.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Example:
    ...     rates: tuple[float, ...]
    >>> read_artefact({"midstream_example": 1, "rates": [1, 2.5]}, {"midstream_example": 1}, Example)
    Example(rates=(1.0, 2.5))
    >>> read_artefact({"midstream_example": 1, "rates": ["x"]}, {"midstream_example": 1}, Example)
    Traceback (most recent call last):
    midstream.plans.values.artefacts.ArtefactError: rates[0]: found 'x', expected a number
    """
    found = {key: data.get(key) for key in header} if isinstance(data, Mapping) else data
    if found != header:
        raise ArtefactError(f"found {_shown(found)}, expected an object with {json.dumps(header)}")
    return typed({key: value for key, value in data.items() if key not in header}, form)


def typed(data: Any, form: type[T], place: str = "") -> T:
    """Read plain data as a type, often a dataclass; as `read_artefact`, without a header.

    place    the place of the data in its file, for messages
    """
    import msgspec  # takes 15 ms

    try:
        value = msgspec.convert(data, form, str_keys=True)
    except msgspec.ValidationError as error:
        raise ArtefactError(_explained(str(error), data, place)) from error
    except UnicodeEncodeError as error:
        raise ArtefactError(f"{_at(place)}found {error.object!r}, which is no Unicode") from error
    except RecursionError as error:
        raise ArtefactError(f"{_at(place)}found parts nested too deeply") from error
    _require_finite(data, place)
    _require_known(data, value, place)
    return value


def _fields(content: Any) -> dict[str, Any]:
    if not is_dataclass(content):
        raise TypeError(f"found {content!r} ({type(content).__name__}), expected a value that JSON has")
    return {field.name: getattr(content, field.name) for field in fields(content)}


def _require_finite(data: Any, place: str) -> None:
    """Raise ArtefactError for a number that is NaN or infinite."""
    if is_dataclass(data):
        data = _fields(data)
    if isinstance(data, float) and not is_finite(data):
        raise ArtefactError(f"{_at(place)}found {data}, expected a finite number")
    if isinstance(data, Mapping):
        for key, part in data.items():
            _require_finite(part, _inner(place, key))
    elif isinstance(data, list | tuple):
        for i, part in enumerate(data):
            _require_finite(part, f"{place}[{i}]")


def _require_known(data: Any, value: Any, place: str) -> None:
    """Raise ArtefactError for a field of the data that the dataclass made of it does not have."""
    if isinstance(data, Mapping) and is_dataclass(value):
        names = [field.name for field in fields(value)]
        if unknown := [str(key) for key in data if key not in names]:
            raise ArtefactError(
                f"{_at(place)}found {', '.join(unknown)}, expected some of {', '.join(names)}"
            )
        for key, part in data.items():
            _require_known(part, getattr(value, key), _inner(place, key))
    elif isinstance(data, Mapping) and isinstance(value, Mapping):
        for (key, part), inner in zip(data.items(), value.values(), strict=True):
            _require_known(part, inner, _inner(place, key))
    elif isinstance(data, list) and isinstance(value, list | tuple):
        for i, (part, inner) in enumerate(zip(data, value, strict=True)):
            _require_known(part, inner, f"{place}[{i}]")


_PLACE = r"(?: - at `\$(?P<place>.*)`)?"
_MISSING = re.compile(rf"Object missing required field `(?P<field>[^`]*)`{_PLACE}")
_WRONG_TYPE = re.compile(
    rf"Expected `(?P<expected>[^`]*)`(?: of length (?P<length>\S+))?, got `?(?P<found>[^`]*?)`?{_PLACE}"
)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def _explained(message: str, data: Any, around: str) -> str:
    """The error of msgspec in our form: the place, what was found, and what was expected."""
    if (missing := _MISSING.fullmatch(message)) is not None:
        place, _ = _named(data, around, missing["place"], lambda value: _lacks(value, missing["field"]))
        return f"{_at(place)}found no {missing['field']}, expected one"
    if (wrong := _WRONG_TYPE.fullmatch(message)) is None:
        return f"{_at(around)}{message}"
    if wrong["length"]:
        place, value = _named(data, around, wrong["place"], lambda value: _has(value, int(wrong["found"])))
        return f"{_at(place)}found {_shown(value)}, expected a list of {wrong['length']}"
    place, value = _named(data, around, wrong["place"], lambda value: _kind(value) == wrong["found"])
    expected = " or ".join(_TYPES.get(one, one) for one in wrong["expected"].split(" | "))
    return f"{_at(place)}found {_shown(value)}, expected {expected}"


def _named(data: Any, around: str, path: str | None, is_wrong: Callable[[Any], bool]) -> tuple[str, Any]:
    """The place and the value that msgspec complains about; of keys it says only that there is one."""
    candidates = [(around, data)]
    for field, index in _STEP.findall(path or ""):
        candidates = [one for place, value in candidates for one in _parts(place, value, field, index)]
    return next((one for one in candidates if is_wrong(one[1])), (around, data))


def _parts(place: str, value: Any, field: str, index: str) -> list[tuple[str, Any]]:
    """The parts of a value to which a step of a path leads: one, or all for an unknown key."""
    if isinstance(value, Mapping):
        wanted = value if index == "..." else [field]
        return [(_inner(place, key), value[key]) for key in wanted if key in value]
    if isinstance(value, list | tuple) and index.isdigit() and int(index) < len(value):
        return [(f"{place}[{index}]", value[int(index)])]
    return []


def _lacks(value: Any, field: str) -> bool:
    return isinstance(value, Mapping) and field not in value


def _has(value: Any, parts: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == parts


def _kind(value: Any) -> str:
    """The name that msgspec has for the type of a value."""
    names = {dict: "object", list: "array", tuple: "array", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _inner(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _at(place: str) -> str:
    return f"{place}: " if place else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
