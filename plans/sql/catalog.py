"""A catalog: the declarations and queries of scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from sqlglot import exp

from midstream.plans.algebra.operators import Relation, Source, Ties
from midstream.plans.algebra.operators.declarations import Reference
from midstream.plans.algebra.plan import Node, Plan
from midstream.plans.expressions.aggregates import UserAggregate
from midstream.plans.expressions.expressions import CONSTANT_TYPES, checked, named
from midstream.plans.sql.constraints import Constraints, is_in_key, primary_key
from midstream.plans.sql.declarations import (
    UNKNOWN_SCALE,
    ColumnDeclaration,
    Constant,
    Files,
    RelationDeclaration,
    SourceClause,
    StreamDeclaration,
)
from midstream.plans.sql.faults import Script, Span, span
from midstream.plans.sql.nodes import text_of
from midstream.plans.sql.notes import Decimals, limits_of_decimals, of_all_rows, windowless
from midstream.plans.sql.place import Place
from midstream.plans.sql.scalars import RANGES, TIMES, TYPES, UserFunction
from midstream.plans.sql.scope import Scope
from midstream.plans.sql.source_options import checked_options
from midstream.plans.sql.syntax import (
    AGGREGATES,
    ESTIMATES,
    FILE,
    KNOWN_TYPES,
    TOO_DEEP,
    ColumnClause,
    CreateStatement,
    DeriveStatement,
    DropStatement,
    FileWords,
    KeyClause,
    QueryStatement,
    SetStatement,
    SourceWords,
    Statement,
    parse,
)
from midstream.plans.sql.translation import Named, Rows, Translator
from midstream.plans.sql.unbounded import refuse_unbounded
from midstream.plans.sql.windowing import Windows
from midstream.plans.values.arguments import require, require_callable, require_name
from midstream.plans.values.errors import PlanError
from midstream.plans.values.near_names import NearNames
from midstream.plans.values.schema import Schema, Type, parse_column
from midstream.plans.values.streams import FOREVER
from midstream.plans.values.units import MICROSECONDS, MILLISECONDS, TimeUnit, WatchedUnit


@dataclass(frozen=True)
class Query(NearNames):
    """A query of a script.

    `places` are the windows of the plan with their places in the script, and `notes` facts that its author
    should know.
    """

    name: str
    plan: Plan
    script: Script
    text: str
    places: Mapping[Node, Span] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


_Declaration = TypeVar("_Declaration", StreamDeclaration, RelationDeclaration)


@dataclass(frozen=True)
class _Derived:
    """A stream that a query defines.

    `reads` are the names that the query reads, `names` the names that it gives its columns, and `times` the
    kinds of columns that hold dates, timestamps or intervals.
    """

    name: str
    node: Node
    reads: frozenset[str]
    script: Script = field(default_factory=lambda: Script(""))
    places: Mapping[Node, Span] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    times: tuple[str | None, ...] | None = None


class Catalog(NearNames):
    """Streams, relations, functions and aggregates by name; names do not depend on case.

    unit    the unit of integers and bare numbers in scripts; None if only SET time_unit, or TIME_UNIT of a
            stream, declares it
    checks  if plans refuse integers without a declared unit; callers that feed streams may check this
            themselves, as the command line does
    ties    if count windows take rows with equal timestamps in order of arrival, or refuse them
    files   declares the files that queries name in FROM; without it they are refused

    >>> catalog = Catalog()
    >>> (query,) = catalog.execute('''
    ...     CREATE STREAM Bid(item INT, price REAL, at TIMESTAMP) ORDERED BY at;
    ...     SELECT item, MAX(price) AS top FROM Bid WINDOW(RANGE 5 SECONDS) GROUP BY item
    ... ''')
    >>> print(query.plan)
    project item, max(price) as top
    └─ aggregate max(price) as max(price) by item
       └─ window 5000
          └─ source Bid
    """

    def __init__(
        self,
        unit: str | TimeUnit | None = MILLISECONDS,
        ties: Ties = "error",
        *,
        checks: bool = False,
        files: Files | None = None,
    ) -> None:
        self.declared_unit = TimeUnit.of(unit) if isinstance(unit, str) else unit
        """The default unit of integers and bare numbers; None if no unit is declared."""
        self._chronon = self.declared_unit
        self._checks = checks
        self.files = files
        """Declares the files that queries name in FROM; None refuses them."""
        self._file_names: dict[tuple[Any, ...], str] = {}
        self._counts_time = False
        """True if a query has an interval, an instant, a time window, or a reference within some time."""
        self._ties: Ties = ties
        self._is_unbounded_allowed = False
        self._streams: dict[str, StreamDeclaration] = {}
        self._relations: dict[str, RelationDeclaration] = {}
        self._derived: dict[str, _Derived] = {}
        self._functions: dict[str, UserFunction] = {}
        self._aggregates: dict[str, UserAggregate] = {}
        self._asked = 0
        self._meant_now: set[Node] = set()
        self._of_all_rows: set[Node] = set()
        self._reading: dict[str, frozenset[str]] = {}

    @property
    def unit(self) -> TimeUnit:
        """The unit of a chronon: the finest unit that is declared for the catalog or one of its streams.

        Without a declared unit, timestamps count microseconds.
        """
        return self._chronon or MICROSECONDS

    @property
    def number_unit(self) -> TimeUnit | None:
        """The unit of a bare number outside of scripts; None if it is undeclared, or if streams differ."""
        return self.declared_unit or _only_unit(self._streams.values())

    @property
    def streams(self) -> Mapping[str, StreamDeclaration]:
        """The declared streams by name."""
        return MappingProxyType({one.name: one for one in self._streams.values()})

    @property
    def relations(self) -> Mapping[str, RelationDeclaration]:
        """The declared relations by name."""
        return MappingProxyType({one.name: one for one in self._relations.values()})

    @property
    def derived(self) -> Mapping[str, Plan]:
        """The plans of the streams that queries define, by name."""
        return MappingProxyType({one.name: Plan(one.node) for one in self._derived.values()})

    def add_function(
        self,
        name: str,
        function: Callable[..., Any],
        type: str | Type = Type.ANY,
        *,
        strict: bool = True,
        total: bool = False,
    ) -> None:
        """Define a Python function for SQL; `type` is the type of its result, "float?" if it may be unknown.

        The result must depend on the arguments alone. With `strict`, an unknown argument gives unknown
        without a call. The function hides a built-in one of its name. Errors that it raises, and results of
        another type, become FunctionErrors of the run.

        A function that may raise is not called for rows that the query filters out, which limits the
        optimizer. Set `total` if the function never raises and always returns a value of its type.

        Raises PlanError where a built-in aggregate has the name.
        """
        require_name("add_function", name, "the name of a function")
        require_callable(f"function {name}", function, "a function")
        self._require_free(name)
        declared = parse_column("result", type)
        for word, value in (("strict", strict), ("total", total)):
            require(f"function {name}: {word}", value, bool, "True or False")
        self._functions[name.lower()] = UserFunction(
            name, function, declared.type, declared.nullable, strict, total
        )

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Define an aggregate function for SQL, under its own name.

        Errors that its functions raise, and results of another type, become MidstreamErrors of the run.

        Raises PlanError where a built-in aggregate has the name.
        """
        require("add_aggregate", aggregate, UserAggregate, "a result of ms.user_aggregate")
        self._require_free(aggregate.name)
        name, inverse = aggregate.name, aggregate.inverse
        self._aggregates[name.lower()] = replace(
            aggregate,
            initialise=named(name, aggregate.initialise),
            merge=named(name, aggregate.merge),
            evaluate=checked(name, aggregate.evaluate, aggregate.type, aggregate.nullable),
            inverse=None if inverse is None else named(name, inverse),
        )

    def add_stream(self, name: str, schema: Schema, *, intervals: bool = False) -> None:
        """Declare a stream whose elements the program provides; with `intervals`, they carry their own."""
        require_name("add_stream", name, "the name of a stream")
        require(f"stream {name}", schema, Schema, "a schema")
        self._require_new(Script(""), name, None)
        if intervals:
            self._derived[name.lower()] = _Derived(name, Node(Source(name, schema, True)), frozenset())
        else:
            columns = tuple(ColumnDeclaration(c.name, c.type, c.nullable) for c in schema)
            self._streams[name.lower()] = StreamDeclaration(name, columns)

    def execute(self, text: str, name: str = "SQL") -> list[Query]:
        """Execute the statements of a script; returns its queries, in order.

        Raises SqlError, with line, column and a caret; earlier statements have then been executed.
        """
        require("script", text, str, "the text of a script")
        script = Script(text, name)
        queries: list[Query] = []
        statements = parse(script)
        for position, statement in enumerate(statements):
            if isinstance(statement, QueryStatement | DeriveStatement):
                # Chronons are as short as the finest unit that is declared before the first query.
                self._declare_files(script, statements[position:])
            try:
                if (query := self._execute(script, statement)) is not None:
                    queries.append(query)
            except RecursionError:
                raise script.fault(TOO_DEEP, statement.at) from None
        return queries

    def query(self, text: str, name: str = "SQL") -> Query:
        """The only query of a script."""
        queries = self.execute(text, name)
        if len(queries) != 1:
            raise Script(text, name).fault(f"found {len(queries)} queries, expected one", None)
        return queries[0]

    def stop(self, query: str) -> None:
        """Record that a query has stopped: streams that only it reads may then be dropped."""
        self._reading.pop(query, None)

    def _execute(self, script: Script, statement: Statement) -> Query | None:
        match statement:
            case CreateStatement():
                self._create(script, statement)
            case DeriveStatement(name, tree, at):
                self._require_new(script, name, at)
                rows, places = self._translated(script, tree)
                self._derived[name.lower()] = _Derived(
                    name, rows.node, self._reads(tree), script, places, rows.names, rows.times
                )
            case DropStatement():
                self._drop(script, statement)
            case SetStatement():
                self._set(script, statement)
            case QueryStatement(tree, text, _):
                rows, places = self._translated(script, tree)
                plan = Plan(rows.node)
                if not self._is_unbounded_allowed:
                    refuse_unbounded(plan, script, places)
                self._asked += 1
                notes = (
                    *windowless(plan, self._meant_now),
                    *of_all_rows(plan, self._of_all_rows),
                    *limits_of_decimals(plan, self._decimals()),
                )
                query = Query(f"query_{self._asked}", plan, script, text, places, notes)
                self._reading[query.name] = self._reads(tree)
                return query
        return None

    def _declare_files(self, script: Script, statements: Iterable[Statement]) -> None:
        """Declare the files that some queries name, and put the names of their streams in place."""
        for statement in statements:
            if not isinstance(statement, QueryStatement | DeriveStatement):
                continue
            for table in statement.query.find_all(exp.Table):
                words = table.meta.get(FILE)
                if isinstance(words, FileWords):
                    table.this.set("this", self._file_stream(script, words))

    def _file_stream(self, script: Script, words: FileWords) -> str:
        """The name of the stream of a file, which is declared when it is first named."""
        options = tuple((option.name, option.value) for option in words.options)
        key = (words.path, words.function, options)
        if (name := self._file_names.get(key)) is not None and name.lower() in self._streams:
            return name
        if self.files is None:
            raise script.fault(
                f"found the file {words.path} in FROM, expected a declared stream: write CREATE STREAM with "
                "SOURCE",
                words.at,
            )
        taken = {*self._streams, *self._relations, *self._derived}
        with script.at(lambda: words.at):
            stream = self.files.declared(words.path, words.function, options, taken)
        if stream.unit is None:
            stream = replace(stream, unit=self.declared_unit)
        self._require_unit(script, stream.unit or MICROSECONDS, words.at)
        self._require_columns(script, stream.schema, words.at)
        self._streams[stream.name.lower()] = stream
        self._file_names[key] = stream.name
        return stream.name

    def _translated(self, script: Script, tree: exp.Expr) -> tuple[Rows, dict[Node, Span]]:
        places: dict[Node, Span] = {}
        self._chronon = self.unit  # from now on: plans count in it
        unit = WatchedUnit(self.unit)
        windows = Windows(script, unit, self._unit_of, self._ties, places, self._meant_now)
        usual = Place(_NOWHERE, unit, self._functions, self._aggregates)
        with script.at(lambda: span(tree)):
            rows = Translator(script, windows, self._named(), usual, self._of_all_rows).statement(tree)
        if (unit.is_used or _has_timed_reference(rows.node)) and not self._counts_time:
            self._counts_time = True
            if self._checks:
                node, places = self._assuming(rows.node, places)
                rows = replace(rows, node=node)
        for derived in self._derived.values():
            if derived.script is script:
                places = {**derived.places, **places}
        return rows, {below: places[below] for below in rows.node.walk() if below in places}

    def _assuming(self, node: Node, places: dict[Node, Span]) -> tuple[Node, dict[Node, Span]]:
        """A node, rebuilt with an assumed unit of integers, like the streams that queries define."""
        plan = Plan({"": node, **{key: one.node for key, one in self._derived.items()}})
        assumed: dict[Node, Node] = {}
        for below in plan.nodes:
            again = Node(self._assumed(below.operator), tuple(assumed[child] for child in below.inputs))
            assumed[below] = again
        for noted in (self._meant_now, self._of_all_rows):
            noted.update(assumed[one] for one in set(noted) if one in assumed)
        for key, one in self._derived.items():
            known = {assumed[at]: span for at, span in one.places.items()}
            self._derived[key] = replace(one, node=assumed[one.node], places=known)
        return assumed[node], {assumed[at]: span for at, span in places.items() if at in assumed}

    def _assumed(self, operator: Any) -> Any:
        if isinstance(operator, Source):
            declared = self._streams.get(operator.stream.lower())
            return operator if declared is None else self._counted(declared, operator)
        return operator

    def _counted(self, stream: StreamDeclaration, source: Source) -> Source:
        """The source of a stream with its declared unit, or with an assumed unit.

        A unit is assumed if none is declared and queries count time. Plans that count no time may have any
        unit, except of streams whose elements are known: these are read in chronons of the catalog's unit.
        """
        is_declared = stream.unit is not None or self.declared_unit is not None
        is_counted = is_declared or self._counts_time or not self._checks or source.elements is not None
        if stream.ordered_by is None or not is_counted:
            return source
        return replace(source, unit=self.unit.name, is_assumed=self._checks and not is_declared)

    def _unit_of(self, node: Node) -> TimeUnit | None:
        """The unit of a bare number in a window over a node; None if undeclared, or if streams differ."""
        if self.declared_unit is not None:
            return self.declared_unit
        streams = (self._streams.get(source.stream.lower()) for source in Plan(node).sources)
        return _only_unit(one for one in streams if one is not None)

    def _require_unit(self, script: Script, unit: TimeUnit, at: Span) -> None:
        """Make chronons as short as a unit."""
        if self._chronon is None or unit.nanoseconds < self._chronon.nanoseconds:
            if self._derived or self._asked:
                raise script.fault(
                    f"found time in {unit.name}, finer than the {self.unit.name} that the queries before "
                    "are counted in; declare all streams before the first query",
                    at,
                )
            self._chronon = unit

    def _named(self) -> dict[str, Named]:
        names = {
            key: Named(Node(self._source(one)), name=one.name, time=one.ordered_by, times=_times(one))
            for key, one in self._streams.items()
        }
        for key, one in self._relations.items():
            relation = Relation(one.name, one.schema, one.valid_from is None, one.keys, self._references(one))
            names[key] = Named(Node(relation), True, one.name, times=_times(one))
        derived = {
            key: Named(one.node, name=one.name, names=one.names, times=one.times)
            for key, one in self._derived.items()
        }
        return names | derived

    def _source(self, stream: StreamDeclaration) -> Source:
        references = self._references(stream)
        source = Source(
            stream.name,
            stream.schema,
            stream.has_intervals,
            stream.keys,
            references,
            elements=None if self.files is None else self.files.elements(stream, self.unit),
            ordered_by=stream.time_column,
        )
        return self._counted(stream, source)

    def _declared(self) -> dict[str, StreamDeclaration | RelationDeclaration]:
        return {**self._streams, **self._relations}

    def _decimals(self) -> Decimals:
        """The columns of streams and relations that hold decimals."""
        return {
            declared.name: {one.name: one.decimals for one in declared.columns if one.decimals is not None}
            for declared in self._declared().values()
        }

    def _references(self, declared: StreamDeclaration | RelationDeclaration) -> tuple[Reference, ...]:
        return tuple(reference.counted_in(self.unit) for reference in declared.references)

    def _reads(self, tree: exp.Expr) -> frozenset[str]:
        # A name in a query need not be a stream: a column or alias may have the same name.
        names = {
            identifier.name.lower()
            for table in tree.find_all(exp.Table)
            for identifier in table.this.find_all(exp.Identifier)
        }
        return frozenset(names & {*self._streams, *self._relations, *self._derived})

    def _require_free(self, name: str) -> None:
        if name.lower() in (*AGGREGATES, *ESTIMATES):
            raise PlanError(f"{name} is a built-in aggregate; give yours another name")

    def _require_new(self, script: Script, name: str, at: Span | None) -> None:
        if name.lower() in (*self._streams, *self._relations, *self._derived):
            raise script.fault(f"there is a stream or relation {name} already; drop it first", at)

    def _create(self, script: Script, statement: CreateStatement) -> None:
        self._require_new(script, statement.name, statement.at)
        primary = primary_key(script, statement)
        columns = tuple(
            replace(column, nullable=False) if is_in_key(clause, primary) else column
            for clause in statement.columns
            for column in (self._column(script, clause),)
        )
        seen: set[str] = set()
        for clause in statement.columns:
            if clause.name.lower() in seen:
                raise script.fault(f"column {clause.name} occurs twice", clause.at)
            seen.add(clause.name.lower())
        source = None if statement.source is None else _source(script, statement.source)
        if statement.is_relation and source is not None and source.options:
            found = f"found {source.options[0][0]} in a relation, expected it in streams"
            raise script.fault(
                f"{found}: relations are read from CSV with commas, where nothing and NA are NULL",
                statement.at,
            )
        unit = self.declared_unit
        if statement.unit is not None:
            unit = self._time_unit(script, *statement.unit)
        if not statement.is_relation or any(column.is_timestamp for column in columns):
            self._require_unit(script, unit or MICROSECONDS, statement.at)
        key = statement.name.lower()
        if statement.is_relation:
            period = statement.period
            start, stop = (
                None if end is None else self._timestamp(script, columns, *end)
                for end in period or (None, None)
            )
            if period is not None and start == stop:
                raise script.fault(f"found the column {start} at both ends, expected two", period[1][1])
            relation = RelationDeclaration(statement.name, columns, start, stop, source, unit)
            self._require_columns(script, relation.schema, statement.at)
            self._relations[key] = self._constrained(script, statement, relation, primary)
        else:
            order = None if statement.order is None else self._timestamp(script, columns, *statement.order)
            where = self._conditions(script, statement, columns)
            stream = StreamDeclaration(statement.name, columns, order, source, unit, where=where)
            self._require_columns(script, stream.schema, statement.at)
            self._streams[key] = self._constrained(script, statement, stream, primary)

    def _constrained(
        self, script: Script, statement: CreateStatement, declared: _Declaration, primary: KeyClause | None
    ) -> _Declaration:
        """A stream or relation with its keys and references."""
        constraints = Constraints(script, declared.name, declared.schema, declared.unit or self.declared_unit)
        keys = tuple(constraints.key(clause) for clause in statement.keys)
        return replace(
            declared,
            keys=keys,
            primary_key=None if primary is None else keys[statement.keys.index(primary)].columns,
            references=tuple(
                constraints.reference(one, self._declared(), primary) for one in statement.references
            ),
        )

    def _conditions(
        self, script: Script, statement: CreateStatement, columns: Sequence[ColumnDeclaration]
    ) -> tuple[tuple[str, Constant], ...]:
        """The conditions by which a row of the source belongs to the stream."""
        declared = {column.name.lower(): column for column in columns}
        found: dict[str, tuple[str, Constant]] = {}
        for name, value, at in statement.where:
            if statement.source is None:
                raise script.fault("found WHERE without SOURCE, whose rows it is about", at)
            if name.lower() in found:
                raise script.fault(f"column {name} occurs twice in WHERE", at)
            column, type_ = declared.get(name.lower()), CONSTANT_TYPES[type(value)]
            if column is not None and (column.is_timestamp or column.type not in (type_, Type.ANY)):
                expected = column.time or column.type.value
                raise script.fault(
                    f"column {name}: found a constant of type {type_.value}, expected {expected}"
                    if column.time is None
                    else f"column {name}: found a condition on a {expected}, expected one on other columns",
                    at,
                )
            found[name.lower()] = (name if column is None else column.name, value)
        return tuple(found.values())

    def _time_unit(self, script: Script, word: str, at: Span) -> TimeUnit:
        try:
            return TimeUnit.of(word)
        except ValueError as error:
            raise script.fault(str(error), at) from None

    def _require_columns(self, script: Script, schema: Schema, at: Span) -> None:
        if not len(schema):
            raise script.fault("found no columns besides timestamps, expected one at least", at)

    def _column(self, script: Script, clause: ColumnClause) -> ColumnDeclaration:
        kind = clause.type.this
        at = span(clause.type) or clause.at
        if clause.type.expressions or kind in RANGES or kind is exp.DType.CHAR:
            shown = text_of(clause.type)
            instead = (
                "TIME_UNIT says how fine time is counted"
                if kind in TIMES
                else "write TEXT"
                if kind is exp.DType.CHAR
                else f"write CAST({clause.name} AS {shown}) in a query"
            )
            raise script.fault(
                f"column {clause.name}: found {shown}, expected a type without a size, as rows stay as "
                f"they come in; {instead}",
                at,
            )
        if kind in TIMES:
            is_date = kind is exp.DType.DATE
            return ColumnDeclaration(clause.name, Type.INTEGER, clause.nullable, True, is_date)
        if kind not in TYPES:
            raise script.fault(
                f"column {clause.name}: found type {clause.type.sql()}, expected {KNOWN_TYPES}",
                at,
            )
        decimals = UNKNOWN_SCALE if kind is exp.DType.DECIMAL else None
        return ColumnDeclaration(clause.name, TYPES[kind], clause.nullable, decimals=decimals)

    def _timestamp(self, script: Script, columns: tuple[ColumnDeclaration, ...], name: str, at: Span) -> str:
        for column in columns:
            if column.name.lower() == name.lower():
                if column.type is not Type.INTEGER:
                    raise script.fault(
                        f"column {name} is {column.type.value}, expected a timestamp or an integer", at
                    )
                return column.name
        raise script.unknown("column", name, [column.name for column in columns], at)

    def _drop(self, script: Script, statement: DropStatement) -> None:
        key, name = statement.name.lower(), statement.name
        kind = "relation" if statement.is_relation else "stream"
        tables: tuple[dict[str, Any], ...] = (
            (self._relations,) if statement.is_relation else (self._streams, self._derived)
        )
        table = next((table for table in tables if key in table), None)
        if table is None:
            known = [one.name for table in tables for one in table.values()]
            raise script.unknown(kind, name, known, statement.at)
        users = [one.name for one in self._derived.values() if key in one.reads]
        users += [
            one.name
            for one in self._declared().values()
            if key in {reference.to.lower() for reference in one.references} - {one.name.lower()}
        ]
        users += [query for query, reads in self._reading.items() if key in reads]
        if users:
            raise script.fault(f"{kind} {name} is still read by {', '.join(users)}", statement.at)
        del table[key]

    def _set(self, script: Script, statement: SetStatement) -> None:
        name, value = statement.name, statement.value
        match name:
            case "time_unit":
                if self._streams or self._relations or self._derived:
                    raise script.fault("the time unit must be set before streams are declared", statement.at)
                self.declared_unit = self._chronon = self._time_unit(script, value, statement.at)
            case "ties":
                match value.lower():
                    case "error" | "arrival" as ties:
                        self._ties = ties
                    case _:
                        raise script.fault(f"found {value!r}, expected 'error' or 'arrival'", statement.at)
            case "unbounded_state":
                if value.lower() not in ("refuse", "allow"):
                    raise script.fault(f"found {value!r}, expected 'refuse' or 'allow'", statement.at)
                self._is_unbounded_allowed = value.lower() == "allow"
            case _:
                raise script.unknown("setting", name, SETTINGS, statement.at)


