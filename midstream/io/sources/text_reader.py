"""The common part of readers whose formats consist of lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from midstream.io.sources.arrivals import whole_lines
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.conversion import Conversion, Origin, in_batches
from midstream.plans.values.streams import Batch

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextReader(ABC):
    """Reads batches from bytes as they arrive.

    State    The bytes of one call of the operating system, and an incomplete record.
    """

    def __init__(self, name: str, conversion: Conversion, bad_rows: BadRows) -> None:
        self.origin = Origin(name)
        self.conversion = conversion
        self.bad_rows = bad_rows
        self.number = 1
        """The number of the next line."""

    def batches(self, arrivals: Iterable[bytes]) -> Iterator[Batch]:
        """The batches of arriving bytes; the rows of complete lines are passed on at once."""
        is_first = True
        for block in whole_lines(arrivals, self.origin.name):
            whole = block.removeprefix(BYTE_ORDER_MARK) if is_first else block
            is_first = False
            yield from in_batches(self.read(whole))
        yield from in_batches(self.finish())

    @abstractmethod
    def read(self, block: bytes) -> Batch:
        """The elements of complete lines; only the last line of the source may lack its end."""

    def finish(self) -> Batch:
        """The elements of the remaining bytes after the last arrival."""
        return []


def decode(block: bytes) -> tuple[str, bool]:
    """Decode bytes, and tell if they are UTF-8; wrong bytes become halves of surrogate pairs."""
    try:
        return block.decode(), True
    except UnicodeDecodeError:
        return block.decode(errors="surrogateescape"), False


def require_text(text: str) -> None:
    """Raise Misfit if a text contains bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        byte = ord(text[error.start]) - 0xDC00
        raise Misfit(None, f"the byte {byte:#04x}", "text in UTF-8") from None
