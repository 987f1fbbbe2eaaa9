"""Base classes of the logical operators, with the facts that each must state.

A logical operator says what it computes, not how. It is data: its parameters, and the facts that plans,
rules, migrations, files and drawings need. Its inputs belong to the plan. A fact has no default, unless the
definition of a family implies it: an operator without one is a type error and cannot be instantiated.

    FromOutside         rows come from outside the plan; only their columns are known
      Leaf              streams and relations
    PartOfInput         outputs rows of its first input, as they are
    SnapshotReducible   applies one relational operator at every instant
      Choosing          is both
      RowByRow          processes each row by itself
    OverTime            sees more of its input than the rows of one instant
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
"""The multiset of rows that are valid at one instant."""

Row = tuple[int, Payload]
"""A payload with the instant at which it is valid."""

Schemas = tuple[Schema, ...]

Names = Mapping[str, str]
"""Names of columns on one side, by their names on the other side."""


class Logical(ABC):
    """Base class of all logical operators, each a frozen dataclass of its parameters.

    Where a fact of the output depends on the same fact of the inputs, `inputs` holds that fact of each input.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The operator's name in messages, drawings and files."""

    @property
    @abstractmethod
    def symbol(self) -> str:
        """The operator's sign in drawings, from the thesis where it has one; empty if there is none."""

    @property
    @abstractmethod
    def arity(self) -> int | None:
        """The number of inputs; None for two or more."""

    @property
    @abstractmethod
    def is_snapshot_reducible(self) -> bool:
        """True if the snapshot at t is a relational operator on the inputs' snapshots at t (Def. 10.2)."""

    @property
    @abstractmethod
    def is_start_preserving(self) -> bool:
        """True if a result starts where the latest of the elements behind it starts (erratum 13)."""

    @property
    @abstractmethod
    def is_stateless(self) -> bool:
        """True if each result comes from a single element, so that state serves the output order alone."""

    @property
    @abstractmethod
    def valid_with(self) -> Literal["some input", "first input", "every input"]:
        """The inputs that must have a valid element wherever a result is valid."""

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expression, ...]:
        """The operator's expressions, over the columns of all its inputs, concatenated."""

    @abstractmethod
    def schema(self, inputs: Schemas) -> Schema:
        """The output's columns.

        Raises   PlanError, or a schema or expression error, where the inputs do not fit.
        """

    @abstractmethod
    def granule_above(self, below: int) -> int:
        """The granule of the output, in chronons, if the inputs' timestamps are multiples of `below`.

        Raises   PlanError, with the expected granule, where the output's would be finer (thesis, 20.5).
        """

    @abstractmethod
    def gives_chronons(self, inputs: Sequence[bool]) -> bool:
        """True if every output element is valid for one chronon (thesis, Table 12.1)."""

    @abstractmethod
    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """True if the output's ends never decrease, even if it is no chronon stream (thesis, Table 12.1)."""

    @abstractmethod
    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """True if the output keeps the order in which the rows of one stream arrived."""

    @abstractmethod
    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        """Sets of input or output columns that are equal in every output row; overlapping sets are merged."""

    @abstractmethod
    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Sets of columns that no two rows of the output agree on while both are valid."""

    @abstractmethod
    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """Sets of columns that no two rows of the output agree on at any time; rows last one instant."""

    @abstractmethod
    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """The dependencies among columns of the inputs and the output, for the rows behind a result.

        They hold for rows of one instant if those of the inputs do, and for rows of all time likewise.
        Dependencies that follow from keys or equal columns may be left out.
        """

    @property
    @abstractmethod
    def sees_one_instant(self) -> bool:
        """True if output rows that are valid together come from rows valid together in each input."""

    @abstractmethod
    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """The columns of each input that the needed output columns, or the existence of rows, depend on."""

    @abstractmethod
    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """The inputs in which values of output columns occur: in one row for each output row, at its instant.

        Each input comes with the names of its columns, by those of the output.
        """

    @abstractmethod
    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """The inputs whose values of some columns all occur in the output.

        Each of their rows has one row of the output, at its instant. Each input comes with the names of
        output columns, by those of the input.
        """

    @abstractmethod
    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """The most chronons for which an output element is valid, given those of the inputs."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The parameters as JSON data, without the name; raises PlanFormatError for Python callables."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The operator of data that `to_json` returned.

        Raises   Whatever a missing or wrong parameter raises.
        """

    def __str__(self) -> str:
        return self.name


class FromOutside(Logical):
    """An operator whose rows come from outside the plan; the plan knows their columns alone."""

    __slots__ = ()

    valid_with = "some input"
    expressions = ()

    columns: Schema
    """The columns of the output."""

    def schema(self, inputs: Schemas) -> Schema:
        return self.columns

    def granule_above(self, below: int) -> int:
        return below

    def orders_ends(self, inputs: Sequence[bool]) -> bool:
        """Elements carry ends of their own."""
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
    """A named stream or relation that a plan reads."""

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
        """The declared keys."""

    @property
    @abstractmethod
    def references(self) -> tuple[Reference, ...]:
        """The declared references to other streams or relations."""

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        """All declared keys, lasting or not."""
        return shortest(frozenset(key.columns) for key in self.keys)

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        """The declared lasting keys, if each row is valid at one instant."""
        is_brief = self.longest_validity(()) == 1
        return shortest(frozenset(key.columns) for key in self.keys if key.is_lasting and is_brief)

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        """A lasting key determines its row at any time."""
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
        """The relational operator on multisets: a function of the inputs' snapshots at an instant."""

    def granule_above(self, below: int) -> int:
        """The output changes only where an input does."""
        return below

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """A snapshot has no order."""
        return False


