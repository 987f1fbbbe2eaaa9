"""Functions that match patterns: LIKE and regular expressions.

Regular expressions are Python's. Where RE2, which DuckDB uses, reads an expression differently, RE2's meaning
holds: `$` is the very end, classes such as `[[:alpha:]]` exist, and `\\d`, `\\s` and `\\w` are about ASCII,
unless the pattern ignores case. Python takes exponential time for patterns such as `(a+)+b`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping

from midstream.plans.functions.function import LONGEST, STRING, Body, Prepared, prepared, too_long
from midstream.plans.values.schema import Type

MANY, ONE = "%", "_"

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


def like(pattern: str, escape: str = "") -> Body:
    """True where a string matches a pattern: `%` stands for any characters, `_` for one.

    >>> like("a%"), like("ab")
    (Body(template='{0}.startswith({p})', objects={'p': 'a'}, may_fail=False), \
Body(template='({0} == {p})', objects={'p': 'ab'}, may_fail=False))
    """
    segments = _segments(pattern, escape)
    texts = ["".join(segment) for segment in segments]
    if all(item for segment in segments for item in segment):
        match texts:
            case [whole]:
                return Body("({0} == {p})", {"p": whole})
            case [start, ""]:
                return Body("{0}.startswith({p})", {"p": start})
            case ["", end]:
                return Body("{0}.endswith({p})", {"p": end})
            case ["", part, ""]:
                return Body("({p} in {0})", {"p": part})
    return Body("({p}({0}) is not None)", {"p": _like_expression(segments).fullmatch})


def ilike(pattern: str, escape: str = "") -> Body:
    """As `like`, without regard to case; the escape character is compared with the pattern in lower case."""
    segments = _segments(pattern.lower(), escape)
    return Body("({p}({0}.lower()) is not None)", {"p": _like_expression(segments).fullmatch})


def _segments(pattern: str, escape: str) -> list[list[str]]:
    """The parts between the `%` of a pattern: characters, and empty strings for `_`."""
    if len(escape) > 1:
        raise ValueError(f"found escape {escape!r}, expected one character")
    segments: list[list[str]] = [[]]
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None:
                raise ValueError(f"found pattern {pattern!r}, which ends with its escape character")
            segments[-1].append(escaped)
        elif character == MANY:
            segments.append([])
        else:
            segments[-1].append("" if character == ONE else character)
    return segments


def _like_expression(segments: list[list[str]]) -> re.Pattern[str]:
    """An expression that matches each segment at its first occurrence, without backtracking.

    Trying all places would take exponential time.
    """
    first, *rest = ["".join(re.escape(item) if item else "." for item in segment) for segment in segments]
    if not rest:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{segment})" for segment in rest[:-1])
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)


def regexp_matches(pattern: str, options: str = "") -> Body:
    """True where a regular expression matches somewhere in a string.

    Options: `i` ignores case, `c` does not, `s` lets a dot match a line end, `l` takes the pattern literally.
    """
    return Body("({p}({0}) is not None)", {"p": _expression(pattern, options, "cilmnps").search})


def regexp_replace(pattern: str, replacement: str, options: str = "") -> Body:
    """The string with the first match replaced, or with `g` all matches; `\\1` stands for the first group."""
    expression = _expression(pattern, options.replace("g", ""), "cilmnps")
    parts = list(_rewriting(replacement, expression.groups))
    is_global = "g" in options

    def run(text: str) -> str | None:
        pieces: list[str] = []
        end = size = 0
        previous = -1
        for match in expression.finditer(text):
            if match.start() == match.end() == previous:
                # Python finds an empty match at the end of the previous match; RE2 does not.
                continue
            previous = match.end()
            pieces.append(text[end : match.start()])
            added = "".join([part if isinstance(part, str) else match[part] or "" for part in parts])
            size += len(pieces[-1]) + len(added)
            if size > LONGEST:
                return too_long("regexp_replace")
            pieces.append(added)
            end = match.end()
            if not is_global:
                break
        return "".join(pieces) + text[end:]

    return Body("{p}({0})", {"p": run}, may_fail=True)


def _rewriting(replacement: str, groups: int) -> Iterator[str | int]:
    """The texts of a replacement, and the numbers of its groups."""
    characters = iter(replacement)
    for character in characters:
        if character != "\\":
            yield character
            continue
        escaped = next(characters, "")
        if escaped == "\\":
            yield escaped
        elif escaped in set("0123456789"):
            if int(escaped) > groups:
                raise ValueError(f"found \\{escaped} in a replacement, expected one of {groups} groups")
            yield int(escaped)
        else:
            raise ValueError(f"found {replacement!r}, expected a digit or a backslash behind a backslash")


def _expression(pattern: str, options: str, known: str) -> re.Pattern[str]:
    odd = set(options) - set(known)
    if odd:
        raise ValueError(f"found option {min(odd)!r}, expected some of {', '.join(known)}")
    flags = re.DOTALL if "s" in options else 0
    ignores_case = "i" in options and "c" not in options[options.rindex("i") :]
    flags |= re.IGNORECASE if ignores_case else 0
    source = re.escape(pattern) if "l" in options else "".join(_translated(pattern))
    has_flag = re.match(r"\(\?[a-z]*i", pattern)
    flags |= 0 if ignores_case or has_flag else re.ASCII
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(source, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"found {pattern!r}, which is no regular expression: {error}") from error


_PERL_CLASSES = {r"\w": "0-9A-Za-z_", r"\d": "0-9", r"\s": r"\t\n\f\r "}


def _translated(pattern: str) -> Iterator[str]:
    """A pattern with RE2's `$`, `\\z` and classes in Python's syntax.

    `\\w` and the like cover ASCII only, also if case is ignored: Python has no flag for both.
    """
    is_multiline = re.match(r"\(\?[a-z]*m", pattern)
    position = 0
    in_class = False
    while position < len(pattern):
        taken = pattern[position : position + 2] if pattern[position] == "\\" else pattern[position]
        named = re.compile(r"\[:(\w+):\]").match(pattern, position) if in_class else None
        if named and named[1] in _CLASSES:
            taken = named[0]
            yield _CLASSES[named[1]]
        elif taken in _PERL_CLASSES:
            yield _PERL_CLASSES[taken] if in_class else f"[{_PERL_CLASSES[taken]}]"
        elif taken.lower() in _PERL_CLASSES and not in_class:
            yield f"[^{_PERL_CLASSES[taken.lower()]}]"
        elif in_class:
            in_class = taken != "]"
            yield taken
        elif taken == "[":
            # A closing bracket at the start of a class is a member of the class.
            opening = re.compile(r"\[\^?\]?").match(pattern, position)
            assert opening is not None
            taken = opening[0]
            in_class = True
            yield taken
        elif taken == "$" and not is_multiline:
            yield r"\Z"
        else:
            yield r"\Z" if taken == r"\z" else taken
        position += len(taken)


def _likeness(name: str, prepare: Callable[..., Body]) -> Prepared:
    words = (name, "escape")
    return prepared(name, (STRING,) * 3, prepare, Type.BOOLEAN, (1, 2), optional=1, words=words)


PATTERN_FUNCTIONS: Mapping[str, Prepared] = {
    function.name: function
    for function in (
        _likeness("like", like),
        _likeness("ilike", ilike),
        prepared("regexp_matches", (STRING,) * 3, regexp_matches, Type.BOOLEAN, (1, 2), optional=1),
        prepared("regexp_replace", (STRING,) * 4, regexp_replace, Type.STRING, (1, 2, 3), optional=1),
    )
}
