"""Queries as data: schemas, expressions, plans, SQL, and the logical algebra with its specification.

Plan, Node              a plan, and an operator in it
Schema, Column, Type    the columns of a stream
specified, snapshots    the results that a plan must have, computed snapshot by snapshot: slow and simple
normal_form             the one form of all lists of elements with the same snapshots
snapshot                the rows that are valid at an instant
"""

from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.algebra.specification import snapshots, specified
from midstream.plans.values.schema import Column, Schema, Type
from midstream.plans.values.snapshots import normal_form, snapshot

__all__ = ["Column", "Node", "Plan", "Schema", "Type", "normal_form", "snapshot", "snapshots", "specified"]
