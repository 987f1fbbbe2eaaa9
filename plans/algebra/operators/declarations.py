"""What is declared of the rows of a stream or a relation: which columns are keys, and which refer to rows
elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from midstream.plans.values.errors import PlanError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import FOREVER, Time


@dataclass(frozen=True, slots=True)
class Key:
    """No two rows agree on these columns: none that are valid together, or, where it `is_lasting`, none of
    all time. Unknown values agree with each other, as in groups.

    Where it is not `is_enforced`, nobody looks whether it holds: that is for the source to see to.
    """

    columns: tuple[str, ...]
    is_lasting: bool = False
    is_enforced: bool = True

    def to_json(self) -> dict[str, Any]:
        """The columns; the rest where it is not as usual."""
        return {"columns": list(self.columns), **_unusual(lasting=self.is_lasting, enforced=self.is_enforced)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` gave."""
        return cls(tuple(map(str, data["columns"])), data.get("lasting", False), data.get("enforced", True))

    def __str__(self) -> str:
        """As SQL has it."""
        time = " for all time" if self.is_lasting else ""
        return f"unique ({', '.join(self.columns)}){time}{_trust(self.is_enforced)}"


@dataclass(frozen=True, slots=True)
class Reference:
    """The values of some columns, where all of them are known, are those of a row of another stream or
    relation: of one that is valid at the same instant, or was `within` so many chronons before; FOREVER says
    that it was at any time before.

    Where it is not `is_enforced`, nobody looks whether it holds: that is for the source to see to.
    """

    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]
    within: Time = 0
    is_enforced: bool = True

    def to_json(self) -> dict[str, Any]:
        """Both sides; the rest where it is not as usual. No end is null."""
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
        """Read back what `to_json` gave."""
        within = data.get("within", 0)
        return cls(
            tuple(map(str, data["columns"])),
            str(data["to"]),
            tuple(map(str, data["to_columns"])),
            FOREVER if within is None else within,
            data.get("enforced", True),
        )

    def __str__(self) -> str:
        """As SQL has it."""
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
    """Raise PlanError or a schema error where a declaration names what is not there, or says nothing."""
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
    """Both, where there are any."""
    told = {
        "keys": [key.to_json() for key in keys],
        "references": [reference.to_json() for reference in references],
    }
    return {name: each for name, each in told.items() if each}


def keys_from_json(data: Mapping[str, Any]) -> tuple[Key, ...]:
    """The keys in the JSON form of a stream or a relation."""
    return tuple(map(Key.from_json, data.get("keys", ())))


def references_from_json(data: Mapping[str, Any]) -> tuple[Reference, ...]:
    """The references there."""
    return tuple(map(Reference.from_json, data.get("references", ())))


def _unusual(*, lasting: bool = False, enforced: bool = True) -> dict[str, bool]:
    return {**({"lasting": True} if lasting else {}), **({} if enforced else {"enforced": False})}


def _trust(is_enforced: bool) -> str:
    return "" if is_enforced else " not enforced"
