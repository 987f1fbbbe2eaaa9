"""What the simulator wants to know of a migration, and to do with it."""

from __future__ import annotations

from midstream.migration.machine import Migration
from midstream.operators.box import Box
from midstream.plans.errors import MigrationRefused
from midstream.plans.streams import Element

OVER = ("done", "aborted")
"""The phases in which nothing more will happen."""


def is_over(migration: Migration) -> bool:
    """Whether one plan goes on alone."""
    return migration.phase.value in OVER


def sizes(migration: Migration) -> tuple[int, int, int]:
    """The state of the old box, of the new one, and what is held between them, in elements."""
    held = sum(len(joiner) for joiner in migration._joiners)
    return 0 if migration.old is None else migration.old.size(), migration.new.size(), held


def boxes(migration: Migration) -> list[Box]:
    """The boxes that it lets run; those of a migration that it replaces are that one's."""
    old = migration.old
    return [migration.new] if old is None or isinstance(old, Migration) else [old, migration.new]


def abort(migration: Migration) -> list[Element]:
    """Give a migration up; what becomes ready by that. Raises MigrationRefused where it is too late."""
    give_up = getattr(migration, "abort", None)
    if give_up is None:
        raise MigrationRefused("migrations cannot be given up yet")
    ready: list[list[Element]] = give_up("the scenario asks for it")
    return ready[0]
