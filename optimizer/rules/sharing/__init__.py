"""Rules that reveal common parts of several queries."""

from midstream.optimizer.rules.rule import Rule
from midstream.optimizer.rules.sharing.columns_below_join import COLUMNS_BELOW_LEFT, COLUMNS_BELOW_RIGHT
from midstream.optimizer.rules.sharing.filter_above_join import FILTER_ABOVE_LEFT, FILTER_ABOVE_RIGHT
from midstream.optimizer.rules.sharing.filter_out_of_join import FILTER_OUT_OF_JOIN
from midstream.optimizer.rules.sharing.filter_splitting import FILTER_SPLITTING
from midstream.optimizer.rules.sharing.join_columns import JOIN_COLUMNS, PROJECTION_INTO_JOIN

FILTERS: tuple[Rule, ...] = (FILTER_SPLITTING, FILTER_OUT_OF_JOIN, FILTER_ABOVE_LEFT, FILTER_ABOVE_RIGHT)
"""Rules that bring filters up, above what another query has, too."""

COLUMNS: tuple[Rule, ...] = (JOIN_COLUMNS, PROJECTION_INTO_JOIN, COLUMNS_BELOW_LEFT, COLUMNS_BELOW_RIGHT)
"""Rules by which joins of the same inputs become the same join."""

__all__ = ["COLUMNS", "FILTERS"]
