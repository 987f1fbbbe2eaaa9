"""Functions of strings, as in DuckDB; a character is a code point.

Letters change case as in Python: where the other case of a letter is several letters (ß), or depends on
neighbours (Σ), DuckDB differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from midstream.plans.functions.casts import conversion
from midstream.plans.functions.function import (
    INTEGER,
    LONGEST,
    STRING,
    VALUE,
    Argument,
    Function,
    Names,
    Parameter,
    guarded,
    too_long,
)
from midstream.plans.values.schema import Type

SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""The characters that are trimmed: Unicode's space separators, without tabs and line ends."""


def substring(text: str, start: int, length: int | None = None) -> str:
    """The characters from position `start` on; a negative start counts from the end.

    A negative length takes the characters before that position.

    >>> substring("hello", 2, 3), substring("hello", -2), substring("hello", 0, 3), substring("hello", 5, -2)
    ('ell', 'lo', 'he', 'll')
    """
    begin = start - 1 if start >= 0 else len(text) + start
    if length is None:
        return text[max(begin, 0) :]
    end = begin + length
    return text[max(min(begin, end), 0) : max(begin, end, 0)]


def replace(text: str, old: str, new: str) -> str | None:
    """The string with every occurrence of `old` replaced; the empty string occurs nowhere."""
    if not old:
        return text
    if len(new) > len(old) and len(text) + text.count(old) * (len(new) - len(old)) > LONGEST:
        return too_long("replace")
    return text.replace(old, new)


def right(text: str, count: int) -> str:
    """The last characters; with a negative count, all but the first."""
    return text[-count:] if count < 0 else text[max(len(text) - count, 0) :]


def lpad(text: str, length: int, filling: str) -> str | None:
    """The string filled up on the left, or cut on the right, to a length; unknown if the filling is empty."""
    return _padded(text, length, filling, is_left=True)


def rpad(text: str, length: int, filling: str) -> str | None:
    """The string filled up, or cut, on the right to a length; unknown if the filling is empty."""
    return _padded(text, length, filling, is_left=False)


