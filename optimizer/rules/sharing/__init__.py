"""Rules that reveal common parts of several queries."""

from midstream.optimizer.rules.rule import Rule
from midstream.optimizer.rules.sharing.columns_below_join import COLUMNS_BELOW_LEFT, COLUMNS_BELOW_RIGHT
from midstream.optimizer.rules.sharing.filter_above_join import FILTER_ABOVE_LEFT, FILTER_ABOVE_RIGHT
from midstream.optimizer.rules.sharing.filter_out_of_join import FILTER_OUT_OF_JOIN
from midstream.optimizer.rules.sharing.filter_splitting import FILTER_SPLITTING
from midstream.optimizer.rules.sharing.join_columns import JOIN_COLUMNS, PROJECTION_INTO_JOIN

COMMON_PARTS: tuple[Rule, ...] = (
    FILTER_SPLITTING,
    FILTER_OUT_OF_JOIN,
    FILTER_ABOVE_LEFT,
    FILTER_ABOVE_RIGHT,
    JOIN_COLUMNS,
    PROJECTION_INTO_JOIN,
    COLUMNS_BELOW_LEFT,
    COLUMNS_BELOW_RIGHT,
)
"""Rules that make parts of plans equal."""

__all__ = ["COMMON_PARTS"]
