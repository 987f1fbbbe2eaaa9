"""Files that get their names when they are complete."""

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
"""The suffix of an unfinished file that is kept."""


def _nothing() -> str:
    return ""


class NewFile:
    """A file that gets its name at the end of a `with` block, if the block succeeds.

    Until then the bytes go to `place`, a file in the same folder, and an existing file of that name stays.
    If the name is a link, its target is replaced. Standard output, a device or a pipe is written directly.

    name    the file's name in errors; by default its path
    describe    describes the content so far, in words; "" if it is not worth keeping. If the block fails,
            the content goes to the file NAME.unfinished, and a note on the error says so

    Raises   ConnectorError, at construction, where the file cannot be made.

    >>> with NewFile("results.txt") as file:
    ...     size = Path(file.place).write_text("all")
    ...     os.path.exists("results.txt")
    False
    >>> Path("results.txt").read_text()
    'all'
    >>> with NewFile("results.txt", describe=lambda: "half of it") as file:
    ...     size = Path(file.place).write_text("ha")
    ...     file.hold_back()
    >>> Path("results.txt").read_text(), file.note
    ('all', 'results.txt.unfinished holds half of it')
    """

    def __init__(
        self, path: str | os.PathLike[str], *, name: str | None = None, describe: Callable[[], str] = _nothing
    ) -> None:
        self.path = os.fspath(path)
        self.name = self.path if name is None else name
        self.describe = describe
        self.note = ""
        """The path and content of the unfinished file that was kept, in words."""
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
        # The suffixes tell the format. The name is unique, because simultaneous runs must not share a file.
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
        """True for standard output, a device or a pipe, which are written directly."""
        return self._target is None

    def write(self, content: str | bytes) -> None:
        """Write the whole content of the file."""
        with closing(TextOutput(self.place, self.name)) as output:
            output.write(content)

    def hold_back(self) -> None:
        """Treat the file as unfinished, although the block succeeds."""
        self._is_held_back = True

    def discard(self) -> None:
        """Keep no unfinished file if the block fails."""
        self.describe = _nothing

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
        """Keep an unfinished file under another name if it is worth keeping; else remove it."""
        if self._target is None or not os.path.exists(self.place):
            return
        description = self.describe()
        if not description:
            with suppress(OSError):
                os.unlink(self.place)
            return
        number, kept = count(2), f"{self._target}{UNFINISHED}"
        while os.path.exists(kept):  # keep the results of earlier runs, too
            kept = f"{self._target}{UNFINISHED}-{next(number)}"
        try:
            os.replace(self.place, kept)
        except OSError:
            kept = self.place
        # Show the user's path, unless it is a link to a file elsewhere.
        folder = os.path.dirname(kept if os.path.islink(self.path) else self.path)
        self.note = f"{os.path.join(folder, os.path.basename(kept))} holds {description}"

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
        """Note on an error what exists of the file."""
        if self.note:
            error.add_note(self.note)
        elif isinstance(error, KeyboardInterrupt) and not self.is_special:
            error.add_note(f"{self.path} {'is complete' if is_complete else 'has not been written'}")


def file_of(path: Path, query: str) -> Path:
    """The file for one of several queries: the query's name stands before the suffix.

    >>> file_of(Path("results.csv.gz"), "query_1").name
    'results.csv.query_1.gz'
    """
    return path.with_name(f"{path.stem}.{query}{path.suffix}")


def is_special(path: Path) -> bool:
    """True if a path leads to a device, a pipe or a socket."""
    return path.exists() and not (path.is_file() or path.is_dir())


@contextmanager
def nothing_written() -> Iterator[None]:
    """Work before the first file is written; an interruption gets a note that says so."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        interruption.add_note("nothing has been written")
        raise


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file; "-" is standard output.

    Raises   ConnectorError.
    """
    with NewFile(path) as file:
        file.write(content)


def checked_folder(file: Path) -> None:
    """Raise InputFileError unless a new file has an existing folder, and is not a folder itself."""
    if not file.parent.is_dir():
        raise InputFileError(f"{file}: there is no folder {file.parent}", path=file)
    if file.is_dir():
        raise InputFileError(f"{file}: this is a folder, expected a file", path=file)
