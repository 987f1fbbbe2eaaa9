"""The grammar: SQL as sqlglot reads it, with the statements and windows of the thesis' dialect.

    <stream> SAMPLE( <share> | MIN <share>, MAX <share> )
             WINDOW( [PARTITION BY <columns>] RANGE | ROWS <extent> [SLIDE <value>] [TIES BY ARRIVAL] )
             GRANULARITY( <value> | COARSEST <value>, FINEST <value> )
    <extent>  NOW | UNBOUNDED | <value> | MIN <value>, MAX <value>
    <value>   a positive integer, with a unit of time where it is a duration
    <share>   a number of percent, as in 12.5 %

    CREATE STREAM | RELATION <name> ( <part>, … ) …
    <part>        <name> <type> [NOT NULL] [<key>] [REFERENCES …] | <key> ( <columns> ) <claim>
                  | FOREIGN KEY ( <columns> ) REFERENCES <name> [( <columns> )] [WITHIN <value>] <claim>
    <key>         PRIMARY KEY | UNIQUE [NULLS NOT DISTINCT]
    <claim>       [FOR ALL TIME] [NOT ENFORCED]

CQL's brackets may replace WINDOW( ). An alias may stand before or after these clauses.

Source   thesis, Figure 7.1, sections 7.2, 17.1, 20.2 and 21.2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.parser import Parser as UsualParser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer as UsualTokenizer

from midstream.plans.sql.declarations import SWITCHES, Constant, OptionValue
from midstream.plans.sql.faults import Script, Span, span
from midstream.plans.sql.hints import WINDOW_FUNCTIONS, hint
from midstream.plans.values.errors import SqlError
from midstream.plans.values.schema import suggest

MOST_BRACKETS = 100
"""Most nested brackets; sqlglot recurses, and parses some alternatives again on each level."""

OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)

LEAST_WORK, WORK_PER_TOKEN = 2000, 40
"""The nodes that sqlglot may make of a script, in total and per token, before it is stopped.

It needs less than two per token, unless nested alternatives are parsed again and again.
"""

MOST_DIGITS = 300
"""Most digits of an integer; floats reach as far."""

TOO_DEEP = "this nests too deeply; define parts of it by CREATE STREAM … AS"


class Value(NamedTuple):
    """A positive integer, with the word for its unit, if one was given."""

    number: int
    unit: str | None
    at: Span


class Extent(NamedTuple):
    """The bounds of a window's size, from `least` to `most`; None is unbounded."""

    least: Value | None
    most: Value | None


class WindowClause(NamedTuple):
    """The content of WINDOW( ) or of CQL's brackets; with `is_now`, for NOW, it has nothing else."""

    by_rows: bool
    extent: Extent
    keys: tuple[exp.Expr, ...]
    slide: Value | None
    ties_by_arrival: bool
    is_now: bool
    at: Span


class GranularityClause(NamedTuple):
    """The content of GRANULARITY( ): from `finest` to `coarsest`."""

    finest: Value
    coarsest: Value
    at: Span


class SampleClause(NamedTuple):
    """The content of SAMPLE( ): a share of the rows, from `least` to `most`."""

    least: Fraction
    most: Fraction
    at: Span


class ColumnClause(NamedTuple):
    """A column in CREATE."""

    name: str
    type: exp.DataType
    nullable: bool
    at: Span


class KeyClause(NamedTuple):
    """PRIMARY KEY or UNIQUE, with its columns."""

    columns: tuple[tuple[str, Span], ...]
    is_primary: bool
    nulls_agree: bool
    is_lasting: bool
    is_enforced: bool
    at: Span


class ReferenceClause(NamedTuple):
    """FOREIGN KEY … REFERENCES.

    `to_columns` is None if they are not named; `within` is None without WITHIN, also for FOR ALL TIME.
    """

    columns: tuple[tuple[str, Span], ...]
    to: tuple[str, Span]
    to_columns: tuple[tuple[str, Span], ...] | None
    within: Value | None
    is_lasting: bool
    is_enforced: bool
    at: Span


class Option(NamedTuple):
    """An option of a source."""

    name: str
    value: OptionValue
    at: Span


class FileWords(NamedTuple):
    """A file in FROM: its path or pattern, the function that reads it, if one is named, and options."""

    path: str
    function: str | None
    options: tuple[Option, ...]
    at: Span


class SourceWords(NamedTuple):
    """The content of SOURCE."""

    kind: str
    arguments: tuple[Any, ...]
    options: tuple[Option, ...]


class CreateStatement(NamedTuple):
    """CREATE STREAM or CREATE RELATION with columns.

    `order` is the column of ORDERED BY, `period` are those of VALID FROM … TO …, `unit` is the word of
    TIME_UNIT, and `where` are the columns and constants of WHERE.
    """

    is_relation: bool
    name: str
    columns: tuple[ColumnClause, ...]
    source: SourceWords | None
    order: tuple[str, Span] | None
    period: tuple[tuple[str, Span], tuple[str, Span]] | None
    unit: tuple[str, Span] | None
    where: tuple[tuple[str, Constant, Span], ...]
    keys: tuple[KeyClause, ...]
    references: tuple[ReferenceClause, ...]
    at: Span


