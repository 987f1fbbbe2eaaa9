"""The rows of relations, as the elements that operators take (thesis, 17.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from midstream.operators.engine.input.key_checks import KeyChecks
from midstream.plans.algebra.operators import Relation
from midstream.plans.values.arguments import listed
from midstream.plans.values.errors import IntervalError, SchemaError, StreamOrderError, UnknownStreamError
from midstream.plans.values.schema import suggest
from midstream.plans.values.streams import BEGINNING, FOREVER, START, Element, Payload

Relations = Mapping[str, Iterable[Element]]
"""The elements of each relation, by name."""


def constant(rows: Iterable[Payload]) -> list[Element]:
    """Rows that are always valid, as the elements of a constant relation.

    >>> constant([(1, "car"), (2, "boat")])
    [(-inf, inf, (1, 'car')), (-inf, inf, (2, 'boat'))]
    """
    return [(BEGINNING, FOREVER, row) for row in listed("constant", rows, "a list of rows")]


def check_relations(wanted: Iterable[Relation], relations: Mapping[str, list[Element]]) -> None:
    """Check that the elements of relations are there, and match the declaration.

    Raises   UnknownStreamError where they are missing; IntervalError, StreamOrderError or SchemaError where
             they do not match.
    """
    for operator in wanted:
        if operator.relation not in relations:
            raise UnknownStreamError(
                f"relation {operator.relation}: found no elements"
                f"{suggest(operator.relation, relations)}, expected them under this name",
                stream=operator.relation,
            )
        _check(operator, relations[operator.relation])


def _check(operator: Relation, elements: list[Element]) -> None:
    name = f"relation {operator.relation}"
    for number, element in enumerate(elements, 1):
        if type(element) is not tuple or len(element) != 3:
            raise IntervalError(f"{name}, element {number}: found {element!r}, expected (start, end, row)")
        start, end, _ = element
        if operator.is_constant:
            if (start, end) != (BEGINNING, FOREVER):
                raise IntervalError(
                    f"{name}, element {number}: found {element!r}, expected a row that is valid always; "
                    "declare the relation temporal"
                )
        elif type(start) is not int or not (type(end) is int or end == FOREVER) or not start < end:
            raise IntervalError(
                f"{name}, element {number}: found {element!r}, expected an integer start, and an end after "
                "it, an integer or FOREVER"
            )
    starts = list(map(START, elements))
    if starts != sorted(starts):
        raise StreamOrderError(f"{name}: found elements that are not in order of their starts; sort them")
    try:
        operator.columns.check([row for _, _, row in elements])
    except SchemaError as error:
        raise SchemaError(f"{name}: {error}") from error
    if keys := KeyChecks(name, operator.columns, operator.keys):
        for element in elements:
            keys.take(element)
