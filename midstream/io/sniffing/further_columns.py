"""Columns that the beginning of a sniffed file lacks, with types that take all their values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from midstream.io.file_formats import files_of
from midstream.io.sniffing.json_sniffing import TYPES
from midstream.io.sniffing.parquet_sniffing import sniffed_parquet
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.sources import open_source
from midstream.io.timestamps import Timestamps
from midstream.plans.sql.declarations import ColumnDeclaration, StreamDeclaration
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Type
from midstream.plans.values.units import MICROSECONDS


class _Further(BadRows):
    """The further columns of rows, as they are refused; in JSON with the types of their values.

    Both are kept by name in lower case.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, str] = {}
        self.types: dict[str, set[Type]] = {}

    def report(self, source: str, unit: str, number: int, misfit: Misfit, row: str) -> None:
        """Note the columns that a row has beside the declared ones."""
        if misfit.further:
            self.note(misfit.further, json.loads(row))

    def note(self, names: Iterable[str], values: dict[str, Any]) -> None:
        """Note some columns, and the types of their values."""
        for name in filter(None, names):
            self.names.setdefault(name.lower(), name)
            types = self.types.setdefault(name.lower(), set())
            if (value := values.get(name)) is not None:
                types.add(TYPES.get(type(value), Type.STRING))


def further_columns(stream: StreamDeclaration) -> tuple[ColumnDeclaration, ...]:
    """The columns that the files of a stream have beside its own, by a pass over their names.

    Columns of CSV are texts. The types of others take all their values.
    """
    assert stream.source is not None
    found = _Further()
    of_parquet: dict[str, ColumnDeclaration] = {}
    for path in files_of(stream.source.arguments[0]):
        source = replace(stream.source, arguments=(path,), sparse=True, sort=False)
        timestamps = Timestamps(stream.unit or MICROSECONDS, stream.unit)
        try:
            with open_source(replace(stream, source=source), timestamps, bad_rows=found) as rows:
                for _ in rows:
                    if source.kind != "jsonl":
                        break
        except InputFileError as error:
            # Other faults are left to the run.
            found.note(further := getattr(error, "further", ()), {})
            if further and source.kind == "parquet":
                with suppress(InputFileError):
                    for one in sniffed_parquet(path).columns:
                        declared = ColumnDeclaration(one.name, one.type, True, one.is_iso, one.is_date)
                        of_parquet.setdefault(one.name.lower(), declared)
    return tuple(
        of_parquet.get(lower, ColumnDeclaration(name, _type_of(found.types[lower])))
        for lower, name in found.names.items()
    )


def _type_of(types: set[Type]) -> Type:
    """The type that takes values of some types."""
    if types == {Type.INTEGER, Type.FLOAT}:
        return Type.FLOAT
    return next(iter(types)) if len(types) == 1 else Type.STRING
