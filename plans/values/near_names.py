"""Objects that name the nearest attribute where one is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from midstream.plans.values.schema import suggest_spelling, suggestion


class NearNames:
    """A base class whose AttributeErrors name the attribute that was meant.

    That is one whose name differs by a letter, or one that does what another library calls by this name.
    """

    __slots__ = ()

    _elsewhere: ClassVar[Mapping[str, str]] = {}
    """Attributes here by the names that Polars, pandas, PySpark and SQL have for them; empty for none."""

    if not TYPE_CHECKING:  # To a type checker, an object with `__getattr__` would have every attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise the error for an attribute that is missing."""
            kind = type(self)
            if hasattr(kind, name):
                return object.__getattribute__(
                    self, name
                )  # a property has raised: again, not as a missing one
            meant = ""
            if not name.startswith("_"):
                instead = self._elsewhere.get(name)
                public = (one for one in dir(kind) if not one.startswith("_"))
                meant = suggest_spelling(name, public) if instead is None else instead and suggestion(instead)
            # With an object, Python would add its own guess behind this one.
            raise AttributeError(f"{kind.__name__} has no attribute {name}{meant}", name=name, obj=None)
