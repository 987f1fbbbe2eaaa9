"""What is known of a logical operator, and must be said of each: what it computes, never how.

An operator is data: its parameters, and the facts that plans, rules, migrations, files and drawings ask
for. Which inputs it has is the plan's business. A fact has no default, unless the definition of a family
implies it: an operator that forgets one is a type error and cannot be made.

    FromOutside         what gives rows of which only the columns are known
      Leaf              of these, streams and relations
    SnapshotReducible   a relational operator at every instant, alike
      Choosing          of these, what gives rows of its first input
      RowByRow          of these, what does with each row the same, whatever the others
    OverTime            what sees more of its input than what is valid at one instant
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

from midstream.plans.algebra.operators.columns import Columns, Dependencies, Dependency, Sets, shortest
from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.expressions.expressions import Expression
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Payload, Time

Snapshot = Counter[Payload]
"""What is valid at one instant, each row as often as it is."""

Row = tuple[int, Payload]
"""A payload with the instant at which it is valid."""

Schemas = tuple[Schema, ...]

Names = Mapping[str, str]
"""Columns of one side by columns of the other."""


class Logical(ABC):
    """What all logical operators answer. Each is a frozen dataclass of its parameters."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The word for it in messages, drawings and files."""

    @property
    @abstractmethod
    def symbol(self) -> str:
        """Its sign in drawings, the thesis' where it has one; empty where there is none."""

    @property
    @abstractmethod
    def arity(self) -> int | None:
        """How many inputs it takes; None for two or more."""

    @property
    @abstractmethod
    def is_snapshot_reducible(self) -> bool:
        """Whether its snapshot at t is a relational operator on its inputs' snapshots at t (thesis,
        Definition 10.2)."""

    @property
    @abstractmethod
    def is_start_preserving(self) -> bool:
        """Whether a result starts where the latest of the elements that it comes from starts (erratum 13)."""

    @property
    @abstractmethod
    def is_stateless(self) -> bool:
        """Whether results come from single elements, so that no state is kept but for output order."""

    @property
    @abstractmethod
    def valid_with(self) -> Literal["some input", "first input", "every input"]:
        """A result is valid only where something of that is: of some input, say, or of every one."""

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expression, ...]:
        """Its expressions, over the columns of its inputs one behind the other."""

    @abstractmethod
    def schema(self, inputs: Schemas) -> Schema:
        """The output's columns. Raises PlanError or a schema or expression error where the inputs do not
        fit."""

    @abstractmethod
    def granule_above(self, below: int) -> int:
        """Of what number of chronons its timestamps are multiples, where those of its inputs are multiples of
        `below`.

        Raises PlanError, which says what is expected, where that would be finer (thesis, 20.5).
        """

    @abstractmethod
    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """Whether every element of its output is valid for one chronon, given whether those of its inputs are
        (thesis, Table 12.1)."""

    @abstractmethod
    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Whether the output's end timestamps never decrease, given whether those of its inputs do, though it
        be no chronon stream (thesis, Table 12.1)."""

    @abstractmethod
    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """Whether the output is in the order in which the rows of one stream arrived, given whether its
        inputs are."""

    @abstractmethod
    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        """Columns of the inputs or of the output that are equal in every row of the output; one may be in
        several sets, which are then one."""

    @abstractmethod
    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Sets of columns that no two rows of the output agree on while both are valid."""

    @abstractmethod
    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Sets of columns that no two rows of the output agree on, of all instants together: each row is
        there at one instant."""

    @abstractmethod
    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """How columns of the inputs or of the output depend on each other among the rows that an output comes
        from, given how those of the inputs do; of one instant, and of all time alike.

        What follows from keys, or from columns that are equal, need not be said.
        """

    @property
    @abstractmethod
    def sees_one_instant(self) -> bool:
        """Whether rows of the output that are valid together come from rows that were valid together, at some
        instant, in each input."""

    @abstractmethod
    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """The columns of each input without which the needed columns of the output would be others, or its
        rows would be."""

    @abstractmethod
    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """Inputs in which the values of some columns of the output occur: in one row each, at that instant.
        The columns there by those of the output."""

    @abstractmethod
    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """Inputs whose values of some columns occur in the output: in one row each, at that instant. The
        columns of the output by those there."""

    @abstractmethod
    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """For how many chronons an element of the output is valid at most, given that of its inputs."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Its parameters as JSON data, without its name. Raises PlanFormatError where they hold a Python
        callable."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` gave. Raises whatever a missing or wrong parameter raises."""

    def __str__(self) -> str:
        return self.name


