"""Scalar functions: their parameters, results and Python source."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple, Protocol

from midstream.plans.values.errors import ExpressionError, Note
from midstream.plans.values.finite import within_floats
from midstream.plans.values.schema import PYTHON_TYPES, Type

LONGEST = 10_000_000
"""Most characters of a string; a function whose result would be longer gives unknown, and warns once."""

NESTED = 30
"""Most choices in one nested Python expression; longer ones are flat, as Python limits nesting."""


class TextTooLong(Note):
    """The result of a function would exceed the maximum length of a text: it is unknown instead."""


@cache
def too_long(function: str) -> None:
    """Return unknown in place of a text that is too long, and warn once for each function."""
    message = f"{function}: a text of more than {LONGEST:,} characters is unknown (NULL)"
    warnings.warn(message, TextTooLong, stacklevel=2)


class Names(Protocol):
    """A source of names for generated code."""

    def bind(self, value: Any) -> str:
        """A new name for an object."""

    def fresh(self) -> str:
        """A new name for an intermediate value."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument, as it is known before a row arrives.

    expression   the argument itself, for messages
    value        its value if it is a constant
    """

    expression: object
    type: Type
    nullable: bool
    is_constant: bool = False
    value: Any = None

    @property
    def is_null(self) -> bool:
        """True for the unknown constant, which fits every type."""
        return self.is_constant and self.value is None


class Parameter(NamedTuple):
    """A parameter of a function."""

    expected: str
    types: frozenset[Type] = frozenset(Type)
    is_constant: bool = False

    def accepts(self, argument: Argument) -> bool:
        """True if an argument fits; type ANY does, as only the values of a row have types."""
        if self.is_constant and (not argument.is_constant or argument.is_null):
            return False
        return argument.type is Type.ANY or argument.type in self.types


VALUE = Parameter("a value")
STRING = Parameter("a string", frozenset({Type.STRING}))
NUMBER = Parameter("a number", frozenset({Type.INTEGER, Type.FLOAT}))
INTEGER = Parameter("an integer", frozenset({Type.INTEGER}))
CONSTANT_STRING = Parameter("a constant string", frozenset({Type.STRING}), is_constant=True)
CONSTANT_INTEGER = Parameter("a constant integer", frozenset({Type.INTEGER}), is_constant=True)


@dataclass(frozen=True, slots=True)
class Function:
    """A function that returns unknown if an argument is unknown.

    run          the function in Python, of known arguments
    result       the type of the result, fixed or computed from the arguments
    optional     the number of last parameters that may be left out
    repeats      True if the last parameter may be repeated
    may_fail     True if some known arguments give unknown
    inline       its source, where `{0}` stands for the first argument, if that is faster than a call
    words        the words between the arguments, or before a single one, if it is an operator

    >>> FUNCTION = Function("double", (NUMBER,), lambda x: 2 * x, Type.FLOAT, inline="(2 * {0})")
    >>> FUNCTION.kind([Argument("x", Type.FLOAT, nullable=True)])
    (<Type.FLOAT: 'float'>, True)
    >>> FUNCTION.kind([Argument("x", Type.STRING, nullable=True)])
    Traceback (most recent call last):
    midstream.plans.values.errors.ExpressionError: double: argument 1, x, is string, expected a number
    """

    name: str
    parameters: tuple[Parameter, ...]
    run: Callable[..., Any]
    result: Type | Callable[[Sequence[Argument]], Type]
    optional: int = 0
    repeats: bool = False
    may_fail: bool = False
    inline: str | None = None
    words: tuple[str, ...] = ()

    def check_count(self, count: int) -> None:
        """Raise ExpressionError unless the function takes `count` arguments."""
        most = len(self.parameters)
        least = most - self.optional
        if count < least or (count > most and not self.repeats):
            end = " or more" if self.repeats else f" to {most}" if self.optional else ""
            raise ExpressionError(f"found {self.name!r} of {count} arguments, expected {least}{end}")

    def kind(self, arguments: Sequence[Argument]) -> tuple[Type, bool]:
        """The type and nullability of the result; raises ExpressionError if an argument does not fit."""
        for number, argument in enumerate(arguments):
            parameter = self.parameters[min(number, len(self.parameters) - 1)]
            if not parameter.accepts(argument):
                is_varying = parameter.is_constant and not argument.is_constant
                found = "is no constant" if is_varying else f"is {argument.type.value}"
                raise ExpressionError(
                    f"{self.name}: argument {number + 1}, {argument.expression}, {found}, "
                    f"expected {parameter.expected}"
                )
        type_ = self.result if isinstance(self.result, Type) else self.result(arguments)
        return type_, self.gives_unknown(arguments)

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        """True if the result may be unknown."""
        return (
            self.may_fail
            or self._needs_tolerance(arguments)
            or any(argument.nullable for argument in arguments)
        )

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """Python source of the result, from the sources of the arguments."""
        if any(argument.is_null for argument in arguments):
            return "None"
        nullable = [argument.nullable for argument in arguments]
        return guarded(texts, nullable, scope, lambda known: self.body(arguments, known, scope))

    def body(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """Python source of the result for known arguments."""
        if self._needs_tolerance(arguments):
            return f"{scope.bind(tolerant(self))}({', '.join(texts)})"
        if self.inline is not None:
            return self.inline.format(*texts)
        return f"{scope.bind(self.run)}({', '.join(texts)})"

    def spelled(self, texts: Sequence[str]) -> str:
        """A call as it is written in SQL."""
        if not self.words:
            return f"{self.name}({', '.join(texts)})"
        first, *rest = texts
        if not rest:
            return f"{self.words[0]}{first}"
        words = (*self.words, *self.words[-1:] * len(rest))
        return first + "".join(f" {word} {text}" for word, text in zip(words, rest, strict=False))

    def _needs_tolerance(self, arguments: Sequence[Argument]) -> bool:
        """True if an argument may have a type that the function does not take."""
        places = range(len(arguments))
        parameters = (self.parameters[min(i, len(self.parameters) - 1)] for i in places)
        return any(
            argument.type is Type.ANY and not argument.is_null and parameter is not VALUE
            for argument, parameter in zip(arguments, parameters, strict=True)
        )


class Body(NamedTuple):
    """Source of a function's value for known arguments, with the objects that it names."""

    template: str
    objects: Mapping[str, Any]
    may_fail: bool = False

    def filled(self, texts: Sequence[str], scope: Names) -> str:
        """The source, filled with the sources of the arguments."""
        names = {name: scope.bind(value) for name, value in self.objects.items()}
        return self.template.format(*texts, **names)