class DeriveStatement(NamedTuple):
    """CREATE STREAM … AS query."""

    name: str
    query: exp.Expr
    at: Span


class DropStatement(NamedTuple):
    """DROP STREAM or DROP RELATION."""

    is_relation: bool
    name: str
    at: Span


class SetStatement(NamedTuple):
    """SET name = value."""

    name: str
    value: str
    at: Span


class QueryStatement(NamedTuple):
    """A query as a statement."""

    query: exp.Expr
    text: str
    at: Span


Statement = CreateStatement | DeriveStatement | DropStatement | SetStatement | QueryStatement

FILE = "midstream_file"
"""The key of a file in the meta data of its reference."""

READERS = ("read_csv", "read_json", "read_parquet")
"""The functions that read a file in FROM."""

WINDOW, GRANULARITY, CHANGES = "midstream_window", "midstream_granularity", "midstream_changes"
SAMPLE = "midstream_sample"
"""The keys of a stream's clauses in the meta data of its reference, as they are no expressions."""

COMMA = "midstream_comma"
"""The key, in the meta data of a join, that says that it is written as a comma."""

JOINS_ELSEWHERE = ("POSITIONAL", "GLOBAL", "ANY", "ALL", "LOCAL")
"""Words before JOIN in other dialects; after AS, they are aliases."""

CHANGE_WORDS = ("ISTREAM", "DSTREAM", "RSTREAM")


class Misread(ParseError):
    """A syntax error; sqlglot catches it where it has another alternative."""

    def __init__(self, message: str, at: Span) -> None:
        super().__init__(message)
        self.at = at


WANTED: Mapping[tuple[str, str], str] = {
    ("CTE", "alias"): "a name",
}
"""The missing parts, by sqlglot's words for them; by default, an expression."""

WORDS: Mapping[str, str] = {
    "CTE to have alias": "a name",
    "AS after CAST": "AS",
    "FROM or comma after EXTRACT": "FROM",
    "table name": "the name of a stream",
}
"""The expected parts, by sqlglot's words for them."""

TYPES_WANTED = ("TYPE after CAST", "type after '::'", "a type")
"""The words of sqlglot, and of this parser, for an expected type."""

KNOWN_TYPES = "INTEGER, BIGINT, REAL, DOUBLE, DECIMAL, VARCHAR, TEXT, BOOLEAN, TIMESTAMP or DATE"

AGGREGATES: Mapping[str, str] = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "variance": "var_samp",
    "var_samp": "var_samp",
    "var_pop": "var_pop",
    "stddev": "stddev_samp",
    "stddev_samp": "stddev_samp",
    "stddev_pop": "stddev_pop",
    "median": "median",
    "top_k": "top_k",
}
"""The aggregate functions, by their names in SQL."""


ESTIMATES: Mapping[str, bool] = {"scaled": False, "standard_error": True}
"""The functions of an aggregate that estimate it from a sample; True for those that tell its error."""

ORDERS = ("ORDER BY", "ORDER", "ORDERED", "SORTED", "SORT BY", "CLUSTERED")
"""Words that stand for ORDERED BY in other dialects, or in haste."""


