"""Statistics of sources in a small file.

    {"midstream_statistics": 1,
     "streams": {"bids": {"d": 5, "l": 1, "sample": {"columns": ["item"], "rows": [[7], [8]]},
                          "distributions": {"item": [[7, 0.1], [8, 0.9]]}},
                 "rates": {"always": 160}},
     "selectivities": {"item > 7": 0.1}}

For a stream, `d` is the distance of elements in chronons, null if there are none, and `l` their length of
validity, 1 by default, null without an end. For a relation, `always` is its number of rows. `distributions`
are the shares of a column's values; those beside the streams are for columns of that name in any stream.
Conditions are written as `explain` shows them in the plan as written. See `StreamStatistics` for the other
fields.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.optimizer.statistics import Distribution, Sample, Statistics, StreamStatistics
from midstream.plans.algebra.operators import Filter, Join, Project, Relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression, conjuncts
from midstream.plans.values.artefacts import (
    ArtefactError,
    Header,
    artefact_text,
    bounded_bytes,
    parsed,
    read_artefact,
    typed,
)
from midstream.plans.values.errors import MidstreamError, StatisticsError
from midstream.plans.values.schema import Schema

HEADER: Header = {"midstream_statistics": 1}
MOST_BYTES = 1 << 24
"""Greatest length of the file in bytes; programs write such files, too."""


def dump_statistics(statistics: Statistics) -> str:
    """Write statistics as JSON on one line, which `load_statistics` reads.

    Raises   StatisticsError unless they are of sources and relations.
    """
    streams: dict[str, Any] = {}
    for node, known in statistics.streams.items():
        if node.inputs:
            raise StatisticsError(
                f"found statistics of {node!r}, expected those of streams and relations only"
            )
        found: dict[str, Any] = {"g": known.g, "always": known.always, "even": known.even}
        for name, value in (("d", known.d), ("l", known.l)):
            if math.isfinite(value):
                found[name] = value
            elif not isinstance(node.operator, Relation):
                found[name] = None
        if known.sample is not None:
            found["sample"] = _SampleInFile(list(known.sample.schema.names), list(known.sample.rows))
        if known.distributions:
            found["distributions"] = _listed(known.distributions)
        streams[_name(node)] = found
    shares = {str(condition): share for condition, share in statistics.selectivities.items()}
    try:
        return artefact_text(HEADER, _File(streams, shares, _listed(statistics.distributions)))
    except ArtefactError as error:
        raise StatisticsError(str(error)) from error


_Shares = list[tuple[Any, float]]
"""The share of each value of a column, in pairs: values, unlike the names in an object, need not be texts."""


@dataclass(frozen=True)
class _SampleInFile:
    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class _StreamInFile:
    d: float | None = None
    l: float | None = None  # noqa: E741
    g: float = 1.0
    always: float = 0.0
    even: bool = False
    sample: _SampleInFile | None = None
    distributions: dict[str, _Shares] = field(default_factory=dict)


@dataclass(frozen=True)
class _File:
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)
    selectivities: dict[str, float] = field(default_factory=dict)
    distributions: dict[str, _Shares] = field(default_factory=dict)


def _listed(distributions: Mapping[str, Distribution]) -> dict[str, _Shares]:
    return {column: list(of.items()) for column, of in distributions.items()}


def load_statistics(text: str | bytes, plans: Iterable[Plan]) -> Statistics:
    """Read statistics of the streams that some plans read.

    Raises   StatisticsError, with the place, for anything else.
    """
    try:
        return _statistics(read_artefact(parsed(text), HEADER, _File), plans)
    except ArtefactError as error:
        raise StatisticsError(str(error)) from error


def _statistics(file: _File, plans: Iterable[Plan]) -> Statistics:
    nodes = [node for plan in plans for node in plan.nodes]
    leaves = {_name(node).lower(): node for node in nodes if not node.inputs}
    streams: dict[Node, StreamStatistics] = {}
    for name, entry in file.streams.items():
        if name.lower() not in leaves:
            known = ", ".join(_name(node) for node in leaves.values())
            raise StatisticsError(f"streams: found {name}, expected one that the query reads: {known}")
        node = leaves[name.lower()]
        streams[node] = _stream(node, entry, f"streams.{name}")
    missing = [_name(node) for node in leaves.values() if node not in streams]
    if missing:
        raise StatisticsError(
            f"streams: found nothing for {', '.join(missing)}, expected statistics of every stream"
        )
    columns: dict[str, list[Schema]] = {}
    for node in leaves.values():
        for name in node.schema.names:
            columns.setdefault(name, []).append(node.schema)
    distributions = _distributions(file.distributions, columns, "distributions")
    return Statistics(streams, _shares(file.selectivities, nodes), distributions)


def read_statistics(path: Path, plans: Iterable[Plan]) -> Statistics:
    """Read statistics from a file; raises StatisticsError, with the name of the file, if it has none."""
    try:
        return load_statistics(bounded_bytes(path, MOST_BYTES).decode("utf-8-sig"), plans)
    except OSError as error:
        raise StatisticsError(f"{path}: {error.strerror or error}") from error
    except (ValueError, MidstreamError) as error:
        raise StatisticsError(f"{path}: {error}") from error


def _stream(node: Node, entry: Mapping[str, Any], place: str) -> StreamStatistics:
    stream = typed(entry, _StreamInFile, place)
    is_constant = isinstance(node.operator, Relation)
    if "d" not in entry and not is_constant:
        raise StatisticsError(f"{place}: found no d, expected the distance of elements in chronons")
    if int(stream.g) != stream.g:
        raise StatisticsError(f"{place}.g: found {stream.g!r}, expected a whole number of chronons")
    length = 1.0 if "l" not in entry and not is_constant else stream.l
    columns = {name: [node.schema] for name in node.schema.names}
    sample = None if stream.sample is None else _sample(node.schema, stream.sample, f"{place}.sample")
    distributions = _distributions(stream.distributions, columns, f"{place}.distributions")
    try:
        return StreamStatistics(
            math.inf if stream.d is None else stream.d,
            math.inf if length is None else length,
            int(stream.g),
            sample,
            stream.always,
            stream.even,
            distributions,
        )
    except MidstreamError as error:
        raise StatisticsError(f"{place}: {error}") from error


def _sample(schema: Schema, sample: _SampleInFile, place: str) -> Sample:
    if sample.columns != list(schema.names):
        raise StatisticsError(
            f"{place}: found columns {sample.columns!r}, expected {', '.join(schema.names)}"
        )
    try:
        schema.check(sample.rows)
    except MidstreamError as error:
        raise StatisticsError(f"{place}: {error}") from error
    return Sample(schema, sample.rows)


def conditions_by_text(nodes: Iterable[Node]) -> dict[str, list[Expression]]:
    """The conditions of filters and joins by their texts.

    A condition may be written as it stands in the plan, or over the columns below projections.
    """
    forms = [list(_forms(part, node)) for node in nodes for part in _conditions(node)]
    return {str(form): equal for equal in forms for form in equal}


def _distributions(
    shares: Mapping[str, _Shares], columns: Mapping[str, Sequence[Schema]], place: str
) -> dict[str, Distribution]:
    """By column, the share of each value, which must be valid in a schema with that column."""
    found: dict[str, Distribution] = {}
    for column, pairs in shares.items():
        if column not in columns:
            raise StatisticsError(f"{place}: found {column}, expected some of {', '.join(columns)}")
        if not any(_fit(schema, column, [(value,) for value, _ in pairs]) for schema in columns[column]):
            raise StatisticsError(f"{place}.{column}: found values that do not fit the column")
        found[column] = {value: _share(share, f"{place}.{column}") for value, share in pairs}
        if math.fsum(found[column].values()) > 1 + 1e-6:
            raise StatisticsError(f"{place}.{column}: found shares with a sum above 1")
    return found


def _fit(schema: Schema, column: str, values: Sequence[tuple[Any, ...]]) -> bool:
    """True if a column may have these values."""
    try:
        Schema((schema[column],)).check(values)
    except MidstreamError:
        return False
    return True


def _shares(selectivities: Mapping[str, float], nodes: Iterable[Node]) -> dict[Expression, float]:
    """The selectivities by condition of the plans, including the forms below projections."""
    known = conditions_by_text(nodes)
    shares: dict[Expression, float] = {}
    for text, share in selectivities.items():
        if text not in known:
            expected = ", ".join(dict.fromkeys(str(equal[0]) for equal in known.values()))
            raise StatisticsError(
                f"selectivities: found {text!r}, expected conditions of the plan: "
                f"{expected or 'none, as the query has no condition'}"
            )
        shares |= dict.fromkeys(known[text], _share(share, f"selectivities.{text}"))
    return shares


def _share(share: float, place: str) -> float:
    if not 0 <= share <= 1:
        raise StatisticsError(f"{place}: found {share!r}, expected a share from 0 to 1")
    return share


def _conditions(node: Node) -> Sequence[Expression]:
    return conjuncts(node.operator.condition) if isinstance(node.operator, Filter | Join) else ()


def _forms(part: Expression, node: Node) -> Iterator[Expression]:
    """A condition, and its forms over the columns below projections."""
    yield part
    for child in node.inputs:
        if set(part.columns()) <= set(child.schema.names):
            is_computed = isinstance(child.operator, Project)
            below = all_substituted([part], definitions(child)) if is_computed else [part]
            for one in below or ():
                yield from _forms(one, child)


def _name(node: Node) -> str:
    return str(node.operator).split(" ", 1)[1]
