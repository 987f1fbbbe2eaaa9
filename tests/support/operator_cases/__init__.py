"""The operators under test: every implementation, in every variant that its code treats differently."""

from operator_cases import aggregates, arrangements, cql, joins, matching, multisets, signs, simple, windows
from operator_cases.base import Case

FAMILIES = (simple, windows, arrangements, cql, joins, aggregates, signs, multisets, matching)
"""Each has its cases."""

CASES: list[Case] = [case for family in FAMILIES for case in family.cases()]
