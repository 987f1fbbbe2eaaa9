"""All functions of expressions and of groups, the rare ones too.

    from midstream import functions as F

    bids.aggregate(spread=F.stddev_pop("price"), best=F.top_k("price", 3))

of rows      case, coalesce, col, concat, concat_ws, greatest, least, lit; opaque, for a function of yours
of groups    avg, count, count_distinct, max_, median, min_, stddev, stddev_pop, stddev_samp, sum_, top_k,
             var_pop, var_samp, variance; user_aggregate, for one of yours

Expressions also have operators and methods (`Operand`), and a user's aggregate is a `UserAggregate`.
"""

from midstream.plans.expressions.aggregates import (
    UserAggregate,
    avg,
    count,
    count_distinct,
    max_,
    median,
    min_,
    stddev,
    stddev_pop,
    stddev_samp,
    sum_,
    top_k,
    user_aggregate,
    var_pop,
    var_samp,
    variance,
)
from midstream.plans.expressions.operands import (
    Operand,
    case,
    coalesce,
    col,
    concat,
    concat_ws,
    greatest,
    least,
    lit,
    opaque,
)

__all__ = [
    "Operand",
    "UserAggregate",
    "avg",
    "case",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "count",
    "count_distinct",
    "greatest",
    "least",
    "lit",
    "max_",
    "median",
    "min_",
    "opaque",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum_",
    "top_k",
    "user_aggregate",
    "var_pop",
    "var_samp",
    "variance",
]
