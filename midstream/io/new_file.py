"""Files that get their names when they are complete."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from errno import EACCES, EISDIR
from itertools import count
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from midstream.io.errors import ConnectorError
from midstream.io.file_formats import UNFINISHED
from midstream.io.output import STDOUT, TextOutput
from midstream.plans.values.errors import InputFileError, Note

LONGEST = 240
"""The largest number of bytes of a name to which file systems let ends be added."""

Describe = Callable[[], str]


class NewFile:
    """A file that gets its name at the end of a `with` block, if the block succeeds.

    Until then the bytes go to `place`, a file in the same folder, and an existing file of that name stays.
    If the name is a link, its target is replaced. Standard output, a device or a pipe is written directly.

    name    the file's name in errors; by default its path
    describe    describes the content so far, in words; "" if it is not worth keeping. Such a file grows as
            NAME.unfinished, which can be read meanwhile. If the block fails, it stays there, and a note on
            the error says so. If another file has that name, of an earlier run or of one that runs now, it
            is NAME.unfinished-2 and so on, and a Note says so. Without `describe`, the place is hidden, and
            nothing stays

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
    >>> Path("results.txt").read_text(), Path("results.txt.unfinished").read_text(), file.note
    ('all', 'ha', 'results.txt.unfinished holds half of it')
    """

    def __init__(
        self, path: str | os.PathLike[str], *, name: str | None = None, describe: Describe | None = None
    ) -> None:
        self.path = os.fspath(path)
        self.name = self.path if name is None else name
        self.note = ""
        """The path and content of the unfinished file that was kept, in words."""
        self._describe = describe
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
        self._target = target
        suffixes = path.suffixes[-2:]  # they tell the format, also where a link leads to another name
        name = target.name if target.suffixes[-2:] == suffixes else path.name
        if self._describe is None or len(os.fsencode(name)) > LONGEST:
            places = _hidden(target, suffixes)
        else:
            places = _visible(target.with_name(name))
        # Simultaneous runs must not share a file, and what an earlier run has left must stay.
        first = place = next(places)
        while not self._is_made(place):
            place = next(places)
        self.place = str(place)
        if place != first and self._describe is not None:
            note = (
                f"{self._shown(first)} is of an earlier command, or of one that still runs; this one writes "
                f"to {self._shown(place)}"
            )
            warnings.warn(note, Note, stacklevel=2)

    def _is_made(self, place: Path) -> bool:
        """Make an empty file; False if a file of that name is there."""
        if os.path.lexists(place):
            return False
        try:
            place.open("xb").close()
        except FileExistsError:
            return False
        except KeyboardInterrupt as interruption:
            place.unlink(missing_ok=True)
            self._tell(interruption, is_complete=False)
            raise
        return True

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
        self._describe = None

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
        """Remove an unfinished file unless it is worth keeping."""
        if self._target is None or not os.path.exists(self.place):
            return
        description = "" if self._describe is None else self._describe()
        if description:
            self.note = f"{self._shown(self.place)} holds {description}"
            return
        with suppress(OSError):
            os.unlink(self.place)

    def _shown(self, place: str | os.PathLike[str]) -> str:
        """A path beside the user's path, unless that is a link to a file elsewhere."""
        folder = os.path.dirname(place if os.path.islink(self.path) else self.path)
        return os.path.join(folder, os.path.basename(place))

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


def _visible(path: Path) -> Iterator[Path]:
    """Names that tell users which file grows there."""
    yield path.with_name(f"{path.name}{UNFINISHED}")
    for number in count(2):
        yield path.with_name(f"{path.name}{UNFINISHED}-{number}")


def _hidden(target: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Unique names beside a file."""
    while True:
        yield target.with_name(f".{token_hex(4)}{UNFINISHED}{''.join(suffixes)}")


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
