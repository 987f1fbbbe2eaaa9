"""Plain words: see `plain_words.py` for what is asked of docstrings and names."""

from __future__ import annotations

import pytest
from plain_words import EXCEPTIONS, RIDDLES, ROOMS, ROOT, faults, files, repeated_classes


@pytest.mark.parametrize("folder", ROOMS)
def test_docstrings_and_names_are_plain(folder: str) -> None:
    assert [*files([folder])]
    assert [fault for path in files([folder]) for fault in faults(path)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_class_name_stands_once_in_a_room(room: str) -> None:
    assert [*repeated_classes(room)] == []


def test_exceptions_are_few_and_have_reasons() -> None:
    assert len(EXCEPTIONS) <= 20
    assert all(reason.endswith(".") for reason in EXCEPTIONS.values())


def test_faults_are_found(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("plain_words.ROOT", tmp_path)
    path = tmp_path / "given.py"
    path.write_text(
        '''"""Whether it
is."""

class Found:
    """A thing. Another thing."""

    kept: int
    """How many"""

    def told(self, other: int, rest: int) -> None:
        """Tell."""
'''
    )
    assert [fault.partition(": ")[2] for fault in faults(path)] == [
        "the module is called given",
        "the first line begins with Whether",
        "the first line does not end its sentence",
        "the first line holds more than one sentence",
        "the first line begins with How",
        "the first line does not end with a full stop",
        "a public name is kept",
        "a public name is told",
        "a public name is rest",
    ]
    assert (ROOT / "tests").is_dir() and RIDDLES.match("Untilled") is None
