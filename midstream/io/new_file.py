"""Files that have their names once they are complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from errno import EACCES, EISDIR
from itertools import count
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from midstream.io.errors import ConnectorError
from midstream.io.output import STDOUT, TextOutput
from midstream.plans.values.errors import InputFileError

UNFINISHED = ".unfinished"
"""The end of the name of what is kept though it is not complete."""


def _nothing() -> str:
    return ""


class NewFile:
    """A file that gets its name at the end of a `with` block that did not fail.

    Until then it is written in `place`, beside its name, and what the name stood for before stays. Where a
    link has the name, what it leads to is replaced. What is no regular file (standard output, a device, a
    pipe) is its own place.

    name    what errors call it; by default its path
    told    says in words what the file holds so far, "" for nothing worth keeping. A failed block keeps the
            rest in a file NAME.unfinished, and the error gets a note that says so

    Raises   ConnectorError, from the beginning, where the file cannot be made.

    >>> with NewFile("results.txt") as file:
    ...     size = Path(file.place).write_text("all")
    ...     os.path.exists("results.txt")
    False
    >>> Path("results.txt").read_text()
    'all'
    >>> with NewFile("results.txt", told=lambda: "half of it") as file:
    ...     size = Path(file.place).write_text("ha")
    ...     file.hold_back()
    >>> Path("results.txt").read_text(), file.note
    ('all', 'results.txt.unfinished holds half of it')
    """

    def __init__(
        self, path: str | os.PathLike[str], *, name: str | None = None, told: Callable[[], str] = _nothing
    ) -> None:
        self.path = os.fspath(path)
        self.name = self.path if name is None else name
        self.told = told
        self.note = ""
        """What has been kept of an unfinished file, and where."""
        self._is_held_back = False
        self._target: Path | None = None
        self.place = self.path
        try:
            if self.path != STDOUT:
                self._prepare(Path(self.path))
        except OSError as error:
            raise ConnectorError(f"{self.name}: {error.strerror or error}", path=self.path) from error

    def _prepare(self, path: Path) -> None:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if is_special(path):
            return
        target = Path(os.path.realpath(path))
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        # Suffixes tell formats. A name of its own for each run: two at the same time must not share a file.
        place = target.with_name(f".{token_hex(4)}{UNFINISHED}{''.join(path.suffixes[-2:])}")
        self._target, self.place = target, str(place)
        try:
            place.open("xb").close()
        except KeyboardInterrupt as interruption:
            place.unlink(missing_ok=True)
            self._tell(interruption, is_complete=False)
            raise

    @property
    def is_special(self) -> bool:
        """Whether this is standard output, a device or a pipe, which is written where it is."""
        return self._target is None

    def write(self, content: str | bytes) -> None:
        """Write all that it is to hold."""
        with closing(TextOutput(self.place, self.name)) as output:
            output.write(content)

    def hold_back(self) -> None:
        """Treat the file as unfinished, though the block has come to its end."""
        self._is_held_back = True

    def discard(self) -> None:
        """Keep nothing of the file if the block fails."""
        self.told = _nothing

    def finish(self) -> None:
        """Give the file its name."""
        if self._target is None:
            return
        try:
            if self._target.exists():
                shutil.copymode(self._target, self.place)
            os.replace(self.place, self._target)
        except OSError as error:
            raise ConnectorError(f"{self.name}: {error.strerror or error}", path=self.path) from error

    def give_up(self) -> None:
        """Keep what is worth it under another name, and remove the rest."""
        if self._target is None or not os.path.exists(self.place):
            return
        told = self.told()
        if not told:
            with suppress(OSError):
                os.unlink(self.place)
            return
        number, kept = count(2), f"{self._target}{UNFINISHED}"
        while os.path.exists(kept):  # of an earlier run, whose results are not to be lost either
            kept = f"{self._target}{UNFINISHED}-{next(number)}"
        try:
            os.replace(self.place, kept)
        except OSError:
            kept = self.place
        # As the user calls it, unless that is a link to a file elsewhere.
        folder = os.path.dirname(kept if os.path.islink(self.path) else self.path)
        self.note = f"{os.path.join(folder, os.path.basename(kept))} holds {told}"

    def __enter__(self) -> NewFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and not self._is_held_back:
                self.finish()
        except BaseException as failure:
            error = failure
            raise
        finally:
            is_complete = not os.path.exists(self.place)
            self.give_up()
            if error is not None:
                self._tell(error, is_complete=is_complete)

    def _tell(self, error: BaseException, *, is_complete: bool) -> None:
        """Say in a note to an error what there is of the file."""
        if self.note:
            error.add_note(self.note)
        elif isinstance(error, KeyboardInterrupt) and not self.is_special:
            error.add_note(f"{self.path} {'is complete' if is_complete else 'has not been written'}")


def file_of(path: Path, query: str) -> Path:
    """The file of one of several queries: with its name before the suffix.

    >>> file_of(Path("results.csv.gz"), "query_1").name
    'results.csv.query_1.gz'
    """
    return path.with_name(f"{path.stem}.{query}{path.suffix}")


def is_special(path: Path) -> bool:
    """Whether a path leads to a device, a pipe or a socket."""
    return path.exists() and not (path.is_file() or path.is_dir())


@contextmanager
def nothing_written() -> Iterator[None]:
    """Work before the first file is written: whoever interrupts it is told so."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        interruption.add_note("nothing has been written")
        raise


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file, or to standard output for "-". Raises ConnectorError."""
    with NewFile(path) as file:
        file.write(content)


def checked_folder(file: Path) -> None:
    """Raise InputFileError unless the folder of a file to be written is there."""
    if not file.parent.is_dir():
        raise InputFileError(f"{file}: there is no folder {file.parent}", path=file)
    if file.is_dir():
        raise InputFileError(f"{file}: this is a folder, expected a file", path=file)
