"""Queries as data: schemas, expressions, plans, SQL, and the logical algebra with its specification.

Plan, Node              a plan, and an operator in it
Schema, Column, Type    the columns of a stream
specified, snapshots    the results that a plan must have, computed snapshot by snapshot: slow and simple
normal_form             the one form of all lists of elements with the same snapshots
snapshot                the rows that are valid at an instant
"""

from typing import TYPE_CHECKING

from midstream.plans.values.lazy_names import lazy_names

if TYPE_CHECKING:
    from midstream.plans.algebra.plan import Node as Node, Plan as Plan
    from midstream.plans.algebra.specification import snapshots as snapshots, specified as specified
    from midstream.plans.values.schema import Column as Column, Schema as Schema, Type as Type
    from midstream.plans.values.snapshots import normal_form as normal_form, snapshot as snapshot
else:
    # Values and errors come without the algebra, and so without networkx.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "algebra.plan": "Node Plan",
            "algebra.specification": "snapshots specified",
            "values.schema": "Column Schema Type",
            "values.snapshots": "normal_form snapshot",
        },
    )
