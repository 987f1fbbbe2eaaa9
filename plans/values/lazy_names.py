"""Names of a package that are imported when they are first read (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from threading import RLock

_IMPORTING = RLock()
"""Held by the thread that imports a name.

A package and a module in it have locks of their own, which two threads may take in different orders. No
module reads a lazy name while it is imported, so a thread that holds such a lock does not wait for this one.
"""

LazyNames = tuple[list[str], Callable[[str], object], Callable[[], list[str]]]


def lazy_names(package: str, homes: Mapping[str, str], modules: Sequence[str] = ()) -> LazyNames:
    """The `__all__`, `__getattr__` and `__dir__` of a package.

    homes      by module below the package, the names that stand there, with spaces between
    modules    modules below the package that count as names, but not for `import *`

    A name becomes an attribute of the package when it is first read. Several threads may read it: they wait
    for each other, and each gets the same object.

    >>> names, read, _ = lazy_names("midstream", {"plans.values.streams": "FOREVER"})
    >>> names, read("FOREVER")
    (['FOREVER'], inf)
    >>> read("foreever")
    Traceback (most recent call last):
    AttributeError: module 'midstream' has no attribute 'foreever'
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def read(name: str) -> object:
        if name in modules:
            with _IMPORTING:
                return import_module(f"{package}.{name}")
        if name not in home:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package]
            )
        with _IMPORTING:
            value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(home)

    def shown() -> list[str]:
        """The public names only: importing them makes attributes of internal packages, too."""
        dunder = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return [*names, *modules, *dunder]

    return names, read, shown