class PartOfInput(Logical):
    """The facts of an operator whose output at each instant is a part of its first input, as it is."""

    __slots__ = ()

    def output_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].keys

    def lasting_keys(self, inputs: Sequence[Columns]) -> Sets:
        return inputs[0].lasting_keys

    def occurs_in(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        return [(0, unchanged(inputs[0].names))]

    def holds_all_of(self, inputs: Schemas) -> Sequence[tuple[int, Names]]:
        """The output may lack any row."""
        return ()

    def longest_validity(self, inputs: Sequence[Time]) -> Time:
        """A row is output in pieces that are no longer than in the input."""
        return inputs[0]


class Choosing(PartOfInput, SnapshotReducible):
    """A snapshot-reducible operator whose output at each instant is a part of its first input."""

    __slots__ = ()

    def schema(self, inputs: Schemas) -> Schema:
        return inputs[0]

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        return inputs[0]

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return inputs[0].dependencies


class RowByRow(SnapshotReducible):
    """An operator that processes each row by itself and keeps its validity."""

    __slots__ = ()

    arity = 1
    is_start_preserving = True
    is_stateless = True
    valid_with = "every input"

    @abstractmethod
    def of_row(self, schema: Schema) -> Callable[[Payload], Sequence[Payload]]:
        """The function from an input row to its results, of which there is at most one."""

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
    """The input of an operator over time, from the beginning of time on."""

    beginning: int
    at: Callable[[int], Snapshot]
    """The snapshot at an instant; it is empty before the beginning."""
    rows: Callable[[], Sequence[Row]]
    """The timestamped rows, in order of arrival where that is known."""
    schema: Schema


class OverTime(Logical):
    """An operator that sees more of its input than the rows of one instant.

    It stands below the part of a plan that a migration may replace (thesis, 10.4.1).
    """

    __slots__ = ()

    arity = 1
    is_snapshot_reducible = False
    is_start_preserving = True  # operators above it take the starts of its elements as given
    valid_with = "every input"
    expressions = ()

    def schema(self, inputs: Schemas) -> Schema:
        """Rows come and go, and do not change."""
        return inputs[0]

    @property
    @abstractmethod
    def formulas(self) -> str:
        """The name of its output's formulas in the cost model."""

    @abstractmethod
    def snapshot(self, history: History, instant: int) -> Snapshot:
        """The snapshot at an instant, by the operator's definition."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """The most chronons from the input's last change to the output's, if rows ever expire."""

    @property
    @abstractmethod
    def cell(self) -> int:
        """The least n so that the output comes to no multiple of n before the input does; 0 if there is none.

        A stream has come to an instant when no later element starts before it.
        """

    @abstractmethod
    def remembers_until(self, end: Time) -> Time:
        """The end, exclusive, of the time in which the output may depend on rows that end at `end`.

        `end` is exclusive, too, and finite.
        """

    def keeps_arrivals(self, inputs: Sequence[bool]) -> bool:
        """Rows come and go at other instants."""
        return False

    def equal_columns(self, inputs: Sequence[Sets]) -> Sets:
        """Operators above it treat it as a source."""
        return ()

    def output_dependencies(self, inputs: Sequence[Columns]) -> Dependencies:
        return inputs[0].dependencies

    def columns_read(self, needed: frozenset[str], inputs: Schemas) -> Sequence[frozenset[str]]:
        """A row comes and goes independently of its values."""
        return [needed]


def unchanged(names: Iterable[str]) -> Names:
    """Columns that keep their names."""
    return {name: name for name in names}


class Parameterless:
    """The JSON form of an operator without parameters."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """No parameters."""
        return {}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The operator, of which all instances are equal."""
        return cls()
