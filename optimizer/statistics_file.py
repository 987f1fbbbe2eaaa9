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

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from midstream.optimizer.rules.substitution import all_substituted, definitions
from midstream.optimizer.statistics import Distribution, Sample, Statistics, StreamStatistics
from midstream.plans.algebra.operators import Filter, Join, Project, Relation
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.expressions import Expression, conjuncts
from midstream.plans.values.errors import MidstreamError, StatisticsError
from midstream.plans.values.finite import is_finite
from midstream.plans.values.schema import Schema

VERSION = 1
MOST_BYTES = 1 << 24
"""Greatest length of the file in bytes; programs write such files, too."""
FIELDS = ("d", "l", "g", "always", "even", "sample", "distributions")
PARTS = ("streams", "selectivities", "distributions")


def statistics_to_json(statistics: Statistics) -> dict[str, Any]:
    """Statistics as plain data; raises StatisticsError unless they are of sources and relations."""
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
            columns, rows = list(known.sample.schema.names), [list(row) for row in known.sample.rows]
            found["sample"] = {"columns": columns, "rows": rows}
        if known.distributions:
            found["distributions"] = _listed(known.distributions)
        streams[_name(node)] = found
    shares = {str(condition): share for condition, share in statistics.selectivities.items()}
    of_any = {"distributions": _listed(statistics.distributions)} if statistics.distributions else {}
    return {"midstream_statistics": VERSION, "streams": streams, "selectivities": shares, **of_any}


def _listed(distributions: Mapping[str, Distribution]) -> dict[str, list[list[Any]]]:
    """Distributions as lists of pairs, since values, unlike the names in an object, need not be strings."""
    return {column: [[value, share] for value, share in of.items()] for column, of in distributions.items()}


def statistics_from_json(data: object, plans: Iterable[Plan]) -> Statistics:
    """Read statistics of the streams that some plans read.

    Raises   StatisticsError, with the place, for anything else.
    """
    if not isinstance(data, dict) or data.get("midstream_statistics") != VERSION:
        raise StatisticsError(f'expected an object with "midstream_statistics": {VERSION}')
    if unknown := sorted(data.keys() - {"midstream_statistics", *PARTS}):
        raise StatisticsError(f"found {', '.join(unknown)}, expected {', '.join(PARTS)}")
    nodes = [node for plan in plans for node in plan.nodes]
    leaves = {_name(node).lower(): node for node in nodes if not node.inputs}
    streams: dict[Node, StreamStatistics] = {}
    for name, entry in _object(data.get("streams", {}), "streams").items():
        if name.lower() not in leaves:
            known = ", ".join(_name(node) for node in leaves.values())
            raise StatisticsError(f"streams: found {name}, expected one that the query reads: {known}")
        node = leaves[name.lower()]
        streams[node] = _stream(node, _object(entry, name), name)
    missing = [_name(node) for node in leaves.values() if node not in streams]
    if missing:
        raise StatisticsError(
            f"streams: found nothing for {', '.join(missing)}, expected statistics of every stream"
        )
    shares = _shares(_object(data.get("selectivities", {}), "selectivities"), nodes)
    columns: dict[str, list[Schema]] = {}
    for node in leaves.values():
        for name in node.schema.names:
            columns.setdefault(name, []).append(node.schema)
    return Statistics(
        streams, shares, _distributions(data.get("distributions", {}), columns, "distributions")
    )


def read_statistics(path: Path, plans: Iterable[Plan]) -> Statistics:
    """Read statistics from a file; raises StatisticsError, with the name of the file, if it has none."""
    try:
        with path.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise StatisticsError(f"found more than {MOST_BYTES:,} bytes, expected fewer")
        return statistics_from_json(json.loads(data.decode("utf-8-sig")), plans)
    except OSError as error:
        raise StatisticsError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, MidstreamError) as error:
        raise StatisticsError(f"{path}: {error}") from error