@dataclass(frozen=True, slots=True)
class Prepared(Function):
    """A function that is prepared from some of its arguments, once if these are constants.

    prepare      prepares the function; its ValueError says what it found and what it expected
    places       the positions of the arguments from which it is prepared

    Constants from which it cannot be prepared are an error; other arguments give unknown then.
    """

    prepare: Callable[..., Body] = field(kw_only=True)
    places: tuple[int, ...] = field(kw_only=True)

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        """As of any function; also if the prepared function may fail."""
        if any(argument.is_null for argument in arguments):
            return True
        body = self._ready(arguments)
        return (True if body is None else body.may_fail) or Function.gives_unknown(self, arguments)

    def body(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """The prepared source, or a call that prepares first."""
        body = self._ready(arguments)
        if body is None or self._needs_tolerance(arguments):
            return Function.body(self, arguments, texts, scope)
        return body.filled([text for i, text in enumerate(texts) if i not in self.places], scope)

    def _ready(self, arguments: Sequence[Argument]) -> Body | None:
        chosen = [argument for i, argument in enumerate(arguments) if i in self.places]
        if not all(argument.is_constant for argument in chosen):
            return None
        try:
            return self.prepare(*(argument.value for argument in chosen))
        except ValueError as error:
            raise ExpressionError(f"{self.name}: {error}") from error


def prepared(
    name: str,
    parameters: tuple[Parameter, ...],
    prepare: Callable[..., Body],
    result: Type | Callable[[Sequence[Argument]], Type],
    places: tuple[int, ...],
    optional: int = 0,
    words: tuple[str, ...] = (),
) -> Prepared:
    """A function that `prepare` makes from the arguments at `places`."""
    ready = lru_cache(maxsize=1024)(prepare)

    @lru_cache(maxsize=1024)
    def made(*chosen: Any) -> Callable[..., Any]:
        body, count = ready(*chosen), len(parameters) - len(places)
        names = [f"x{i}" for i in range(count)]
        source = body.template.format(*names, **{name: name for name in body.objects})
        function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {source}", dict(body.objects))
        return function

    def run(*arguments: Any) -> Any:
        try:
            function = made(*(argument for i, argument in enumerate(arguments) if i in places))
        except ValueError:
            return None
        return function(*(argument for i, argument in enumerate(arguments) if i not in places))

    return Prepared(name, parameters, run, result, optional, words=words, prepare=ready, places=places)


def guarded(
    texts: Sequence[str], nullable: Sequence[bool], scope: Names, value: Callable[[list[str]], str]
) -> str:
    """Source of a value of several operands: unknown if an operand is, else `value` of the known operands.

    An operand that may be unknown gets a name, which is read only behind the guard that assigns it.
    """
    names, guards = [], []
    for text, may_be_unknown in zip(texts, nullable, strict=True):
        name = scope.fresh() if may_be_unknown else text
        if may_be_unknown:
            guards.append(f"({name} := {text}) is None")
        names.append(name)
    body = value(names)
    return f"(None if {' or '.join(guards)} else {body})" if guards else body


def choice(branches: Sequence[tuple[str, str]], default: str) -> str:
    """Source of the value of the first branch, `(condition, value)`, whose condition is true.

    No other value is evaluated.

    >>> choice([("a", "1"), ("b", "2")], "3")
    '(1 if a else 2 if b else 3)'
    """
    if len(branches) <= NESTED:
        return f"({''.join(f'{value} if {condition} else ' for condition, value in branches)}{default})"
    chain = "".join(f"(({value},) if {condition} else ()) or " for condition, value in branches)
    return f"({chain}({default},))[0]"


def tolerant(function: Function) -> Callable[..., Any]:
    """A function that returns unknown for values of types that it does not take."""
    accepted = [
        frozenset().union(*(PYTHON_TYPES[t] for t in p.types if t is not Type.ANY))
        if p is not VALUE
        else None
        for p in function.parameters
    ]
    last = len(accepted) - 1

    def run(*arguments: Any) -> Any:
        for place, argument in enumerate(arguments):
            types = accepted[min(place, last)]
            if types is not None and type(argument) not in types:
                return None
        return function.run(*arguments)

    return run


def comparable(first: Type, second: Type) -> bool:
    """True if values of two types can be compared."""
    return first is second or Type.ANY in (first, second) or (first.is_numeric and second.is_numeric)


def wider(first: Type, second: Type) -> Type:
    """The common type of two comparable types."""
    if first is second:
        return first
    if Type.ANY in (first, second):
        return Type.ANY
    return Type.FLOAT


def may_exceed(arguments: Sequence[Argument], common: Type) -> bool:
    """True if a choice among arguments, declared as a float, may be an integer beyond the range of floats."""
    return common is Type.FLOAT and any(
        argument.type is Type.INTEGER
        and not (argument.is_constant and within_floats(argument.value) is not None)
        for argument in arguments
    )


def chosen_text(argument: Argument, text: str, common: Type, scope: Names) -> str:
    """Source of a value that may be chosen; among floats, a constant integer becomes the equal float."""
    is_whole = argument.is_constant and type(argument.value) is int
    if common is Type.FLOAT and is_whole and (value := within_floats(argument.value)) is not None:
        return scope.bind(value)
    return text


def common_type(who: str, arguments: Sequence[Argument]) -> Type:
    """The common type of several arguments, without the unknown constant.

    Raises   ExpressionError where they cannot be compared.
    """
    known = [argument for argument in arguments if not argument.is_null]
    if not known:
        return Type.ANY
    common = known[0].type
    for argument in known[1:]:
        if not comparable(common, argument.type):
            raise ExpressionError(
                f"{who} compares {common.value} with {argument.type.value}: {argument.expression}"
            )
        common = wider(common, argument.type)
    return common
