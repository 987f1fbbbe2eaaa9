"""Streams as a scenario describes them, cell by cell: rates, bursts, drift, skew, disorder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from midstream.io.text_file import find_text
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.units import TimeUnit
from midstream.scenarios.stages.generate.arrivals import Arrivals, arrivals_of
from midstream.scenarios.stages.generate.tables import sorted_table
from midstream.scenarios.stages.generate.values import values_of
from midstream.scenarios.streams.faults import validated
from midstream.scenarios.streams.nexmark.counters import drawer
from midstream.scenarios.streams.stream_spec import PositiveDuration, StreamSpec, Strict, Trace
from midstream.scenarios.streams.yaml_file import Document, read_yaml


class StreamsSpec(Strict):
    """A file's declaration of streams to generate."""

    unit: str = "milliseconds"
    seed: int = 1
    duration: PositiveDuration
    streams: dict[str, StreamSpec] = Field(min_length=1)


def load_streams(name: str) -> tuple[StreamsSpec, TimeUnit]:
    """Read the streams of a file; of a scenario, `unit`, `seed`, `duration` and `streams` are read.

    Raises   InputFileError, naming file, line and key; also for streams that are recorded, not generated.
    """
    file, text = find_text("file with streams", name, {}, (".yaml", ".yml"))
    whole = read_yaml(file, text)
    keys = StreamsSpec.model_fields
    if not isinstance(whole.data, dict):
        raise whole.error((), f"found {type(whole.data).__name__}, expected keys, streams among them")
    document = Document(file, {key: one for key, one in whole.data.items() if key in keys}, whole.lines)
    with document.errors_at(("unit",), ValueError):
        unit = TimeUnit.of(str(document.data.get("unit", "milliseconds")))
    spec = validated(StreamsSpec, document, unit=unit)
    if TimeUnit.of("second").nanoseconds % unit.nanoseconds:
        raise document.error(
            ("unit",), f"found {unit.name}, expected seconds, or a unit that they are made of"
        )
    for one, stream in spec.streams.items():
        if isinstance(stream.arrivals, Trace):
            raise InputFileError(
                f"{file}, line {document.line(('streams', one, 'arrivals'))}: found a trace, expected "
                "arrivals that can be generated; ingest reads recordings",
                path=Path(file),
            )
        if "start" in stream.columns:
            raise document.error(("streams", one, "columns", "start"), "found start, expected another name")
    return spec, unit


def parametric_streams(name: str, seed: int | None = None) -> tuple[int, list[ParametricStream], int]:
    """The seed of a file with streams, its streams, and the nanoseconds of a chronon."""
    spec, unit = load_streams(name)
    used = spec.seed if seed is None else seed
    second = TimeUnit.of("seconds").nanoseconds // unit.nanoseconds
    streams = [
        ParametricStream(one, stream, arrivals_of(one, stream, second, used, spec.duration))
        for one, stream in spec.streams.items()
    ]
    return used, streams, unit.nanoseconds


@dataclass(frozen=True)
class ParametricStream:
    """A stream that can be made in parts."""

    name: str
    spec: StreamSpec
    arrivals: Arrivals

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The columns of the only stream."""
        types = {name: Type(values.type) for name, values in self.spec.columns.items()}
        return {self.name: Schema(tuple(Column(name, type_) for name, type_ in types.items()))}

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.arrivals.cells

    @property
    def expected(self) -> Mapping[str, float]:
        """The expected number of elements."""
        return {self.name: min(self.arrivals.expected, self.spec.count or self.arrivals.expected)}

    def tables(self, first: int, end: int) -> Iterator[tuple[str, pa.Table]]:
        """The elements of some cells, in order: columns start and payload."""
        for cell, number, starts in self.arrivals.numbered(first, end):
            yield self.name, sorted_table(*self._cell(cell, number, starts))

    def arriving(self, first: int, end: int) -> Iterator[tuple[str, pa.Table]]:
        """The elements that arrive in the time of some cells, in order of arrival.

        arrival  =  start + displacement, drawn between 0 and `disorder`
        """
        back = -(-self.spec.disorder // self.arrivals.width)
        since = self.arrivals.bounds(first)[0] if first else None
        until = self.arrivals.bounds(end)[0] if end < self.cells else None
        parts, turns = [], []
        for cell, number, starts in self.arrivals.numbered(max(0, first - back), end):
            kept, payload = self._cell(cell, number, starts)
            drawn = drawer(self.arrivals.seed, self.name, "disorder", cell)
            turn = kept + drawn.integers(0, self.spec.disorder + 1, len(kept))
            here = np.ones(len(kept), bool) if since is None else turn >= since
            here = here if until is None else here & (turn < until)
            parts.append(pa.table({"start": kept, **payload}).filter(pa.array(here)))
            turns.append(turn[here])
        order = np.argsort(np.concatenate(turns), kind="stable")
        yield self.name, pa.concat_tables(parts).take(pa.array(order))

    def _cell(self, cell: int, number: int, starts: Any) -> tuple[Any, dict[str, pa.Array]]:
        if self.spec.count is not None:
            starts = starts[: max(0, self.spec.count - number)]
        seed = self.arrivals.seed
        return starts, {
            name: pa.array(values_of(values, starts, number, drawer(seed, self.name, f"column {name}", cell)))
            for name, values in self.spec.columns.items()
        }
