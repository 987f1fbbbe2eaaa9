"""Results that a program collects, and gives on as dicts, Arrow, Polars or pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from midstream.plans.algebra.builder import Stream, plan_of
from midstream.plans.algebra.plan import Plan
from midstream.plans.values.arguments import listed
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.schema import Schema
from midstream.plans.values.schema import Time as Form
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from midstream.plans.values.units import TimeUnit

EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
PIECE = 1 << 10
"""The number of results that become Arrow at once; with many more, columns leave the processor's caches."""


class Results(list[Element], NearNames):
    """The results of a query, in order of start: a list of elements `(start, end, payload)`.

    It is a sink: an engine adds to it, and tells it the columns and the unit of time. A program that fills it
    otherwise names the plan.

    In the other forms, the columns start and end come first. They are dates with times, without a zone, in
    UTC, if the query's streams declare a unit of time, and so are columns of timestamps and dates that the
    query copies; else all of these are integers. The end FOREVER is None, or null.

    >>> import midstream as ms
    >>> bids = ms.stream("bids", item="integer", price="float", time_unit="seconds").window(60)
    >>> results = ms.Results()
    >>> engine = ms.Engine(bids.filter(ms.col("price") > 10), results)
    >>> engine.push_rows("bids", [(0, 7, 12.5), (5, 7, 9.0)], time="at")
    >>> engine.close()
    >>> results
    [(0, 60, (7, 12.5))]
    >>> results.to_dicts()
    [{'start': datetime.datetime(1970, 1, 1, 0, 0), 'end': datetime.datetime(1970, 1, 1, 0, 1), \
'item': 7, 'price': 12.5}]
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {"toPandas": "to_pandas", "toArrow": "to_arrow", "remote": ""}

    def __init__(self, elements: Iterable[Element] = (), *, plan: Plan | Stream | None = None) -> None:
        super().__init__(listed("Results", elements, "elements (start, end, payload)"))
        self._schema: Schema | None = None
        self._unit: TimeUnit | None = None
        if plan is not None:
            self.describe(plan_of("Results", plan))

    def __call__(self, batch: Batch) -> None:
        """Take results."""
        self.extend(batch)

    def describe(self, plan: Plan, output: str | None = None) -> None:
        """Take the columns and the unit of time of a plan's output, by default the first one."""
        from midstream.plans.values.units import TimeUnit

        root = next(iter(plan.outputs.values())) if output is None else plan.outputs[output]
        units = [source.unit for source in plan.sources if source.unit is not None]
        self._schema, self._unit = root.schema, TimeUnit.of(units[0]) if units else None

    @property
    def schema(self) -> Schema:
        """The columns of the rows.

        Raises   ArgumentError where neither an engine nor the program has named the plan.
        """
        if self._schema is None:
            raise ArgumentError(
                "Results: found no columns, expected those of a query; pass the results to an engine as its "
                "sink, or write Results(elements, plan=plan)"
            )
        return self._schema

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict for each result; also integers of more than 64 bits, and values of any type.

        Raises   ConnectorError for instants that datetime does not hold: those finer than microseconds, and
                 those beyond the years 1 to 9999.
        """
        from midstream.io.file_formats import VALIDITY
        from midstream.io.sinks.csv_sink import refuse_validity

        refuse_validity("Results", self.schema)
        names = (*VALIDITY, *self.schema.names)
        forms: list[tuple[int, Form]] = [(place, "timestamp") for place in range(len(VALIDITY))]
        for place, column in enumerate(self.schema, len(VALIDITY)):
            if column.time is not None:
                forms.append((place, column.time))
        found = []
        for number, (start, end, row) in enumerate(self, 1):
            values = [start, end, *row]
            for place, form in forms:
                try:
                    values[place] = self._instant(values[place], form)
                except (ValueError, OverflowError):
                    raise self._beyond_datetime(number, names[place], values[place]) from None
            found.append(dict(zip(names, values, strict=True)))
        return found

    def _instant(self, time: Time | None, form: Form) -> Time | datetime | date | None:
        """An instant as datetime or date; raises ValueError or OverflowError for others than these hold."""
        if time is None or time in (BEGINNING, FOREVER):
            return None
        if self._unit is None:
            return time
        microseconds, rest = divmod(int(time) * self._unit.nanoseconds, 1000)
        if rest:
            raise ValueError(time)
        found = EPOCH + timedelta(microseconds=microseconds)
        return found.date() if form == "date" else found

    def _beyond_datetime(self, number: int, column: str, time: Any) -> Exception:
        from midstream.io.errors import ConnectorError
        from midstream.plans.values.instants import iso_format

        assert self._unit is not None
        instant = iso_format(self._unit.nanoseconds)(time)
        return ConnectorError(
            f"Results: result {number}, column {column}: found {instant}, which datetime does not hold, "
            "expected years from 1 to 9999, and six decimals of a second at most; to_arrow() has it, and "
            "so have the results themselves, as integers",
            column=column,
        )

    def to_arrow(self) -> pa.Table:
        """An Arrow table; columns of type any hold JSON.

        Raises   ConnectorError for integers of more than 64 bits, and for a column called start or end;
                 MissingExtra without pyarrow.
        """
        from midstream.io.sinks.arrow import ArrowResults

        arrow = ArrowResults("Results", self.schema, self._unit, dates=True)
        import pyarrow as pa

        pieces = range(0, len(self), PIECE)
        batches = [arrow.batch(self[at : at + PIECE], at) for at in pieces]
        return pa.Table.from_batches(batches, schema=arrow.fields).combine_chunks()

    def to_polars(self) -> pl.DataFrame:
        """A DataFrame of Polars; as `to_arrow` besides."""
        from midstream.io.requirements import require_libraries

        require_libraries(("polars",), "polars", "DataFrames of Polars need")
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame of pandas, with nullable integers and booleans; as `to_arrow` besides."""
        from midstream.io.requirements import require_libraries

        require_libraries(("pandas",), "pandas", "DataFrames of pandas need")
        import pandas as pd
        import pyarrow as pa

        nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        return self.to_arrow().to_pandas(types_mapper=nullable.get)