def _closed(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A parser of sqlglot that requires the closing bracket."""

    def parse_closed(parser: Any) -> Any:
        node = parse(parser)
        if parser._curr.token_type != TokenType.R_PAREN:
            parser.raise_error("expected )")
        return node

    return parse_closed


class StreamSql(Dialect):
    """SQL with windows, for sqlglot."""

    class Tokenizer(UsualTokenizer):
        """The usual tokenizer, which passes no text on as an unparsed command."""

        COMMANDS: ClassVar[set[TokenType]] = set()

    class Parser(UsualParser):
        """The parser of queries; `_Statements` parses statements."""

        # Functions keep their name and place as written; the translation knows which functions exist.
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: _closed(UsualParser.FUNCTION_PARSERS[name])
            for name in ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: UsualParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("ANY", "CASE")
        }
        STATEMENT_PARSERS: ClassVar[dict[TokenType, Any]] = {}

        def expression(self, instance: Any, token: Any = None, comments: Any = None) -> Any:
            """A node of a query; constants that sqlglot gives no place get that of the last token."""
            node: Any = super().expression(instance, token, comments)
            if isinstance(node, exp.Boolean | exp.Null) and "start" not in node.meta:
                node.update_positions(self._prev)
            return node

        def raise_error(self, message: str, token: Any = None) -> None:
            """Raise Misread at a token; by default at the current token, or behind the last one."""
            # sqlglot may name the token before the one that is wrong.
            token = self._curr if message.startswith("Expected") else token or self._curr
            at = Span(token.start, token.end) if token else Span(self._prev.end + 1, self._prev.end + 1)
            text = " ".join(self.sql[at.start : at.end + 1].split()) or "the end"
            words = _in_words(message, text if len(text) <= 40 else f"{text[:40]}…")
            raise Misread(f"{words}{hint(text)}", at)

        def _parse_types(self, check_func: bool = False, *_: Any, **__: Any) -> Any:
            """A type: a word, and a size.

            With `check_func`, a string must follow, as in DATE '2024-01-01': other words that may name types
            do not begin one.
            """
            token = self._curr
            if check_func and self._next.token_type != TokenType.STRING:
                return None
            if token.token_type not in self.TYPE_TOKENS or token.token_type.name not in exp.DType.__members__:
                return None
            self._advance()
            sizes: list[Any] = []
            if self._match(TokenType.L_PAREN):
                sizes = self._parse_csv(self._parse_size)
                self._match_r_paren()
            name = token.token_type.name
            if token.token_type in self.TIMESTAMPS:
                if self._words("WITH", "TIME", "ZONE"):
                    name = "TIMESTAMPTZ"
                else:
                    self._words("WITHOUT", "TIME", "ZONE")
            return exp.DataType(this=exp.DType[name], expressions=sizes).update_positions(token)

        def _parse_size(self) -> Any:
            if not self._match(TokenType.NUMBER):
                self.raise_error("expected a number")
            number = exp.Literal.number(self._prev.text)
            return exp.DataTypeParam(this=number.update_positions(self._prev))

        def _parse_interval(self, require_interval: bool = True, *arguments: Any, **options: Any) -> Any:
            """INTERVAL 'text' or a number, with or without units; the text stays as it is written."""
            if self._curr.token_type != TokenType.INTERVAL or self._next.token_type not in (
                TokenType.STRING,
                TokenType.NUMBER,
            ):
                return super()._parse_interval(require_interval, *arguments, **options)
            self._advance(2)
            text = exp.Literal.string(self._prev.text).update_positions(self._prev)
            units = []
            if self._is_unit_of_interval():
                units.append(self._parse_unit())
                if self._words("TO"):
                    units.append(self._parse_unit())
            span = exp.IntervalSpan(this=units[0], expression=units[1]) if len(units) > 1 else None
            return self.expression(exp.Interval(this=text, unit=span or (units[0] if units else None)))

        def _is_unit_of_interval(self) -> bool:
            return self._curr.text.upper() in self.dialect.VALID_INTERVAL_UNITS

        def _parse_unit(self) -> Any:
            if not self._is_unit_of_interval():
                self.raise_error("expected a unit of time")
            self._advance()
            return exp.Var(this=self._prev.text.upper()).update_positions(self._prev)

        def _parse_between(self, this: Any) -> Any:
            """BETWEEN, where AND is required."""
            if self._words("SYMMETRIC"):
                self.raise_error(
                    "found BETWEEN SYMMETRIC, which is not supported; write least(…, …) and greatest(…, …)",
                    self._prev,
                )
            self._words("ASYMMETRIC")
            low: Any = self._parse_bitwise()
            if not self._match(TokenType.AND):
                self.raise_error("expected AND")
            return self.expression(exp.Between(this=this, low=low, high=self._parse_bitwise()))

        def _parse_case(self) -> Any:
            """CASE, where THEN is required."""
            subject = self._parse_disjunction()
            branches = []
            while self._match(TokenType.WHEN):
                when: Any = self._parse_disjunction()
                if not self._match(TokenType.THEN):
                    self.raise_error("expected THEN")
                branches.append(self.expression(exp.If(this=when, true=self._parse_disjunction())))
            default = self._parse_disjunction() if self._match(TokenType.ELSE) else None
            if not self._match(TokenType.END):
                self.raise_error("expected END")
            return self.expression(exp.Case(this=subject, ifs=branches, default=default))

        def _parse_alias(self, this: Any, explicit: bool = False) -> Any:
            is_explicit = self._curr.token_type == TokenType.ALIAS
            alias = super()._parse_alias(this, explicit)
            if is_explicit and alias is this:
                self.raise_error("expected a name")
            return alias

        def _parse_table_alias(self, alias_tokens: Any = None) -> Any:
            is_explicit = self._curr.token_type == TokenType.ALIAS
            alias = super()._parse_table_alias(alias_tokens)
            if is_explicit and alias is None:
                self.raise_error("expected a name")
            return alias

        def _parse_hint(self) -> Any:
            if self._curr.token_type == TokenType.HINT:
                self.raise_error("a hint, as in /*+ … */, is not supported")
            return None

        def _parse_table(  # type: ignore[override]
            self, schema: bool = False, joins: bool = False, alias_tokens: Any = None, **_: Any
        ) -> Any:
            if self._is_word("TABLE") and self._next.token_type == TokenType.L_PAREN:
                self._advance(2)
                self._refuse_window_function()
            if self._is_word("LATERAL") and self._next.token_type == TokenType.L_PAREN:
                self.raise_error("found LATERAL, which is not supported; write a join, or a query in WHERE")
            if self._match(TokenType.L_PAREN, advance=False):
                this = self._parse_bracketed()
            elif changes := self._parse_changes_of():
                this = changes
            elif file := self._parse_file():
                this = file
            else:
                this = self._parse_table_parts()
                if not isinstance(this, exp.Table):
                    self.raise_error("expected a stream, a relation or a query in brackets")
            self._parse_suffixes(this, alias_tokens)
            if joins:
                for join in self._parse_joins():
                    this.append("joins", join)
            return this

        def _parse_file(self) -> Any:
            """A path in single quotes, or a function that reads one; None if neither follows."""
            first, function = self._curr, None
            if self._curr.token_type == TokenType.STRING:
                self._advance()
                words = FileWords(first.text, None, (), Span(first.start, first.end))
            elif self._curr.text.lower() in READERS and self._next.token_type == TokenType.L_PAREN:
                function = self._curr.text.lower()
                self._advance(2)
                arguments, options = self._parse_arguments()
                self._match_r_paren()
                at = Span(first.start, self._prev.end)
                if len(arguments) != 1 or not isinstance(arguments[0], str):
                    raise Misread(f"{function}: found {len(arguments)} arguments, expected a path", at)
                words = FileWords(arguments[0], function, options, at)
            else:
                return None
            name = exp.Identifier(this=words.path, quoted=True)
            name.update_positions(first)
            table = self.expression(exp.Table(this=name))
            table.meta[FILE] = words
            return table

        def _parse_order(self, *arguments: Any, **options: Any) -> Any:
            return self._placed(super()._parse_order, *arguments, **options)

        def _parse_limit(self, *arguments: Any, **options: Any) -> Any:
            return self._placed(super()._parse_limit, *arguments, **options)

        def _placed(self, parse: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
            """A clause whose place begins with its keyword."""
            first, clause = self._curr, parse(*arguments, **options)
            if self._curr is not first:
                clause.update_positions(first)
            return clause

        def _parse_function(self, *arguments: Any, **options: Any) -> Any:
            self._refuse_window_function()
            return super()._parse_function(*arguments, **options)

        def _refuse_window_function(self) -> None:
            if self._curr.text.upper() in WINDOW_FUNCTIONS and self._next.token_type == TokenType.L_PAREN:
                self.raise_error("Window functions are not supported")

        def _parse_join(self, *arguments: Any, **options: Any) -> Any:
            if not self._match(TokenType.COMMA):
                return super()._parse_join(*arguments, **options)
            join = self.expression(exp.Join(this=self._parse_table()))
            join.meta[COMMA] = True
            return join

        def _parse_bracketed(self) -> Any:
            self._match(TokenType.L_PAREN)
            query = self._parse_changes_of() or self._parse_select(nested=True)
            if query is None:
                self.raise_error(
                    "expected a query; joins in brackets are not supported: write (SELECT … FROM … JOIN …)"
                )
            query = self._parse_query_modifiers(self._parse_set_operations(query))
            self._match_r_paren()
            while isinstance(query, exp.Subquery) and query.is_wrapper and CHANGES not in query.meta:
                query = query.this
            return self.expression(exp.Subquery(this=query))

        def _parse_changes_of(self) -> Any:
            """ISTREAM(query), DSTREAM(query) or RSTREAM(query); None if none of them follows."""
            behind = self._tokens[self._index + 2 : self._index + 3]
            if (
                self._curr.text.upper() in CHANGE_WORDS
                and self._next.token_type == TokenType.L_PAREN
                and behind
                and behind[0].token_type in (TokenType.SELECT, TokenType.L_PAREN, TokenType.WITH)
            ):
                word = self._curr.text.upper()
                self._advance()
                query = self._parse_bracketed()
                query.meta[CHANGES] = word
                return query
            return None

        def _parse_suffixes(self, this: Any, alias_tokens: Any) -> None:
            """Alias, window and granularity, in any order."""
            while True:
                if self._match(TokenType.WINDOW):
                    self._once(this, WINDOW)
                    self._match_l_paren()
                    this.meta[WINDOW] = self._parse_clause()
                    self._match_r_paren()
                elif self._curr.token_type == TokenType.L_BRACKET:
                    self._once(this, WINDOW)
                    self._advance()
                    this.meta[WINDOW] = self._parse_clause()
                    if not self._match(TokenType.R_BRACKET):
                        self.raise_error("expected ]")
                elif self._is_word("GRANULARITY") and self._next.token_type == TokenType.L_PAREN:
                    self._once(this, GRANULARITY)
                    self._advance(2)
                    this.meta[GRANULARITY] = self._parse_granularity()
                    self._match_r_paren()
                elif self._is_word("SAMPLE") and self._next.token_type == TokenType.L_PAREN:
                    self._once(this, SAMPLE)
                    self._advance(2)
                    this.meta[SAMPLE] = self._parse_sample()
                    self._match_r_paren()
                elif self._curr.text.upper() in JOINS_ELSEWHERE and self._next.token_type == TokenType.JOIN:
                    self.raise_error(f"found {self._curr.text} JOIN, which is not supported")
                elif not this.args.get("alias") and (alias := self._parse_table_alias(alias_tokens)):
                    this.set("alias", alias)
                else:
                    return

        def _once(self, this: Any, clause: str) -> None:
            if clause in this.meta:
                self.raise_error("found a second sample, window or granularity, expected one of each")

        def _parse_clause(self) -> WindowClause:
            start = self._curr.start
            keys: tuple[Any, ...] = ()
            if self._match(TokenType.PARTITION_BY):
                keys = tuple(self._parse_csv(self._parse_column))
            by_rows = False
            is_now = False
            extent = Extent(None, None)
            if self._words("ROWS"):
                by_rows = True
                extent = self._parse_extent()
            elif keys:
                self.raise_error("expected ROWS: a partitioned window counts rows")
            elif self._words("NOW") or self._words("RANGE", "NOW"):
                is_now = True
            elif self._words("RANGE"):
                extent = self._parse_extent()
            elif not self._words("UNBOUNDED"):
                self.raise_error("expected RANGE, ROWS, PARTITION BY, NOW or UNBOUNDED")
            slide = self._parse_amount() if not is_now and self._words("SLIDE") else None
            ties = by_rows and self._words("TIES", "BY", "ARRIVAL")
            return WindowClause(
                by_rows, extent, keys, slide, ties, is_now, Span(start, max(start, self._prev.end))
            )

        def _parse_extent(self) -> Extent:
            if self._words("UNBOUNDED"):
                return Extent(None, None)
            if self._words("MIN"):
                least = self._parse_amount()
                self._match(TokenType.COMMA)
                if not self._words("MAX"):
                    self.raise_error("expected MAX")
                return Extent(least, self._parse_amount())
            value = self._parse_amount()
            return Extent(value, value)

        def _parse_granularity(self) -> GranularityClause:
            start = self._curr.start
            bounds: dict[str, Value] = {}
            while (word := self._curr.text.upper()) in ("COARSEST", "FINEST") and word not in bounds:
                self._advance()
                bounds[word] = self._parse_amount()
                if len(bounds) < 2:
                    self._match(TokenType.COMMA)
            if bounds and len(bounds) < 2:
                self.raise_error("expected both COARSEST and FINEST")
            if not bounds:
                bounds = dict.fromkeys(("COARSEST", "FINEST"), self._parse_amount())
            return GranularityClause(bounds["FINEST"], bounds["COARSEST"], Span(start, self._prev.end))

        def _parse_sample(self) -> SampleClause:
            start = self._curr.start
            if not self._words("MIN"):
                share = self._parse_share()
                return SampleClause(share, share, Span(start, self._prev.end))
            least = self._parse_share()
            self._match(TokenType.COMMA)
            if not self._words("MAX"):
                self.raise_error("expected MAX")
            return SampleClause(least, self._parse_share(), Span(start, self._prev.end))

        def _parse_share(self) -> Fraction:
            """A share such as 10 % or 0.5 PERCENT."""
            number = self._curr
            if not self._match(TokenType.NUMBER):
                self.raise_error("expected a share, such as 10 %")
            if not (self._match(TokenType.MOD) or self._words("PERCENT")):
                self.raise_error(f"found {number.text}, expected a share in percent, such as 10 %", number)
            share = Fraction(number.text) / 100
            if not 0 < share <= 1:
                self.raise_error(f"found {number.text} %, expected above 0 and up to 100 %", number)
            return share

        def _parse_amount(self) -> Value:
            """A value such as 5, 5 MINUTES, '5' MINUTES, INTERVAL '5' MINUTE, INTERVAL '5 minutes'."""
            token = self._curr
            is_interval = self._words("INTERVAL")
            number, unit = self._curr, None
            if not (self._match(TokenType.NUMBER) or self._match(TokenType.STRING)):
                self.raise_error("expected a positive integer")
            digits, _, word = number.text.strip().partition(" ")
            if number.token_type == TokenType.STRING:
                unit = word.strip() or None
            if not (digits.isascii() and digits.isdigit()) or set(digits) == {"0"}:
                self.raise_error(f"found {number.text}, expected a positive integer", number)
            if len(digits) > 18:
                self.raise_error(
                    f"found {number.text}, which is too large, expected 18 digits at most", number
                )
            if unit is None and (is_interval or self._is_unit()):
                unit = self._curr.text
                self._advance()
            return Value(int(digits), unit, Span(token.start, max(token.start, self._prev.end)))

        def _is_unit(self) -> bool:
            from midstream.plans.values.units import unit_name

            word = self._curr.text
            is_last = self._next.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.COMMA)
            # Where nothing else can stand, any word counts as a unit, so that it is refused by its name.
            return word.isalpha() and (
                unit_name(word) is not None or (is_last and self._curr.token_type == TokenType.VAR)
            )

        def _parse_arguments(self) -> tuple[tuple[Any, ...], tuple[Option, ...]]:
            """Texts and numbers, and behind them options: `name = value`."""
            arguments: list[Any] = []
            options: list[Option] = []
            while self._curr and self._curr.token_type != TokenType.R_PAREN:
                token = self._curr
                if self._next and self._next.token_type == TokenType.EQ:
                    self._advance(2)
                    options.append(self._parse_option(token))
                elif options:
                    self.raise_error(f"expected {options[-1].name} = … behind all other arguments")
                elif token.token_type not in (TokenType.STRING, TokenType.NUMBER):
                    self.raise_error(
                        "expected a text in single quotes, a number, or at last an option such as delim = ';'"
                    )
                else:
                    self._advance()
                    is_number = token.token_type == TokenType.NUMBER and token.text.isdigit()
                    arguments.append(self._whole(token.text, token) if is_number else token.text)
                if not self._match(TokenType.COMMA):
                    break
            return tuple(arguments), tuple(options)

        def _parse_option(self, name: Token) -> Option:
            """The value of an option, behind its name and the equals sign."""
            value: OptionValue
            token = self._curr
            if self._match(TokenType.STRING):
                value = self._prev.text
            elif self._match(TokenType.TRUE) or self._match(TokenType.FALSE):
                value = self._prev.token_type == TokenType.TRUE
            else:
                word = name.text.lower()
                expected = "true or false" if word in SWITCHES else "'text'"
                self.raise_error(f"expected {word} = {expected}", token)
            return Option(name.text.lower(), value, Span(name.start, token.end))

        def _whole(self, text: str, token: Token) -> int:
            if len(text) > MOST_DIGITS:
                self.raise_error(f"expected {MOST_DIGITS} digits at most", token)
            return int(text)

        def _is_word(self, word: str) -> bool:
            return bool(self._curr and self._curr.text.upper() == word)

        def _words(self, *words: str) -> bool:
            return bool(self._match_text_seq(*words))


class _Statements(StreamSql.Parser):
    """The parser of the statements of a script."""

    def statements(self, tokens: list[Token], text: str) -> Sequence[Statement]:
        """All statements, without empty ones."""
        self.reset()
        self.sql = text
        cuts = [i for i, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
        statements: list[Statement] = []
        for first, last in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(tokens)], strict=True):
            if chunk := tokens[first:last]:
                self._tokens, self._index = chunk, -1
                self._tokens_size = len(chunk)
                self._advance()
                statements.append(self._parse_one(chunk))
                if self._index < len(chunk):
                    self.raise_error(f"found {self._curr.text}, expected the end of the statement")
        return statements

    def _parse_one(self, chunk: list[Token]) -> Statement:
        at = Span(chunk[0].start, chunk[0].end)
        if self._words("CREATE"):
            return self._parse_creation()
        if self._words("DROP"):
            is_relation = self._stream_or_relation()
            name, at = self._parse_name()
            return DropStatement(is_relation, name, at)
        if self._words("SET"):
            name, at = self._parse_name()
            if not self._match(TokenType.EQ):
                self._words("TO")
            value, _ = self._parse_word()
            return SetStatement(name.lower(), value, at)
        query = self._parse_query()
        if query is None:
            self.raise_error("expected CREATE, DROP, SET or SELECT", chunk[0])
        return QueryStatement(query, self.sql[chunk[0].start : chunk[-1].end + 1], at)

    def _parse_query(self) -> Any:
        first = self._curr
        query: Any = self._parse_changes_of() or self._parse_select(nested=True)
        if query is not None:
            query = self._parse_query_modifiers(self._parse_set_operations(query))
            if span(query) is None:
                query.update_positions(first)
        return query

    def _stream_or_relation(self) -> bool:
        if self._words("RELATION"):
            return True
        if not self._words("STREAM"):
            self.raise_error("expected STREAM or RELATION")
        return False

    def _parse_creation(self) -> Statement:
        is_relation = self._stream_or_relation()
        name, at = self._parse_name()
        if not is_relation and self._match(TokenType.ALIAS):
            query = self._parse_query()
            if query is None:
                self.raise_error("expected a query")
            return DeriveStatement(name, query, at)
        self._match_l_paren()
        parts = [part for found in self._parse_csv(self._parse_part) for part in found]
        self._match_r_paren()
        source = order = period = unit = None
        where: tuple[tuple[str, Constant, Span], ...] = ()
        while True:
            if source is None and self._words("SOURCE"):
                source = self._parse_source()
            elif order is None and not is_relation and self._words("ORDERED", "BY"):
                order = self._parse_name()
            elif period is None and is_relation and self._words("VALID", "FROM"):
                first = self._parse_name()
                if not self._words("TO"):
                    self.raise_error("expected TO")
                period = first, self._parse_name()
            elif unit is None and self._words("TIME_UNIT"):
                self._match(TokenType.EQ)
                unit = self._parse_word()
            elif not where and not is_relation and self._match(TokenType.WHERE):
                where = self._parse_conditions()
            elif order is None and not is_relation and self._curr and self._curr.text.upper() in ORDERS:
                self.raise_error("expected ORDERED BY and the column with the timestamps of rows")
            else:
                break
        columns = tuple(part for part in parts if isinstance(part, ColumnClause))
        keys = tuple(part for part in parts if isinstance(part, KeyClause))
        references = tuple(part for part in parts if isinstance(part, ReferenceClause))
        return CreateStatement(
            is_relation, name, columns, source, order, period, unit, where, keys, references, at
        )

    def _parse_conditions(self) -> tuple[tuple[str, Constant, Span], ...]:
        """Columns of a source and their constants, with AND between."""
        found: list[tuple[str, Constant, Span]] = []
        while not found or self._match(TokenType.AND):
            name, at = self._parse_name()
            if not self._match(TokenType.EQ):
                self.raise_error("expected =, as a row belongs to a stream by its values in columns")
            found.append((name, self._parse_constant(), at))
        return tuple(found)

    def _parse_constant(self) -> Constant:
        token, is_negative = self._curr, bool(self._match(TokenType.DASH))
        if not is_negative and self._match(TokenType.STRING):
            return str(self._prev.text)
        if not is_negative and (self._match(TokenType.TRUE) or self._match(TokenType.FALSE)):
            return bool(self._prev.token_type == TokenType.TRUE)
        if not self._match(TokenType.NUMBER):
            self.raise_error("expected a constant", token)
        text = f"{'-' * is_negative}{self._prev.text}"
        return self._whole(text, token) if text.lstrip("-").isdigit() else float(text)

    def _parse_name(self) -> tuple[str, Span]:
        token = self._curr
        name: Any = self._parse_id_var(any_token=True)
        if not isinstance(name, exp.Identifier) or not name.name:
            self.raise_error("expected a name", token)
        return name.name, Span(token.start, token.end)

    def _parse_word(self) -> tuple[str, Span]:
        """A word, with or without quotes."""
        token = self._curr
        if not self._advance_any(ignore_reserved=True):
            self.raise_error("expected a value")
        return token.text, Span(token.start, token.end)

    def _parse_part(self) -> list[ColumnClause | KeyClause | ReferenceClause]:
        """A column with its own constraints, or a constraint on several columns."""
        follows = self._next.text.upper() if self._next else ""
        if self._is_word("FOREIGN KEY") and follows == "(":
            start = self._curr.start
            self._advance()
            columns = self._parse_names()
            if not self._words("REFERENCES"):
                self.raise_error("expected REFERENCES")
            return [self._parse_reference(columns, start)]
        if (self._is_word("PRIMARY KEY") or self._is_word("UNIQUE")) and follows in ("(", "NULLS"):
            return [self._parse_key(())]
        column = self._parse_column_clause()
        clauses: list[ColumnClause | KeyClause | ReferenceClause] = [column]
        own = ((column.name, column.at),)
        while self._is_word("PRIMARY KEY") or self._is_word("UNIQUE"):
            clauses.append(self._parse_key(own))
        start = self._curr.start if self._curr else column.at.start
        while self._words("REFERENCES"):
            clauses.append(self._parse_reference(own, start))
        return clauses

    def _parse_key(self, columns: tuple[tuple[str, Span], ...]) -> KeyClause:
        """PRIMARY KEY or UNIQUE, up to the end of the claim; without `columns`, their list follows."""
        at = Span(self._curr.start, self._curr.end)
        is_primary = self._is_word("PRIMARY KEY")
        self._advance()
        nulls_agree = not is_primary and self._words("NULLS", "NOT", "DISTINCT")
        columns = columns or self._parse_names()
        is_lasting, is_enforced = self._parse_claim()
        return KeyClause(columns, is_primary, nulls_agree, is_lasting, is_enforced, at)

    def _parse_reference(self, columns: tuple[tuple[str, Span], ...], start: int) -> ReferenceClause:
        """The rest of a reference, behind REFERENCES."""
        to = self._parse_name()
        to_columns = self._parse_names() if self._curr and self._curr.text == "(" else None
        within = self._parse_amount() if self._words("WITHIN") else None
        at = Span(start, self._prev.end)
        is_lasting, is_enforced = self._parse_claim()
        if is_lasting and within is not None:
            self.raise_error("found WITHIN and FOR ALL TIME, expected one of them", self._prev)
        return ReferenceClause(columns, to, to_columns, within, is_lasting, is_enforced, at)

    def _parse_names(self) -> tuple[tuple[str, Span], ...]:
        self._match_l_paren()
        names = tuple(self._parse_csv(self._parse_name))
        self._match_r_paren()
        return names

    def _parse_claim(self) -> tuple[bool, bool]:
        """The claim of a constraint, as the flags FOR ALL TIME and enforced."""
        is_lasting = self._words("FOR", "ALL", "TIME")
        return is_lasting, not self._words("NOT", "ENFORCED")

    def _parse_column_clause(self) -> ColumnClause:
        name, at = self._parse_name()
        token = self._curr
        kind: Any = self._parse_types()
        if not isinstance(kind, exp.DataType):
            self.raise_error("expected a type", token)
        nullable = True
        if self._words("NOT", "NULL"):
            nullable = False
        else:
            self._words("NULL")
        return ColumnClause(name, kind, nullable, at)

    def _parse_source(self) -> SourceWords:
        kind, _ = self._parse_name()
        self._match_l_paren()
        arguments, options = self._parse_arguments()
        self._match_r_paren()
        return SourceWords(kind, arguments, options)


def parse(script: Script) -> Sequence[Statement]:
    """The statements of a script; raises SqlError, with the place, if it has a syntax error."""
    dialect = StreamSql()
    tokens: list[Token] = []
    try:
        tokens = dialect.tokenize(script.text)
        _check_depth(tokens, script)
        _check_neighbours(tokens, script)
        _check_no_stream_word(tokens, script)
        parser = _Statements(
            error_level=ErrorLevel.IMMEDIATE,
            max_nodes=LEAST_WORK + WORK_PER_TOKEN * len(tokens),
            dialect=dialect,
        )
        return parser.statements(tokens, script.text)
    except Misread as error:
        raise script.fault(str(error), error.at) from None
    except (ParseError, TokenError) as error:
        raise _unread(script, error) from None
    except RecursionError:
        raise script.fault(TOO_DEEP, _deepest(tokens)) from None


def _deepest(tokens: Sequence[Token]) -> Span:
    """The place with the most brackets around it."""
    depth = most = 0
    deepest = tokens[0]
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth > most:
            most, deepest = depth, token
    return Span(deepest.start, deepest.end)


def _unread(script: Script, error: Exception) -> SqlError:
    """The error for a script that is not made of words, numbers and strings."""
    if missing := re.match(r"Missing (\S+) from \d+:(\d+)", str(error.__cause__ or error)):
        start, end = int(missing[2]), missing[1]
    elif (start := script.text.rfind("/*")) > script.text.rfind("*/"):
        end = "*/"
    else:
        return script.fault("this cannot be read", Span(len(script.text), len(script.text)))
    return script.fault(f"found no {end} for the part that begins here", Span(start, start))


def _in_words(message: str, found: str) -> str:
    """The words of an error message of sqlglot or of this parser.

    >>> _in_words("Expecting )", "FROM")
    'found FROM, expected )'
    >>> _in_words("Required keyword: 'this' missing for <class 'sqlglot.expressions.core.Paren'>", ")")
    'found ), expected an expression'
    """
    if missing := re.match(r"Required \w+: '(\w+)' missing for <class '[\w.]*?(\w+)'>", message):
        return f"found {found}, expected {WANTED.get((missing[2], missing[1]), 'an expression')}"
    if message.startswith("Maximum number of AST nodes"):
        return TOO_DEEP
    if wanted := re.match(r"[Ee]xpect(?:ed|ing) (.*?)(?: but got .*)?$", message, re.DOTALL):
        if wanted[1] in TYPES_WANTED:
            near = suggest(found.upper(), ["INT", *KNOWN_TYPES.replace(" or", ",").split(", ")])
            return f"found {found}, expected {KNOWN_TYPES}{near}"
        return f"found {found}, expected {WORDS.get(wanted[1], wanted[1])}"
    if message.startswith("Failed to parse any statement following"):
        return f"found {found}, expected SELECT"
    if message[:1].isupper():
        return f"found {found}, which is not supported here"
    return message


def _check_no_stream_word(tokens: Sequence[Token], script: Script) -> None:
    """Refuse SELECT STREAM * of another dialect, which sqlglot would read as a product."""
    for first, stream, star, behind in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if (
            first.text.upper() in ("SELECT", "DISTINCT", "ALL")
            and stream.text.upper() == "STREAM"
            and star.token_type == TokenType.STAR
            and behind.token_type in (TokenType.FROM, TokenType.COMMA)
        ):
            raise script.fault(f"STREAM is not supported{hint('STREAM')}", Span(stream.start, stream.end))


def _check_neighbours(tokens: Sequence[Token], script: Script) -> None:
    """Refuse commas with nothing before or behind them, and syntax of other dialects.

    Otherwise sqlglot would read 0x1F and 1_000 as numbers with an alias, and E'…' as a column with one.
    """
    if tokens and tokens[-1].token_type == TokenType.COMMA:
        end = tokens[-1].end + 1
        raise script.fault("found the end, expected an expression", Span(end, end))
    for token, other in pairwise(tokens):
        if (
            (token.token_type in BEFORE_LISTS and other.token_type == TokenType.COMMA)
            or (token.token_type == TokenType.COMMA and other.token_type in BEHIND_COMMAS)
            or (token.token_type in BEFORE_NAMED and other.token_type == TokenType.ALIAS)
        ):
            raise script.fault(f"found {other.text}, expected an expression", Span(other.start, other.end))
        if token.end + 1 != other.start:
            continue
        both = script.text[token.start : other.end + 1]
        at = Span(token.start, other.end)
        if token.token_type == TokenType.NUMBER and other.token_type == TokenType.VAR:
            raise script.fault(f"found {both}, expected a number in digits, such as 1000 or 2.5e3", at)
        if other.token_type == TokenType.STRING and token.text.upper() in STRING_PREFIXES:
            prefix = f"{token.text}'…'"
            raise script.fault(
                f"strings like {prefix} are not supported; write '…' with the characters as they are, or "
                "chr(10)",
                at,
            )


BEFORE_LISTS = (*OPENING, TokenType.SELECT, TokenType.FROM, TokenType.GROUP_BY, TokenType.COMMA)
BEHIND_COMMAS = (
    *CLOSING, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING,
    TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.SEMICOLON,
)  # fmt: skip
BEFORE_NAMED = (*OPENING, TokenType.SELECT, TokenType.DISTINCT, TokenType.COMMA)
"""Tokens that cannot stand before a comma, tokens that cannot stand behind one, and those before AS.

sqlglot ignores such a comma, and such an AS.
"""

STRING_PREFIXES = ("E", "B", "X", "U", "N", "R")
"""Prefixes of strings in other dialects."""


def _check_depth(tokens: Sequence[Token], script: Script) -> None:
    depth = 0
    for token in tokens:
        if token.token_type in OPENING:
            depth += 1
            if depth > MOST_BRACKETS:
                at = Span(token.start, token.end)
                raise script.fault(f"found brackets {depth} deep, expected {MOST_BRACKETS} at most", at)
        elif token.token_type in CLOSING:
            depth -= 1
