"""Declarations on streams and relations: keys, and references to rows elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Time


@dataclass(frozen=True, slots=True)
class Key:
    """A key: no two rows agree on its columns while both are valid; if it `is_lasting`, no two rows at all.

    Unknown values agree with each other, as in groups. Unless it `is_enforced`, nothing checks it: the source
    is trusted.
    """

    columns: tuple[str, ...]
    is_lasting: bool = False
    is_enforced: bool = True

    def to_json(self) -> dict[str, Any]:
        """The columns, and the options that differ from their defaults."""
        return {"columns": list(self.columns), **_unusual(lasting=self.is_lasting, enforced=self.is_enforced)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The key of data that `to_json` returned."""
        return cls(tuple(map(str, data["columns"])), data.get("lasting", False), data.get("enforced", True))

    def __str__(self) -> str:
        """The key as in SQL."""
        time = " for all time" if self.is_lasting else ""
        return f"unique ({', '.join(self.columns)}){time}{_trust(self.is_enforced)}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference: where the values of `columns` are known, the stream or relation `to` has a row with them.

    That row has equal values in `to_columns`. It is valid at the same instant, or was valid at most `within`
    chronons before; FOREVER means at any time before. Unless the reference `is_enforced`, nothing checks it:
    the source is trusted.
    """

    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]
    within: Time = 0
    is_enforced: bool = True

    def to_json(self) -> dict[str, Any]:
        """Both sides, and the options that differ from their defaults; `within` is null for FOREVER."""
        within = {} if self.within == 0 else {"within": None if self.within == FOREVER else self.within}
        return {
            "columns": list(self.columns),
            "to": self.to,
            "to_columns": list(self.to_columns),
            **within,
            **_unusual(enforced=self.is_enforced),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The reference of data that `to_json` returned."""
        within = data.get("within", 0)
        return cls(
            tuple(map(str, data["columns"])),
            str(data["to"]),
            tuple(map(str, data["to_columns"])),
            FOREVER if within is None else within,
            data.get("enforced", True),
        )

    def __str__(self) -> str:
        """The reference as in SQL."""
        match self.within:
            case 0:
                time = ""
            case within:
                time = " for all time" if within == FOREVER else f" within {within}"
        return (
            f"({', '.join(self.columns)}) references {self.to} ({', '.join(self.to_columns)})"
            f"{time}{_trust(self.is_enforced)}"
        )


def check_declarations(
    name: str, columns: Schema, keys: Iterable[Key], references: Iterable[Reference]
) -> None:
    """Raise PlanError or a schema error if a declaration names missing columns, or is malformed."""
    for key in keys:
        if len(set(key.columns)) != len(key.columns):
            raise PlanError(f"{name}: found {key}, expected each column once")
        columns.select(key.columns)
    for one in references:
        if not one.columns or len(one.columns) != len(one.to_columns):
            raise PlanError(f"{name}: found {one}, expected as many columns on both sides, one at least")
        if one.within != FOREVER and (type(one.within) is not int or one.within < 0):
            raise PlanError(
                f"{name}: found a reference within {one.within!r}, expected chronons, 0 or more, or FOREVER"
            )
        columns.select(tuple(dict.fromkeys(one.columns)))


def declarations_to_json(keys: Iterable[Key], references: Iterable[Reference]) -> dict[str, Any]:
    """The JSON form of keys and references, without empty lists."""
    declarations = {
        "keys": [key.to_json() for key in keys],
        "references": [reference.to_json() for reference in references],
    }
    return {name: each for name, each in declarations.items() if each}


def keys_from_json(data: Mapping[str, Any]) -> tuple[Key, ...]:
    """The keys in the JSON form of a stream or a relation."""
    return tuple(map(Key.from_json, data.get("keys", ())))


def references_from_json(data: Mapping[str, Any]) -> tuple[Reference, ...]:
    """The references in the JSON form of a stream or a relation."""
    return tuple(map(Reference.from_json, data.get("references", ())))


def _unusual(*, lasting: bool = False, enforced: bool = True) -> dict[str, bool]:
    return {**({"lasting": True} if lasting else {}), **({} if enforced else {"enforced": False})}


def _trust(is_enforced: bool) -> str:
    return "" if is_enforced else " not enforced"