def _padded(text: str, length: int, filling: str, is_left: bool) -> str | None:
    missing = length - len(text)
    if missing <= 0:
        return text[: max(length, 0)]
    if not filling:
        return None
    if length > LONGEST:
        return too_long("lpad" if is_left else "rpad")
    added = (filling * (missing // len(filling) + 1))[:missing]
    return added + text if is_left else text + added


def repeat(text: str, count: int) -> str | None:
    """The string repeated `count` times."""
    if count <= 0 or not text:
        return ""
    return text * count if len(text) * count <= LONGEST else too_long("repeat")


def split_part(text: str, separator: str, number: int) -> str:
    """The part with that number, from the end if negative; empty if there is none.

    >>> split_part("a,b,c", ",", 2), split_part("a,b,c", ",", -1), split_part("a", ",", 2)
    ('b', 'c', '')
    """
    parts = text.split(separator) if separator else list(text)
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if number and 0 <= index < len(parts) else ""


def character(code: int) -> str | None:
    """The character of a code point."""
    return chr(code) if 0 <= code < 0xD800 or 0xDFFF < code <= 0x10FFFF else None


def concatenated(*texts: str | None) -> str:
    """The known strings, joined."""
    return "".join([text for text in texts if text is not None])


def separated(separator: str, *texts: str | None) -> str:
    """The known strings, joined with a separator between them."""
    return separator.join([text for text in texts if text is not None])


@dataclass(frozen=True, slots=True)
class Joining(Function):
    """`||`: any number of values, as strings, joined."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        """True if an argument may be unknown, or may have no text."""
        return any(a.nullable or a.type is Type.ANY for a in arguments)

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        if any(argument.is_null for argument in arguments):
            return "None"
        nullable = [argument.nullable or argument.type is Type.ANY for argument in arguments]
        known = _as_text(arguments, texts, scope)
        return guarded(known, nullable, scope, lambda names: f"({' + '.join(names)})")


@dataclass(frozen=True, slots=True)
class Concat(Function):
    """`concat`: the known values, as strings, joined."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        return False

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """A sum if all are known, else a call."""
        texts = _as_text(arguments, texts, scope)
        if any(argument.nullable or argument.type is Type.ANY for argument in arguments):
            return f"{scope.bind(self.run)}({', '.join(texts)})"
        return f"({' + '.join(texts)})"


@dataclass(frozen=True, slots=True)
class ConcatWithSeparator(Function):
    """`concat_ws`: the known values with a separator between them; unknown if the separator is."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        return arguments[0].nullable or self._needs_tolerance(arguments)

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """A call, guarded by the separator."""
        if arguments[0].is_null:
            return "None"
        first, *rest = arguments
        texts = [texts[0], *_as_text(rest, texts[1:], scope)]
        known = [Argument(a.expression, Type.STRING, False) for a in rest]
        return Function.source(self, [first, *known], texts, scope)


def _as_text(arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> list[str]:
    return [
        text
        if argument.type is Type.STRING or argument.is_null
        else f"{scope.bind(conversion(argument.type, Type.STRING))}({text})"
        for argument, text in zip(arguments, texts, strict=True)
    ]


def _inlined(
    name: str, parameters: tuple[Parameter, ...], inline: str, result: Type = Type.STRING
) -> Function:
    """A function that is defined by its inline source."""
    names = [f"x{i}" for i in range(len(parameters))]
    run: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {inline.format(*names)}")
    return Function(name, parameters, run, result, inline=inline)


def _trimming(name: str, method: str) -> Function:
    def run(text: str, characters: str = SPACES) -> str:
        trimmed: str = getattr(text, method)(characters)
        return trimmed

    return Function(name, (STRING, STRING), run, Type.STRING, optional=1)


_STRING_FUNCTIONS = (
    _inlined("lower", (STRING,), "{0}.lower()"),
    _inlined("upper", (STRING,), "{0}.upper()"),
    _inlined("length", (STRING,), "len({0})", Type.INTEGER),
    _trimming("trim", "strip"),
    _trimming("ltrim", "lstrip"),
    _trimming("rtrim", "rstrip"),
    Function("substring", (STRING, INTEGER, INTEGER), substring, Type.STRING, optional=1),
    Function("replace", (STRING, STRING, STRING), replace, Type.STRING, may_fail=True),
    _inlined("position", (STRING, STRING), "({1}.find({0}) + 1)", Type.INTEGER),
    _inlined("strpos", (STRING, STRING), "({0}.find({1}) + 1)", Type.INTEGER),
    _inlined("starts_with", (STRING, STRING), "{0}.startswith({1})", Type.BOOLEAN),
    _inlined("ends_with", (STRING, STRING), "{0}.endswith({1})", Type.BOOLEAN),
    _inlined("contains", (STRING, STRING), "({1} in {0})", Type.BOOLEAN),
    Joining("||", (VALUE, VALUE), concatenated, Type.STRING, repeats=True, words=("||",)),
    Concat("concat", (VALUE,), concatenated, Type.STRING, repeats=True),
    ConcatWithSeparator("concat_ws", (STRING, VALUE), separated, Type.STRING, repeats=True),
    _inlined("left", (STRING, INTEGER), "{0}[:{1}]"),
    Function("right", (STRING, INTEGER), right, Type.STRING),
    _inlined("reverse", (STRING,), "{0}[::-1]"),
    Function("lpad", (STRING, INTEGER, STRING), lpad, Type.STRING, may_fail=True),
    Function("rpad", (STRING, INTEGER, STRING), rpad, Type.STRING, may_fail=True),
    Function("repeat", (STRING, INTEGER), repeat, Type.STRING, may_fail=True),
    Function("split_part", (STRING, STRING, INTEGER), split_part, Type.STRING),
    Function("ascii", (STRING,), lambda text: ord(text[0]) if text else 0, Type.INTEGER),
    Function("chr", (INTEGER,), character, Type.STRING, may_fail=True),
)

STRING_FUNCTIONS: Mapping[str, Function] = {function.name: function for function in _STRING_FUNCTIONS}
