"""The names of `import midstream as ms`, and of the modules that have more."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import re
from pathlib import Path
from types import ModuleType

import pytest

import midstream as ms
import midstream.io
from midstream.plans.values import errors as all_errors

MODULES = (ms.autopilot, ms.boxes, ms.errors, ms.functions, ms.migration, ms.optimizer, ms.plans)


def last_name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def test_a_first_user_sees_few_names() -> None:
    assert len(ms.__all__) <= 70
    assert all(hasattr(ms, name) for name in ms.__all__)


def test_the_package_shows_its_public_names_and_modules() -> None:
    shown = [name for name in dir(ms) if not name.startswith("__")]
    assert sorted(shown) == sorted([*ms.__all__, *map(last_name, MODULES)])
    assert {"__version__", "__all__", "__doc__"} <= set(dir(ms))


@pytest.mark.parametrize("module", MODULES, ids=last_name)
def test_a_module_lists_its_names(module: ModuleType) -> None:
    assert module.__doc__ is not None and f"ms.{last_name(module)} " in str(ms.__doc__)
    for name in module.__all__:
        assert hasattr(module, name)
        assert re.search(rf"\b{name}\b", module.__doc__), name


@pytest.mark.parametrize("module", MODULES, ids=last_name)
def test_a_name_of_a_module_is_the_same_thing_or_refers_to_it(module: ModuleType) -> None:
    for name in module.__all__:
        if name in ms.__all__:
            assert getattr(ms, name) is getattr(module, name)
        else:
            with pytest.raises(AttributeError, match=rf"midstream has no {name}; expected {module.__name__}"):
                getattr(ms, name)


def test_other_names_raise_what_modules_raise() -> None:
    with pytest.raises(AttributeError, match="module 'midstream' has no attribute 'strem'") as raised:
        ms.strem  # noqa: B018
    assert (raised.value.name, raised.value.obj) == ("strem", ms)


@pytest.mark.parametrize("package", [ms, ms.plans, midstream.io], ids=lambda package: package.__name__)
def test_readers_of_the_code_see_the_names_that_are_imported_on_demand(package: ModuleType) -> None:
    """The imports for type checkers are those that the package makes."""
    assert package.__file__ is not None
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    imports = {
        alias.name: node.module
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    modules = [last_name(module) for module in MODULES] if package is ms else []
    assert sorted(imports) == sorted([*package.__all__, *modules])
    for name, module in imports.items():
        value = importlib.import_module(f"midstream.{name}") if name in modules else getattr(package, name)
        assert value is getattr(importlib.import_module(str(module)), name)
        assert value is getattr(package, name)


def test_names_are_pickled_by_where_they_stand() -> None:
    for name in ("Engine", "Statistics", "MidstreamError", "run"):
        assert pickle.loads(pickle.dumps(getattr(ms, name))) is getattr(ms, name)


def test_all_errors_stand_in_one_module() -> None:
    classes = [value for value in vars(all_errors).values() if inspect.isclass(value)]
    assert {one.__name__ for one in classes if issubclass(one, Exception)} == set(ms.errors.__all__)
