"""The functions that have a name in expressions, and therefore a serial form.

An unknown argument gives unknown, except in `coalesce`, `concat`, `concat_ws`, `nullif`, `in` and `is
distinct from`. Where a function is undefined, its value is unknown, too: no function ends a query.

    >>> sorted(name for name in FUNCTIONS if name.startswith("log"))
    ['log10', 'log2']
"""

from __future__ import annotations

from collections.abc import Mapping

from midstream.plans.functions.conditions import CONDITION_FUNCTIONS
from midstream.plans.functions.dates import DATE_FUNCTIONS
from midstream.plans.functions.function import Function
from midstream.plans.functions.numbers import NUMBER_FUNCTIONS
from midstream.plans.functions.patterns import PATTERN_FUNCTIONS
from midstream.plans.functions.strings import STRING_FUNCTIONS
from midstream.plans.functions.tuples import TUPLE_FUNCTIONS
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.schema import suggest_spelling

FUNCTIONS: Mapping[str, Function] = {
    **CONDITION_FUNCTIONS,
    **NUMBER_FUNCTIONS,
    **STRING_FUNCTIONS,
    **PATTERN_FUNCTIONS,
    **DATE_FUNCTIONS,
}


def function_named(name: str) -> Function:
    """The function with a name; raises ExpressionError, with the nearest name, if there is none."""
    if name in TUPLE_FUNCTIONS:
        return TUPLE_FUNCTIONS[name]
    if name not in FUNCTIONS:
        raise ExpressionError(
            f"found {name!r}, expected one of {', '.join(FUNCTIONS)}{suggest_spelling(name, FUNCTIONS)}"
        )
    return FUNCTIONS[name]
