"""Functions that compare values, or choose among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from midstream.plans.functions.function import (
    VALUE,
    Argument,
    Function,
    Names,
    choice,
    chosen_text,
    common_type,
    guarded,
    may_exceed,
)
from midstream.plans.values.finite import within_floats
from midstream.plans.values.schema import Type


@dataclass(frozen=True, slots=True)
class ComparingFunction(Function):
    """A function of values that can be compared with each other."""

    def kind(self, arguments: Sequence[Argument]) -> tuple[Type, bool]:
        """Boolean; or, if the result is declared as ANY, the common type of the arguments."""
        common = common_type(self.name, arguments)
        if self.result is not Type.ANY:
            return Type.BOOLEAN, self.gives_unknown(arguments)
        return common, self.gives_unknown(arguments) or may_exceed(arguments, common)

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """As of any function; a chosen value may have to be checked against the range of floats."""
        if self.result is not Type.ANY:
            return self._chosen(arguments, texts, scope)
        common = common_type(self.name, arguments)
        texts = [chosen_text(*one, common, scope) for one in zip(arguments, texts, strict=True)]
        chosen = self._chosen(arguments, texts, scope)
        if may_exceed(arguments, common):
            return f"{scope.bind(within_floats)}({chosen})"
        return chosen

    def _chosen(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        return Function.source(self, arguments, texts, scope)


@dataclass(frozen=True, slots=True)
class CoalesceFunction(ComparingFunction):
    """`coalesce`: the first known value; values behind it are not evaluated."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        return all(argument.nullable for argument in arguments)

    def _chosen(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        branches: list[tuple[str, str]] = []
        for argument, text in zip(arguments, texts, strict=True):
            if not argument.nullable:
                return choice(branches, text)
            if not argument.is_null:
                name = scope.fresh()
                branches.append((f"({name} := {text}) is not None", name))
        return choice(branches, "None")


@dataclass(frozen=True, slots=True)
class ExtremeFunction(ComparingFunction):
    """`greatest` and `least`: the extreme of the known values; unknown if none is known."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        return all(argument.nullable for argument in arguments)

    def _chosen(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        pairs = zip(arguments, texts, strict=True)
        known = [(argument, text) for argument, text in pairs if not argument.is_null]
        if len(known) < 2:
            return known[0][1] if known else "None"
        is_open = any(argument.nullable for argument, _ in known)
        run = scope.bind(_of_known(self.run) if is_open else self.run)
        return f"{run}({', '.join(text for _, text in known)})"


@cache
def _of_known(choose: Callable[..., Any]) -> Callable[..., Any]:
    """An extreme of values, some of which may be unknown."""

    def run(*values: Any) -> Any:
        return choose((value for value in values if value is not None), default=None)

    return run


@dataclass(frozen=True, slots=True)
class NullIf(ComparingFunction):
    """`nullif`: the first value, or unknown if it equals the second."""

    def kind(self, arguments: Sequence[Argument]) -> tuple[Type, bool]:
        """The type of the first argument."""
        ComparingFunction.kind(self, arguments)
        return arguments[0].type, True

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """A comparison, which also accepts unknown values."""
        name = scope.fresh()
        return f"(None if ({name} := {texts[0]}) == {texts[1]} else {name})"


@dataclass(frozen=True, slots=True)
class IsDistinctFrom(ComparingFunction):
    """`is distinct from`: true if two values differ; unknown counts as a value."""

    def gives_unknown(self, arguments: Sequence[Argument]) -> bool:
        return False

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        return f"({texts[0]} != {texts[1]})"


@dataclass(frozen=True, slots=True)
class In(ComparingFunction):
    """`in`: true if the first value equals one of the others.

    The result is unknown if it equals none of them, but one is unknown. Constants are looked up in a set.

    Cost     O(1), and O(1) more for each value that is no constant.
    """

    def source(self, arguments: Sequence[Argument], texts: Sequence[str], scope: Names) -> str:
        """A look-up if all but the first are known constants, else a call."""
        first, *rest = arguments
        if first.is_null:
            return "None"
        known = frozenset(argument.value for argument in rest if argument.is_constant)
        others = [text for argument, text in zip(rest, texts[1:], strict=True) if not argument.is_constant]
        if not others and None not in known:
            name = scope.bind(known)
            return guarded(texts[:1], [first.nullable], scope, lambda value: f"({value[0]} in {name})")
        run = scope.bind(_membership(known))
        return f"{run}({texts[0]}, ({''.join(f'{text}, ' for text in others)}))"

    def spelled(self, texts: Sequence[str]) -> str:
        return f"{texts[0]} in ({', '.join(texts[1:])})"


def _membership(known: frozenset[Any]) -> Any:
    is_open = None in known

    def is_in(value: Any, others: tuple[Any, ...]) -> bool | None:
        if value is None:
            return None
        if value in known or value in others:
            return True
        return None if is_open or None in others else False

    return is_in


def _never(*arguments: Any) -> Any:
    raise AssertionError(f"{arguments}: this function is compiled inline")


CONDITION_FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (
        ExtremeFunction("greatest", (VALUE, VALUE), max, Type.ANY, repeats=True),
        ExtremeFunction("least", (VALUE, VALUE), min, Type.ANY, repeats=True),
        CoalesceFunction("coalesce", (VALUE,), _never, Type.ANY, repeats=True),
        NullIf("nullif", (VALUE, VALUE), _never, Type.ANY),
        IsDistinctFrom(
            "is distinct from",
            (VALUE, VALUE),
            _never,
            Type.BOOLEAN,
            words=("is distinct from",),
        ),
        In("in", (VALUE, VALUE), _never, Type.BOOLEAN, repeats=True, words=("in",)),
    )
}
