"""Tables of a TOML file, read with errors that name file and key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import suggest


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table and its place in a file.

    >>> TomlTable("s.toml", "EWR", {"window": -5}).positive("window")
    Traceback (most recent call last):
    midstream.plans.values.errors.InputFileError: s.toml, key EWR.window: found -5, expected a positive ...
    """

    file: str
    place: str
    entries: Mapping[str, Any]

    def unexpected(self, key: str, expected: str) -> InputFileError:
        """The error for a value that is not as expected."""
        found = repr(self.entries[key]) if key in self.entries else "nothing"
        name = f"{self.place}.{key}" if self.place else key
        return InputFileError(
            f"{self.file}, key {name}: found {found}, expected {expected}",
            path=self.file,
            key=name,
            found=found,
            expected=expected,
        )

    def allow(self, *keys: str) -> None:
        """Raise InputFileError where there is any other key."""
        for key in self.entries:
            if key not in keys:
                name = f"{self.place}.{key}" if self.place else key
                raise InputFileError(
                    f"{self.file}: found key {name}, expected one of {', '.join(keys)}{suggest(key, keys)}",
                    path=self.file,
                    key=name,
                )

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not empty."""
        if default is not None and key not in self.entries:
            return default
        value = self.entries.get(key)
        if not isinstance(value, str) or not value:
            raise self.unexpected(key, "a string")
        return value

    def positive(self, key: str) -> int:
        """An integer above 0."""
        value = self.entries.get(key)
        if type(value) is not int or value <= 0:
            raise self.unexpected(key, "a positive integer")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of strings; empty where the key is missing."""
        value = self.entries.get(key, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self.unexpected(key, "a list of strings")
        return value

    def table(self, key: str) -> TomlTable | None:
        """A table in this table; None where the key is missing."""
        return self.inner(key) if key in self.entries else None

    def inner(self, key: str) -> TomlTable:
        """A table in this table."""
        value = self.entries.get(key)
        if not isinstance(value, dict):
            raise self.unexpected(key, "a table")
        return TomlTable(self.file, f"{self.place}.{key}" if self.place else key, value)

    def with_defaults(self, defaults: TomlTable | None) -> TomlTable:
        """The table, with the entries that it lacks taken from another one."""
        if defaults is None:
            return self
        return TomlTable(self.file, self.place, {**defaults.entries, **self.entries})
