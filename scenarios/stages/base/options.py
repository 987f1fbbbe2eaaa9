"""Options of stages, and kinds of values that several stages have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from midstream.plans.values.schema import suggest
from midstream.scenarios.stages.base.request import Request
from midstream.scenarios.streams.stream_spec import Strict


class Options(Strict):
    """Options of a stage.

    A field is a key in a study file, an option of the stage's command and an argument in Python; its
    description is the help of all three.
    """

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))


FileName = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]
"""The name of a file; programs may give a path."""

PlanFile = Annotated[
    FileName | None, Field(description="A JSON file with the plan; by default the declared query.")
]


def listed(value: Any) -> Any:
    """A list of a sequence, or of one value that may stand for itself."""
    if isinstance(value, str | int | float | Path):
        return [value]
    return list(value) if isinstance(value, Sequence) else value


def _names(value: Any) -> Any:
    """A list of names, each once; texts may hold several with commas between."""
    value = listed(value)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return value
    return list(dict.fromkeys(name for text in value for name in text.split(",")))


Names = Annotated[list[str], BeforeValidator(_names)]
"""Names in a list, or in a text with commas between."""

Mutant = Annotated[
    str | None,
    AfterValidator(lambda name: name and _reachable(name)),
    Field(description="A planted fault, which the stage is to find."),
]


def _reachable(name: str) -> str:
    """The name of a mutant, if a single migration of a single query can show it."""
    from midstream.testing.mutants import MUTANTS

    if name not in MUTANTS:
        known = ", ".join(one for one, mutant in MUTANTS.items() if not mutant.beyond)
        raise ValueError(f"one of {known}{suggest(name, MUTANTS)}")
    if beyond := MUTANTS[name].beyond:
        raise ValueError(f"another one, for this is out of reach: {beyond}")
    return name


def require_names(request: Request, option: str, names: Iterable[str], choices: Collection[str]) -> None:
    """Raise the request's error for a name that is not known."""
    for name in names:
        if name not in choices:
            raise request.error(
                option, f"found {name}, expected some of {', '.join(choices)}{suggest(name, choices)}"
            )