class FromOutside(Logical):
    """What gives rows of which a plan says no more than their columns: other means make them."""

    __slots__ = ()

    valid_with = "some input"
    expressions = ()

    columns: Schema
    """Its columns, which are those of the output."""

    def schema(self, inputs: Schemas) -> Schema:
        return self.columns

    def granule_above(self, below: int) -> int:
        return below

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Elements bring ends of their own."""
        return False

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        """Nothing is known of the rows."""
        return ()

    @property
    def sees_one_instant(self) -> bool:
        return True

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return ()

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return ()


class Leaf(FromOutside):
    """What comes from outside under a name."""

    __slots__ = ()

    arity = 0
    is_start_preserving = True
    is_stateless = True

    @property
    @abstractmethod
    def label(self) -> str:
        """The name of the stream or relation."""

    @property
    @abstractmethod
    def keys(self) -> tuple[Key, ...]:
        """The keys that are declared of it."""

    @property
    @abstractmethod
    def references(self) -> tuple[Reference, ...]:
        """What is declared that it refers to."""

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Those that are declared, of all time or not."""
        return shortest(frozenset(key.columns) for key in self.keys)

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Those that are declared of all time, of rows that are there at one instant."""
        is_brief = self.longest_validity(()) == 1
        return shortest(frozenset(key.columns) for key in self.keys if key.is_lasting and is_brief)

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """What is a key of all time tells the row at any time."""
        names = frozenset(self.columns.names)
        return [Dependency(frozenset(key.columns), names) for key in self.keys if key.is_lasting]

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        return ()


class SnapshotReducible(Logical):
    """A relational operator on its inputs' snapshots, at every instant (thesis, Definition 10.2)."""

    __slots__ = ()

    is_snapshot_reducible = True
    sees_one_instant = True

    @property
    @abstractmethod
    def formulas(self) -> str:
        """The name of its output's formulas in the cost model."""

    @abstractmethod
    def meaning(self, inputs: Schemas) -> Callable[..., Snapshot]:
        """The relational operator on multisets: a function of its inputs' snapshots at an instant."""

    def granule_above(self, below: int) -> int:
        """The output changes only where an input does."""
        return below

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """A snapshot has no order."""
        return False


class Choosing(SnapshotReducible):
    """What gives rows of its first input: at no instant one more often than that has it."""

    __slots__ = ()

    def schema(self, inputs: Schemas) -> Schema:
        return inputs[0]

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return inputs[0]

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].keys

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].lasting_keys

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return inputs[0].dependencies

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """What is chosen may lack any row."""
        return ()

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """A row is given in no longer pieces than it came in."""
        return inputs[0]


class RowByRow(SnapshotReducible):
    """What does with each row the same, whatever the others, and keeps its validity."""

    __slots__ = ()

    arity = 1
    is_start_preserving = True
    is_stateless = True
    valid_with = "every input"

    @abstractmethod
    def of_row(self, schema: Schema) -> Callable[[Payload], Sequence[Payload]]:
        """What it makes of a row of the input: at most one row."""

    def meaning(self, inputs: Schemas) -> Callable[[Snapshot], Snapshot]:
        of_row = self.of_row(inputs[0])

        def apply(part: Snapshot) -> Snapshot:
            result: Snapshot = Counter()
            for e, n in part.items():
                for made in of_row(e):
                    result[made] += n
            return result

        return apply

    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        return inputs[0]

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        return inputs[0]


class History(NamedTuple):
    """What an operator over time may look at: its input, from the beginning of time on."""

    beginning: int
    at: Callable[[int], Snapshot]
    """The snapshot at an instant; before the beginning there is nothing."""
    rows: Callable[[], Sequence[Row]]
    """Its timestamped rows, in the order in which they arrived where that is known."""
    schema: Schema


class OverTime(Logical):
    """What sees more of its input than what is valid at one instant.

    It stands below the part of a plan that a migration may exchange (thesis, 10.4.1).
    """

    __slots__ = ()

    arity = 1
    is_snapshot_reducible = False
    is_start_preserving = True  # to those above it, what it gives starts where it says
    valid_with = "every input"
    expressions = ()

    def schema(self, inputs: Schemas) -> Schema:
        """Rows come and go; each is as it was."""
        return inputs[0]

    @property
    @abstractmethod
    def formulas(self) -> str:
        """The name of its output's formulas in the cost model."""

    @abstractmethod
    def snapshot(self, history: History, instant: int) -> Snapshot:
        """Its snapshot at an instant, by its definition."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """By how many chronons later than its input's its last change can be, if rows ever go."""

    @abstractmethod
    def remembers_until(self, end: Time) -> Time:
        """Until when its output may depend on rows that end at that instant; neither end is reached.
        `end` is finite."""

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """Rows come and go at other instants."""
        return False

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        """What is below is a source to those who ask."""
        return ()

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return inputs[0].dependencies

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """Each row comes and goes whatever its values are."""
        return [needed]


def unchanged(names: Iterable[str]) -> Names:
    """Columns that have the same name on both sides."""
    return {name: name for name in names}


class Parameterless:
    """The JSON form of an operator that its name tells all of."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The only one."""
        return cls()
