"""Each room's README maps the room: it names every module once, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOMS = {
    "plans": ("algebra", "equivalence", "expressions", "functions", "pictures", "sql", "values"),
    "operators": (
        "aggregation",
        "base",
        "compile",
        "engine",
        "functions",
        "joins",
        "rows",
        "signs",
        "windows",
    ),
    "optimizer": ("allocation", "charts", "cost", "online", "rules", "sampling", "search", "verification"),
    "migration": (),
    "autopilot": ("costs",),
    "benchmarks": (),
    "midstream": ("commands", "console", "io", "testing"),
    "scenarios": ("recordings", "reports", "spark", "stages", "streams", "trials"),
}
"""The top rooms, each with its folders that have a README of their own."""
MAPPED = [folder for room, inner in ROOMS.items() for folder in (room, *(f"{room}/{one}" for one in inner))]
ROW = re.compile(r"^\| (\[.+?) \|", re.MULTILINE)
"""The first cell of a row that links to modules."""
DOOR = re.compile(r"\*\*Door\.\*\*(.+?)\n\n", re.DOTALL)
NAME = re.compile(r"(?<!\[)`(\w+)`(?!\])")
"""A name of Python in a text, not that of a link."""
LINK = re.compile(r"\[`([\w/]+)`\]\(([\w/.]+)\)")


def linked(readme: str) -> list[str]:
    """The modules and folders on a map, as their paths; each is written as it is named."""
    links = [link for cell in ROW.findall(readme) for link in LINK.findall(cell)]
    for name, path in links:
        assert name in (path.removesuffix(".py"), f"{path}/"), (
            f"the link [`{name}`]({path}) misnames its target"
        )
    return [path.removesuffix(".py") for _, path in links]


def modules(room: Path) -> set[str]:
    """The modules in a folder and below, without packages themselves."""
    paths = (path.relative_to(room) for path in room.rglob("*.py") if path.name != "__init__.py")
    return {path.with_suffix("").as_posix() for path in paths}


def faults(names: list[str], inside: set[str]) -> list[str]:
    """The differences between a map and a tree."""
    folders = {parent.as_posix() for module in inside for parent in Path(module).parents}
    wrong = [f"{name} is named twice" for name in sorted({name for name in names if names.count(name) > 1})]
    wrong += [f"{name} is not there" for name in names if name.rstrip("/") not in inside | folders]
    for module in sorted(inside):
        places = [name for name in names if module == name or module.startswith(f"{name.rstrip('/')}/")]
        if len(set(places)) != 1:
            wrong.append(f"{module} is named by {places or 'nothing'}, expected one name")
    return wrong


@pytest.fixture
def tree(root: Path) -> Path:
    if not (root / "plans").exists():
        pytest.skip("the rooms are not next to the tests")
    return root


@pytest.mark.parametrize("folder", MAPPED)
def test_a_readme_maps_its_room(tree: Path, folder: str) -> None:
    readme = tree / folder / "README.md"
    assert readme.is_file(), f"{folder} has no README.md"
    text = readme.read_text(encoding="utf-8")
    assert faults(linked(text), modules(tree / folder)) == []
    for heading in ("**Door.**", "**Used by.**"):
        assert text.count(heading) == 1, f"{folder}/README.md has no paragraph {heading}"


@pytest.mark.parametrize("folder", MAPPED)
def test_the_names_at_a_door_exist(tree: Path, folder: str) -> None:
    door = DOOR.search((tree / folder / "README.md").read_text(encoding="utf-8"))
    assert door is not None
    defined = {
        name
        for path in (tree / folder).rglob("*.py")
        for name in re.findall(
            r"^(?:class |def )?(\w+)\b *[(:=\[]", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert set(NAME.findall(door[1])) - {"__init__"} <= defined


@pytest.mark.parametrize("room", ROOMS)
def test_every_folder_of_a_room_has_a_readme(tree: Path, room: str) -> None:
    inner = (path.parent for path in (tree / room).glob("*/__init__.py"))
    folders = {path.name for path in inner if not path.is_symlink()}  # midstream/ links to the other rooms
    assert folders == set(ROOMS[room])


def test_no_readme_is_left_out(tree: Path) -> None:
    """A README in a room is compared with the tree as soon as it is there."""
    rooms = {path.parent.name for path in tree.glob("*/__init__.py")}
    assert rooms >= set(ROOMS)
    found = {
        path.parent.relative_to(tree).as_posix()
        for room in rooms
        for path in (tree / room).rglob("README.md")
    }
    assert found == set(MAPPED)


def test_differences_are_found() -> None:
    inside = {"a", "inner/b", "inner/c"}
    assert faults(["a", "inner"], inside) == []
    assert faults(["a", "inner/b", "inner/c"], inside) == []
    assert faults(["a", "a", "inner"], inside) == ["a is named twice"]
    assert faults(["a", "inner", "gone"], inside) == ["gone is not there"]
    assert faults(["inner"], inside) == ["a is named by nothing, expected one name"]
    assert faults(["a", "inner", "inner/b"], inside) == [
        "inner/b is named by ['inner', 'inner/b'], expected one name"
    ]
    assert linked("| [`a`](a.py), [`inner/`](inner) | [`b`](b.py) |\n| file | holds |\n") == ["a", "inner"]