def _source(script: Script, words: SourceWords) -> SourceClause:
    options = [(option.name, option.value) for option in words.options]
    try:
        return SourceClause.of(words.kind, words.arguments, checked_options(options))
    except ValueError as error:
        fault = error
    for count, option in enumerate(words.options, 1):  # the first option that does not fit those before
        try:
            checked_options(options[:count])
        except ValueError as error:
            raise script.fault(str(error), option.at) from None
    raise script.fault(str(fault), words.options[-1].at)


def _has_timed_reference(node: Node) -> bool:
    """True if a stream below refers to rows that were valid within some time before, but not any time."""
    references = (reference for source in Plan(node).sources for reference in source.references)
    return any(0 < reference.within < FOREVER for reference in references)


def _times(declared: StreamDeclaration | RelationDeclaration) -> tuple[str | None, ...]:
    """For each column of the rows, "date" or "timestamp" if it holds these."""
    times = {column.name: column.time for column in declared.columns}
    return tuple(times[name] for name in declared.schema.names)


def _only_unit(streams: Iterable[StreamDeclaration]) -> TimeUnit | None:
    """The unit that all streams share; None if one has no unit, or another one."""
    units = {one.unit for one in streams}
    return units.pop() if len(units) == 1 else None


SETTINGS = ("time_unit", "ties", "unbounded_state")
"""The settings of SET."""

_NOWHERE = Scope(Script(""), Node(Source("none", Schema(()))), ())
"""The scope of a place before the query has a FROM."""