def _stream(node: Node, entry: Mapping[str, Any], name: str) -> StreamStatistics:
    if unknown := [field for field in entry if field not in FIELDS]:
        raise StatisticsError(f"streams, {name}: found {', '.join(unknown)}, expected {', '.join(FIELDS)}")
    is_constant = isinstance(node.operator, Relation)
    if "d" not in entry and not is_constant:
        raise StatisticsError(f"streams, {name}: found no d, expected the distance of elements in chronons")
    for field in ("d", "l", "g", "always"):
        value = entry.get(field, 1)
        if field in ("d", "l") and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not is_finite(value):
            raise StatisticsError(f"streams, {name}, {field}: found {value!r}, expected a number")
    if int(granule := entry.get("g", 1)) != granule:
        raise StatisticsError(f"streams, {name}, g: found {granule!r}, expected a whole number of chronons")
    if not isinstance(entry.get("even", False), bool):
        raise StatisticsError(f"streams, {name}, even: found {entry['even']!r}, expected true or false")
    sample = _sample(node.schema, entry["sample"], name) if "sample" in entry else None
    place, columns = f"streams, {name}, distributions", {name: [node.schema] for name in node.schema.names}
    distributions = _distributions(entry.get("distributions", {}), columns, place)
    apart, length = (math.inf, math.inf) if is_constant else (math.inf, 1.0)
    try:
        return StreamStatistics(
            math.inf if entry.get("d", apart) is None else entry.get("d", apart),
            math.inf if entry.get("l", length) is None else entry.get("l", length),
            int(granule),
            sample,
            entry.get("always", 0.0),
            entry.get("even", False),
            distributions,
        )
    except MidstreamError as error:
        raise StatisticsError(f"streams, {name}: {error}") from error


def _sample(schema: Schema, entry: object, name: str) -> Sample:
    place = f"streams, {name}, sample"
    parts = _object(entry, place)
    columns, rows = parts.get("columns"), parts.get("rows")
    if columns != list(schema.names):
        raise StatisticsError(f"{place}: found columns {columns!r}, expected {', '.join(schema.names)}")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise StatisticsError(f"{place}: found rows {rows!r}, expected a list of lists")
    try:
        schema.check(payloads := [tuple(row) for row in rows])
    except MidstreamError as error:
        raise StatisticsError(f"{place}: {error}") from error
    return Sample(schema, payloads)


def conditions_by_text(nodes: Iterable[Node]) -> dict[str, list[Expression]]:
    """The conditions of filters and joins by their texts.

    A condition may be written as it stands in the plan, or over the columns below projections.
    """
    forms = [list(_forms(part, node)) for node in nodes for part in _conditions(node)]
    return {str(form): equal for equal in forms for form in equal}


def _distributions(
    entry: object, columns: Mapping[str, Sequence[Schema]], place: str
) -> dict[str, Distribution]:
    """By column, the share of each value, which must be valid in a schema with that column."""
    found: dict[str, Distribution] = {}
    for column, pairs in _object(entry, place).items():
        if column not in columns:
            raise StatisticsError(f"{place}: found {column}, expected some of {', '.join(columns)}")
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise StatisticsError(f"{place}, {column}: found {pairs!r}, expected a list of [value, share]")
        shares = [_share(share, f"{place}, {column}") for _, share in pairs]
        values = [(value,) for value, _ in pairs]
        if not any(_fit(schema, column, values) for schema in columns[column]):
            raise StatisticsError(f"{place}, {column}: found values that do not fit the column")
        found[column] = {value: share for (value, _), share in zip(pairs, shares, strict=True)}
        if math.fsum(found[column].values()) > 1 + 1e-6:
            raise StatisticsError(f"{place}, {column}: found shares with a sum above 1")
    return found


def _fit(schema: Schema, column: str, values: Sequence[tuple[Any, ...]]) -> bool:
    """True if a column may have these values."""
    try:
        Schema((schema[column],)).check(values)
    except MidstreamError:
        return False
    return True


def _shares(entry: Mapping[str, Any], nodes: Iterable[Node]) -> dict[Expression, float]:
    """The selectivities by condition of the plans, including the forms below projections."""
    known = conditions_by_text(nodes)
    shares: dict[Expression, float] = {}
    for text, share in entry.items():
        if text not in known:
            expected = ", ".join(dict.fromkeys(str(equal[0]) for equal in known.values()))
            raise StatisticsError(
                f"selectivities: found {text!r}, expected conditions of the plan: "
                f"{expected or 'none, as the query has no condition'}"
            )
        shares |= dict.fromkeys(known[text], _share(share, f"selectivities, {text}"))
    return shares


def _share(entry: object, place: str) -> float:
    if isinstance(entry, bool) or not isinstance(entry, int | float) or not 0 <= entry <= 1:
        raise StatisticsError(f"{place}: found {entry!r}, expected a share from 0 to 1")
    return float(entry)


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


def _object(entry: object, place: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise StatisticsError(f"{place}: found {entry!r}, expected an object")
    return entry


def _name(node: Node) -> str:
    return str(node.operator).split(" ", 1)[1]
