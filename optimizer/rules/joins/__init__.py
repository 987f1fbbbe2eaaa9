"""Rules that change joins, and their order."""

from midstream.optimizer.rules.joins.join_and_union import JOIN_ABOVE_UNION, JOIN_BELOW_UNION
from midstream.optimizer.rules.joins.join_as_semi_join import JOIN_AS_SEMI_JOIN, SEMI_JOIN_AS_JOIN
from midstream.optimizer.rules.joins.join_associativity import JOIN_ASSOCIATIVITY
from midstream.optimizer.rules.joins.join_commutativity import JOIN_COMMUTATIVITY
from midstream.optimizer.rules.joins.join_elimination import LEFT_JOIN_ELIMINATION, RIGHT_JOIN_ELIMINATION
from midstream.optimizer.rules.rule import Rule

ORDERS: tuple[Rule, ...] = (
    JOIN_COMMUTATIVITY,
    JOIN_ASSOCIATIVITY,
)
"""Rules that lead from one order of joins to every other."""

FEWER_INPUTS: tuple[Rule, ...] = (
    LEFT_JOIN_ELIMINATION,
    RIGHT_JOIN_ELIMINATION,
)
"""Rules that drop an input in which each row of the other input has one partner."""

OTHER_JOINS: tuple[Rule, ...] = (
    JOIN_AS_SEMI_JOIN,
    SEMI_JOIN_AS_JOIN,
    JOIN_BELOW_UNION,
    JOIN_ABOVE_UNION,
)
"""Rules that turn joins into other joins."""

__all__ = ["FEWER_INPUTS", "ORDERS", "OTHER_JOINS"]
