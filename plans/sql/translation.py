"""Translation of queries from sqlglot's trees to logical plans.

Plan generation follows the thesis: windows stand directly above their streams, and other operators are as in
any database (section 9.1); now-windows are left out (9.2); queries in conditions become semi-joins and
anti-joins (9.3). Queries over one stream keep its column names, so that plans share subplans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from midstream.plans.algebra.operators import (
    Difference,
    Distinct,
    Dstream,
    Intersection,
    Istream,
    Join,
    Logical,
    Project,
    Split,
    StrictDifference,
    Union,
)
from midstream.plans.algebra.plan import Node
from midstream.plans.algebra.properties import reads_stream
from midstream.plans.expressions.expressions import (
    TRUE,
    Binary,
    Col,
    Expression,
    conjunction,
    conjuncts,
    may_raise,
)
from midstream.plans.sql.blocks import JOINS, JoinedParts, Part, qualified
from midstream.plans.sql.combining import alike, projected
from midstream.plans.sql.faults import Script, span
from midstream.plans.sql.grouping import Grouping, aggregates_in, shallow
from midstream.plans.sql.nodes import in_words, refuse_unread, text_of, unsupported
from midstream.plans.sql.place import Place
from midstream.plans.sql.predicates import Inner, OverNothing, Predicates, has_query, may_be_true
from midstream.plans.sql.scalars import bare, common_time
from midstream.plans.sql.scope import OUTER, Item, Scope, reads_outer
from midstream.plans.sql.syntax import CHANGE_WORDS, CHANGES, COMMA, GRANULARITY, READERS, SAMPLE, WINDOW
from midstream.plans.sql.ties import inner_side, other_side, same
from midstream.plans.sql.windowing import Windows
from midstream.plans.values.errors import SqlError
from midstream.plans.values.schema import suggest, unused

CHANGE_OPERATORS: Mapping[str, Logical] = {"ISTREAM": Istream(), "DSTREAM": Dstream(), "RSTREAM": Split(1)}


@dataclass(frozen=True)
class Rows:
    """The result of a query: a node, and the names that the query gives its columns, which may repeat.

    `times` are the kinds of columns that hold dates, timestamps or intervals.
    """

    node: Node
    names: tuple[str, ...]
    times: tuple[str | None, ...]


@dataclass(frozen=True)
class Named:
    """A stream or relation that a name in FROM refers to.

    A relation refuses windows; `name`, and `time`, the column that a stream is ordered by, are for messages.
    `names` are those of the columns, if they differ from the plan's; `times` are the kinds of columns that
    hold dates, timestamps or intervals.
    """

    node: Node
    is_relation: bool = False
    name: str = ""
    time: str | None = None
    names: tuple[str, ...] | None = None
    times: tuple[str | None, ...] | None = None


@dataclass(frozen=True)
class FromWhere:
    """FROM and WHERE of a query: the place of its other clauses, and the ties to its outer query."""

    place: Place
    ties: tuple[Expression, ...]


@dataclass(frozen=True)
class Selected:
    """The SELECT list of a query at a place: values under distinct names, and the names in the query.

    `word` is ISTREAM, DSTREAM or RSTREAM if their changes are selected.
    """

    place: Place
    outputs: list[tuple[str, Expression]]
    word: str | None
    grouping: Grouping | None
    names: tuple[str, ...]
    times: tuple[str | None, ...]
    one_row: OneRow | None = None


@dataclass(frozen=True)
class OneRow:
    """A query in a condition that aggregates without GROUP BY.

    `values` are its outputs over no rows. `having` is its HAVING, over rows and over no rows, not applied
    yet.
    """

    values: tuple[Expression, ...]
    having: tuple[Expression, Expression] | None


class Translator:
    """Translates the queries of one script."""

    def __init__(
        self,
        script: Script,
        windows: Windows,
        names: Mapping[str, Named],
        usual: Place,
        of_all_rows: set[Node],
    ) -> None:
        """`of_all_rows` collects the groupings of all rows that have no result over no rows."""
        self._script = script
        self._of_all_rows = of_all_rows
        self._windows = windows
        self._names = dict(names)
        self._usual = usual
        self._predicates = Predicates(self._inner)

    def statement(self, tree: exp.Expr) -> Rows:
        """The query of a statement; raises SqlError for parts that the translation does not read."""
        refuse_unread(self._script, tree)
        return self.query(tree)

    def query(self, tree: exp.Expr, around: Scope | None = None, obstacle: str | None = None) -> Rows:
        """A query that cannot read columns of its outer query.

        `around` is the scope of the outer query, for messages, and `obstacle` the clause that is the reason.
        """
        return self._knowing(tree, around)._query(tree, around, obstacle)

    def _knowing(self, tree: exp.Expr, around: Scope | None) -> Translator:
        """A translator with the definitions of WITH."""
        translator = self
        clause: Any = tree.args.get("with_") or exp.With(expressions=[])
        defined: dict[str, exp.Expr] = {}
        for definition in clause.expressions:
            name, query = definition.alias, definition.this
            if (first := defined.setdefault(name.lower(), query)) is not query:
                raise self._script.fault(
                    f"WITH defines {name} twice, as {in_words(first)} and as {in_words(query)}; "
                    "give one of them another name",
                    span(definition.args["alias"]),
                )
            rows = translator.query(query, around, obstacle="WITH")
            new = self._renamed(rows.names, definition)
            named = Named(rows.node, name=name, names=new, times=rows.times)
            names = {**translator._names, name.lower(): named}
            translator = Translator(self._script, self._windows, names, self._usual, self._of_all_rows)
        return translator

    def _renamed(self, names: Sequence[str], tree: exp.Expr) -> tuple[str, ...]:
        """The names of columns; an alias such as w(x, y) replaces the first ones."""
        alias = tree.args.get("alias")
        new = alias.args.get("columns") or [] if isinstance(alias, exp.TableAlias) else []
        if len(new) > len(names):
            raise self._script.fault(
                f"found {len(new)} names for {len(names)} columns, expected {len(names)} at most",
                span(new[len(names)]),
            )
        renamed: dict[str, str] = {}
        for identifier in new:
            if not isinstance(identifier, exp.Identifier):
                raise self._script.fault(
                    f"found {text_of(identifier)}, expected the name of a column", span(identifier)
                )
            if identifier.name.upper() in ("NOW", "UNBOUNDED") and not identifier.args.get("quoted"):
                raise self._script.fault(
                    f"found ({identifier.name}), expected names of columns; a window is written "
                    f"WINDOW({identifier.name}), and a name in quotes",
                    span(identifier),
                )
            if identifier.name.lower() in renamed:
                raise self._script.fault(
                    f"the columns {renamed[identifier.name.lower()]} and {names[len(renamed)]} are both "
                    f"called {identifier.name}; give one of them another name",
                    span(identifier),
                )
            renamed[identifier.name.lower()] = names[len(renamed)]
        return (*(identifier.name for identifier in new), *names[len(new) :])

    def _query(self, tree: exp.Expr, around: Scope | None, obstacle: str | None) -> Rows:
        match tree:
            case exp.Subquery():
                rows = self.query(tree.this, around, obstacle)
                return replace(rows, node=self._changed(rows.node, tree.meta.get(CHANGES), tree.this))
            case exp.Select():
                return self._select(tree, around, obstacle)
            case exp.Union() | exp.Except() | exp.Intersect():
                return self._combined(tree, around, obstacle)
        raise self._unsupported(f"{in_words(tree)} as a query", tree)

    def _unsupported(self, what: str, tree: exp.Expr) -> SqlError:
        return unsupported(self._script, what, tree)

    def _changed(self, node: Node, word: str | None, tree: exp.Expr) -> Node:
        if word is None:
            return node
        if not reads_stream(node):
            raise self._script.fault(
                f"{word}: found {in_words(tree)}, which reads relations alone, whose rows are known from the "
                "beginning; for rows that arrive one by one, write CREATE STREAM … ORDERED BY …",
                span(tree),
            )
        return Node(CHANGE_OPERATORS[word], (node,))

    # SELECT

    def _select(self, tree: exp.Select, around: Scope | None, obstacle: str | None) -> Rows:
        block = self._block(tree, around, obstacle)
        selected = self._selected(tree, block.place)
        self._note_of_all_rows(tree, selected.grouping)
        node = projected(selected.place.scope.node, selected.outputs)
        if tree.args.get("distinct") is not None:
            node = Node(Distinct(), (node,))
        return Rows(self._changed(node, selected.word, tree), selected.names, selected.times)

    def _block(self, tree: exp.Select, around: Scope | None, obstacle: str | None = None) -> FromWhere:
        parts = self._parts(tree, around)
        joined = JoinedParts(self._script, around, obstacle)
        conditions: list[Expression] = []
        of_group: list[Expression] = []
        ties: list[Expression] = []
        for item in qualified(self._script, parts):
            if item.follows_comma:
                joined.begin()
                conditions, of_group = conditions + of_group, []
            on = [joined.add(item)]
            if item.on is not None:
                on.append(self._condition(replace(self._usual, scope=joined.group), item.on))
            if not item.preserved:
                _sort(on, of_group, ties)
            elif any(map(reads_outer, on)):
                raise self._unsupported("a column of the outer query, in an outer join,", item.tree)
            else:
                with self._script.at(lambda item=item: span(item.tree)):  # type: ignore[misc]
                    joined.keep(item, of_group, conjunction(on))
                of_group = []
        conditions += of_group
        place = replace(self._usual, scope=joined.scope)
        later: list[exp.Expr] = []
        where = tree.args.get("where")
        for condition in _conjuncts(where.this) if where is not None else ():
            if has_query(condition):
                later.append(condition)
                continue
            self._refuse_aggregates(place, condition, "WHERE")
            value = self._condition(place, condition)
            # A function behind a query in WHERE is called only for the rows that the query lets through.
            if later and may_raise(value) and not reads_outer(value):
                later.append(condition)
            else:
                _sort([value], conditions, ties)
        with self._script.at(lambda: span(tree if where is None else where)):
            place = place.over(joined.on(conditions))
        for condition in later:
            place = place.over(self._predicates.keep(place, condition))
        return FromWhere(place, tuple(ties))

    def _refuse_aggregates(self, place: Place, tree: exp.Expr, clause: str) -> None:
        for call in aggregates_in(tree, place):
            raise self._script.fault(
                f"an aggregate function cannot stand in {clause}; use HAVING, or a query of its own",
                span(call),
            )

    def _condition(self, place: Place, tree: exp.Expr) -> Expression:
        if has_query(tree):
            raise self._unsupported("a query in the condition of a join", tree)
        return place.reader().condition(tree)

    # FROM

    def _parts(self, tree: exp.Select, around: Scope | None) -> list[Part]:
        clause = tree.args.get("from_")
        if clause is None:
            raise self._script.fault("found no FROM, expected a stream to select from", span(tree))
        parts = [self._part(clause.this, around)]
        for join in [*(clause.this.args.get("joins") or ()), *(tree.args.get("joins") or ())]:
            word = " ".join(filter(None, (join.method, join.side, join.kind))).upper()
            on, using = join.args.get("on"), tuple(join.args.get("using") or ())
            if word not in JOINS or (word.startswith("FULL") and using):
                raise self._unsupported(f"{word} JOIN{' with USING' if using else ''}", join)
            if nested := join.this.args.get("joins"):
                raise self._script.fault(
                    "found a JOIN before the ON of another, expected ON right behind the joined stream; a "
                    "query in brackets can be joined",
                    span(nested[0]),
                )
            is_free = word == "CROSS" or COMMA in join.meta
            if not is_free and on is None and not using:
                instead = "" if JOINS[word] else "; CROSS JOIN pairs all rows"
                raise self._script.fault(f"{word} JOIN: expected ON or USING{instead}".lstrip(), span(join))
            if is_free and (on is not None or using):
                what = "ON" if using == () else "USING"
                raise self._script.fault(
                    f"CROSS JOIN: found {what}, expected none; write JOIN", span(on or using[0])
                )
            joined = self._part(join.this, around)
            parts.append(
                replace(joined, on=on, using=using, preserved=JOINS[word], follows_comma=COMMA in join.meta)
            )
        return parts

    def _part(self, tree: exp.Expr, around: Scope | None) -> Part:
        if isinstance(tree, exp.Subquery):
            rows = self.query(tree.this, around, obstacle="a query in FROM")
            at = span(tree)
            node = self._changed(rows.node, tree.meta.get(CHANGES), tree.this)
            named = Named(node, names=rows.names, times=rows.times)
            alias = tree.alias or f"query {at.start if at else 0}"
        elif isinstance(tree, exp.Table):
            named = self._table(tree)
            alias = tree.alias or named.name
        else:
            raise self._unsupported(f"{in_words(tree)} in FROM", tree)
        node = named.node
        names = self._renamed(named.names or node.schema.names, tree)
        columns: dict[str, str] = {}
        for name, column in zip(names, node.schema.names, strict=True):
            columns[unused(name, (*columns, *names) if name in columns else ())] = column
        times = {name: time for name, time in zip(columns, named.times or (), strict=False) if time}
        item = Item(alias, columns, named.name or None, named.time, names, times)
        window: Any = tree.meta.get(WINDOW)
        granularity: Any = tree.meta.get(GRANULARITY)
        sample: Any = tree.meta.get(SAMPLE)
        if named.is_relation and (window or granularity or sample):
            at = (window or granularity or sample).at
            raise self._script.fault(
                "a relation has no window and no sample, as its rows are known from the beginning; for rows "
                "that arrive one by one, write CREATE STREAM … ORDERED BY …",
                at,
            )
        if sample is not None:
            node = self._windows.draw(node, sample)
        if window is not None:
            with self._script.at(lambda: window.at):
                node = self._windows.put(node, window, Scope(self._script, node, (item,)))
        if granularity is not None:
            node = self._windows.coarsen(node, granularity)
        return Part(item, node, tree)

    def _table(self, tree: exp.Table) -> Named:
        """A stream or relation by its name in FROM, or the changes of one."""
        reference, word = tree.this, None
        if isinstance(reference, exp.Anonymous) and reference.name.upper() in CHANGE_WORDS:
            word = reference.name.upper()
            arguments = reference.expressions
            if len(arguments) != 1 or not isinstance(arguments[0], exp.Column) or arguments[0].table:
                raise self._script.fault(f"{word}: expected the name of a stream or relation", span(tree))
            reference = arguments[0].this
        if not isinstance(reference, exp.Identifier):
            near = suggest(reference.name.lower(), READERS) if isinstance(reference, exp.Anonymous) else ""
            raise self._script.fault(
                f"found {text_of(tree)}, expected the name of a stream or relation, or a file in single "
                f"quotes{near}",
                span(tree),
            )
        named = self._names.get(reference.name.lower())
        if named is None:
            if "." in reference.name:
                raise self._script.fault(
                    f"there is no stream or relation {reference.name}; a file stands in single quotes",
                    span(reference),
                )
            known = [one.name for one in self._names.values()]
            raise self._script.unknown("stream or relation", reference.name, known, span(reference))
        return replace(
            named,
            node=self._changed(named.node, word, reference),
            is_relation=named.is_relation and word is None,
            name=reference.name,
        )

    # What is selected

    def _selected(
        self, tree: exp.Select, place: Place, keys: Sequence[Expression] = (), has_one_row: bool = False
    ) -> Selected:
        """Grouping and HAVING, with the SELECT list above them.

        `keys` are additional grouping keys. With `has_one_row`, HAVING is not applied.
        """
        items, word = self._items(tree, place)
        below = place
        group, having = tree.args.get("group"), tree.args.get("having")
        trees = [item for _, item in items if isinstance(item, exp.Expr)]
        if having is not None:
            self._spell_out(having.this, items, place)
            trees.append(having.this)
        if group is None and having is not None and not any(aggregates_in(item, place) for item in trees):
            raise self._only_having(trees, having)
        grouping = None
        if group is not None or having is not None or any(aggregates_in(item, place) for item in trees):
            grouping = Grouping(place, [*self._keys(group, items, place), *keys], trees)
            place = grouping.place
            if having is not None and not has_one_row:
                place = self._having(place, having.this)
        one_row = None
        if has_one_row:
            assert grouping is not None
            one_row = self._one_row(tree, items, grouping)
        outputs: list[tuple[str, Expression]] = []
        for name, item in items:
            if isinstance(item, Expression):
                value = item if grouping is None else grouping.of_star(item, span(tree))
            else:
                place, known = self._predicates.extended(place, item)
                value = place.reader(known).value(item)
            outputs.append((unused(name, [taken for taken, _ in outputs]), value))
        if len(outputs) > MOST_COLUMNS:
            raise self._script.fault(
                f"found {len(outputs)} columns, expected {MOST_COLUMNS} at most", span(tree)
            )
        names = tuple(name for name, _ in items)
        times = tuple(_time(below, item) for _, item in items)
        return Selected(place, outputs, word, grouping, names, times, one_row)

    def _note_of_all_rows(self, tree: exp.Select, grouping: Grouping | None) -> None:
        """Note a grouping of all rows that would have a row over no rows in SQL."""
        having = tree.args.get("having")
        if grouping is None or tree.args.get("group") is not None:
            return
        if (
            having is None
            or has_query(having.this)
            or may_be_true(grouping.over_nothing().reader().condition(having.this))
        ):
            self._of_all_rows.add(grouping.place.scope.node)

    def _one_row(
        self, tree: exp.Select, items: Sequence[tuple[str, exp.Expr | Expression]], grouping: Grouping
    ) -> OneRow:
        """The result over no rows of a query that aggregates without GROUP BY."""
        having, nothing = tree.args.get("having"), grouping.over_nothing()
        trees = [item for _, item in items if isinstance(item, exp.Expr)]
        for part in [*trees, *([] if having is None else [having.this])]:
            if has_query(part):
                raise self._unsupported("a query within a query of one row", part)
        values = [
            grouping.of_star(item, span(tree))
            if isinstance(item, Expression)
            else nothing.reader().value(item)
            for _, item in items
        ]
        if having is None:
            return OneRow(tuple(values), None)
        of_rows, over_nothing = (place.reader().condition(having.this) for place in (grouping.place, nothing))
        if reads_outer(of_rows):
            raise self._unsupported("a column of the outer query in HAVING", having)
        return OneRow(tuple(values), (of_rows, over_nothing))

    def _only_having(self, trees: Sequence[exp.Expr], having: exp.Expr) -> SqlError:
        """The error for HAVING without groups."""
        parts = (part for tree in trees for part in shallow(tree))
        if (column := next((part for part in parts if isinstance(part, exp.Column)), None)) is not None:
            return self._script.fault(
                f"column {column.sql()} is neither grouped by nor in an aggregate function; a condition on "
                "rows stands in WHERE, not in HAVING",
                span(column),
            )
        return self._script.fault(
            "HAVING without GROUP BY and without an aggregate function is not supported; write WHERE",
            span(having),
        )

    def _having(self, place: Place, tree: exp.Expr) -> Place:
        for condition in _conjuncts(tree):
            place = place.over(self._predicates.keep(place, condition))
        return place

    def _value(self, place: Place, tree: exp.Expr) -> Expression:
        if has_query(tree):
            raise self._unsupported("a query in a grouping expression", tree)
        return place.reader().value(tree)

    def _items(
        self, tree: exp.Select, place: Place
    ) -> tuple[list[tuple[str, exp.Expr | Expression]], str | None]:
        """The SELECT list with stars expanded, as pairs of name and item, and the word for its changes.

        The word is ISTREAM, DSTREAM or RSTREAM, or None.
        """
        word = None
        selected = list(tree.expressions)
        if len(selected) == 1 and isinstance(selected[0], exp.Anonymous):
            call = selected[0]
            if call.name.upper() in CHANGE_WORDS and call.name.lower() not in place.functions:
                word, selected = call.name.upper(), list(call.expressions)
        if len(selected) == 1 and isinstance(bare(selected[0]), exp.Tuple):
            selected = list(bare(selected[0]).expressions)
        items: list[tuple[str, exp.Expr | Expression]] = []
        for item in selected:
            if isinstance(item, exp.Star) or (
                isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
            ):
                items += self._star(item, place.scope)
            elif isinstance(item, exp.Alias):
                if not item.alias:
                    raise self._script.fault(
                        "found an empty name, expected one of a letter or more", span(item)
                    )
                items.append((item.alias, item.this))
            elif isinstance(item, exp.Aliases):
                raise self._unsupported("several aliases", item)
            else:
                items.append((_name(item), item))
        if not items:
            raise self._script.fault("found nothing to select", span(tree))
        return items, word

    def _star(self, tree: exp.Expr, scope: Scope) -> Iterator[tuple[str, Expression]]:
        items: Sequence[Item] = scope.items
        if isinstance(tree, exp.Column):
            chosen = scope.item(tree.table)
            items = [] if chosen is None else [chosen]
            if not items:
                raise self._script.unknown(
                    "stream", tree.table, [item.alias for item in scope.items], span(tree)
                )
        merged = {} if isinstance(tree, exp.Column) else scope.merged
        seen: set[str] = set()
        for item in items:
            for name, column in item.columns.items():
                shown = merged.get(column, column)
                if shown not in seen:
                    yield name, Col(shown)
                seen.add(shown)

    def _keys(
        self,
        group: exp.Group | None,
        items: Sequence[tuple[str, exp.Expr | Expression]],
        place: Place,
    ) -> Iterator[Expression]:
        if group is None:
            return
        for tree in group.expressions:
            item: exp.Expr | Expression = tree
            if isinstance(tree, exp.Literal) and not tree.is_string:
                number = int(tree.name) if tree.name.isdigit() else 0
                if not 0 < number <= len(items):
                    raise self._script.fault(
                        f"GROUP BY {tree.name}: expected a number from 1 to {len(items)}", span(tree)
                    )
                item = items[number - 1][1]
            elif isinstance(tree, exp.Column) and not tree.table and place.scope.find(tree) is None:
                item = self._aliased(tree, items) or item
            if isinstance(item, exp.Expr):
                self._refuse_aggregates(place, item, "GROUP BY")
                item = self._value(place, item)
            if reads_outer(item):
                raise self._unsupported("grouping by a column of the outer query", tree)
            yield item

    def _aliased(
        self, column: exp.Column, items: Sequence[tuple[str, exp.Expr | Expression]]
    ) -> exp.Expr | Expression | None:
        """The selected item with a name; raises SqlError if several different items have it."""
        named = [item for name, item in items if name.lower() == column.name.lower()]
        if other := next((item for item in named if item != named[0]), None):
            one, two = (str(i) if isinstance(i, Expression) else in_words(i) for i in (named[0], other))
            raise self._script.fault(
                f"{column.name} is ambiguous: both {one} and {two} have this name; "
                "give one of them another name",
                span(column),
            )
        return named[0] if named else None

    def _spell_out(
        self, tree: exp.Expr, items: Sequence[tuple[str, exp.Expr | Expression]], place: Place
    ) -> None:
        """Replace names of selected items by the items, unless they are columns."""
        for part in list(shallow(tree)):
            if not isinstance(part, exp.Column) or part.table or place.scope.find(part) is not None:
                continue
            item = self._aliased(part, items)
            if not isinstance(item, exp.Expr):
                continue
            if (outer := place.scope.outer) is not None and outer.knows(part):
                raise self._script.fault(
                    f"{part.name} is ambiguous: {in_words(item)} and a column of the outer query have this "
                    "name; give one of them another name",
                    span(part),
                )
            part.replace(exp.Paren(this=item.copy()))

    # UNION, EXCEPT, INTERSECT

    def _combined(self, tree: exp.SetOperation, around: Scope | None, obstacle: str | None) -> Rows:
        mine, other = (self.query(side, around, obstacle) for side in (tree.this, tree.expression))
        with self._script.at(lambda: span(tree)):
            left, right = alike(mine.node, other.node)
            is_distinct = bool(tree.args.get("distinct"))
            match tree:
                case exp.Union():
                    node = Node(Union(), (left, right))
                case exp.Except():
                    node = Node(StrictDifference() if is_distinct else Difference(), (left, right))
                case _:
                    node = Node(Intersection(), (left, right))
            times = tuple(map(common_time, mine.times, other.times))
            return replace(mine, node=Node(Distinct(), (node,)) if is_distinct else node, times=times)

    # Queries in conditions

    def _inner(self, tree: exp.Expr, place: Place, has_one_row: bool) -> Inner:
        knowing = self._knowing(_query_of(tree), place.scope)
        return knowing._inner_query(_query_of(tree), place, has_one_row)

    def _inner_query(self, tree: exp.Expr, place: Place, has_one_row: bool) -> Inner:
        if not isinstance(tree, exp.Select) or self._items_change(tree):
            if has_one_row:
                raise self._many_rows(tree)
            node = self._query(tree, place.scope, _obstacle(tree)).node
            return Inner(node, tuple(Col(name) for name in node.schema.names), ())
        block = self._block(tree, place.scope)
        group, having = tree.args.get("group"), tree.args.get("having")
        items, _ = self._items(tree, block.place)
        trees = [item for _, item in items if isinstance(item, exp.Expr)]
        if having is not None:
            trees.append(having.this)
        is_aggregate = any(aggregates_in(item, block.place) for item in trees)
        if has_one_row and (group is not None or not is_aggregate):
            raise self._many_rows(tree)
        if group is None and not is_aggregate:
            selected, ties = self._selected(tree, block.place), block.ties
        else:
            selected, ties = self._tied_groups(tree, block, place, has_one_row=group is None)
        values = [value for _, value in selected.outputs]
        if any(map(reads_outer, values)):
            raise self._unsupported("to select a column of the outer query", tree)
        node, one_row = selected.place.scope.node, selected.one_row
        if one_row is None:
            return replace(_with_columns(node, values, ties), times=selected.times)
        if one_row.having is None:
            return replace(
                _with_columns(node, values, ties),
                over_nothing=OverNothing(one_row.values, None, TRUE),
                times=selected.times,
            )
        of_rows, over_nothing = one_row.having
        inner = _with_columns(node, [*values, of_rows], ties)
        *outputs, has_row = inner.outputs
        return Inner(
            inner.node,
            tuple(outputs),
            inner.ties,
            OverNothing(one_row.values, has_row, over_nothing),
            selected.times,
        )

    def _items_change(self, tree: exp.Select) -> bool:
        first = tree.expressions[0] if tree.expressions else None
        return isinstance(first, exp.Anonymous) and first.name.upper() in CHANGE_WORDS

    def _many_rows(self, tree: exp.Expr) -> SqlError:
        return self._script.fault(
            "a query in a comparison must have one row at most: select an aggregate function, without "
            "GROUP BY; or compare with ANY or ALL of its rows",
            span(tree),
        )

    def _tied_groups(
        self, tree: exp.Select, block: FromWhere, around: Place, has_one_row: bool
    ) -> tuple[Selected, tuple[Expression, ...]]:
        """Groups for each outer row: the ties to the outer query become part of the grouping.

        If all ties are equalities with expressions of the query, it is grouped by these. Otherwise the
        distinct values of the outer rows are joined to the query, and it is grouped by them.
        """
        sides = [inner_side(tie) for tie in block.ties]
        keys = [side for side in sides if side is not None]
        if len(keys) == len(sides):
            selected = self._selected(tree, block.place, keys, has_one_row)
            assert selected.grouping is not None
            ties = [
                Binary("==", other_side(tie, side), selected.grouping.column(side))
                for tie, side in zip(block.ties, keys, strict=True)
            ]
            return selected, tuple(ties)
        read = sorted({name for tie in block.ties for name in tie.columns() if name.startswith(OUTER)})
        inside = {name: f"around.{name.removeprefix(OUTER)}" for name in read}
        values = Node(
            Project(tuple((new, Col(name.removeprefix(OUTER))) for name, new in inside.items())),
            (around.scope.node,),
        )
        rows = block.place.scope.node
        condition = conjunction(tie.renamed(inside) for tie in block.ties)
        with self._script.at(lambda: span(tree)):
            joined = Node(
                Join(condition, rows.schema.names + values.schema.names), (rows, Node(Distinct(), (values,)))
            )
        values_around = [Col(new) for new in inside.values()]
        selected = self._selected(tree, block.place.over(joined), values_around, has_one_row)
        equalities = [same(Col(name), Col(new), around.scope.node) for name, new in inside.items()]
        return selected, tuple(equalities)


MOST_COLUMNS = 1000
"""Most columns of a query; queries with two `*` of the one before double them each time."""


def _obstacle(tree: exp.Expr) -> str:
    """The words for a query in a condition that cannot read columns of its outer query."""
    if isinstance(tree, exp.SetOperation):
        word = type(tree).__name__.upper()
        return f"{'a' if word == 'UNION' else 'an'} {word}; write a condition for each side"
    return " or ".join(CHANGE_WORDS)


def _query_of(tree: exp.Expr) -> exp.Expr:
    while isinstance(tree, exp.Subquery) and CHANGES not in tree.meta:
        tree = tree.this
    return tree


def _sort(parsed: Sequence[Expression], conditions: list[Expression], ties: list[Expression]) -> None:
    """Add each part of the conditions to those of the query, or to its ties to the outer query."""
    for condition in parsed:
        for part in conjuncts(condition):
            (ties if reads_outer(part) else conditions).append(part)


def _conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    inner = bare(tree)
    if isinstance(inner, exp.And):
        for part in inner.flatten():
            yield from _conjuncts(part)
    else:
        yield inner


def _name(tree: exp.Expr) -> str:
    """The name of an expression without an alias: a column's own name, or the text."""
    inner = bare(tree)
    return inner.name if isinstance(inner, exp.Column) else text_of(tree).lower()


def _time(place: Place, item: exp.Expr | Expression) -> str | None:
    """The kind of time of a selected item: "date", "timestamp", "interval" or None."""
    if isinstance(item, exp.Expr):
        return place.reader().time(item)
    columns = (
        (part, name) for part in place.scope.items for name, c in part.columns.items() if item == Col(c)
    )
    return next((part.times.get(name) for part, name in columns), None)


def _with_columns(node: Node, values: Sequence[Expression], ties: Sequence[Expression]) -> Inner:
    """A query in a condition, with a column for each value."""
    if all(isinstance(value, Col) for value in values):
        return Inner(node, tuple(value for value in values if isinstance(value, Col)), tuple(ties))
    read = {name for tie in ties for name in tie.columns() if not name.startswith(OUTER)}
    columns: dict[str, Expression] = {name: Col(name) for name in node.schema.names if name in read}
    outputs = []
    for value in values:
        name = value.name if isinstance(value, Col) else unused(str(value), [*columns, *node.schema.names])
        columns[name] = value
        outputs.append(Col(name))
    return Inner(Node(Project(tuple(columns.items())), (node,)), tuple(outputs), tuple(ties))
