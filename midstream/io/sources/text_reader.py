"""The common part of readers whose formats consist of lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator

from midstream.io.sources.arrivals import whole_lines
from midstream.io.sources.bad_rows import BadRows, Misfit
from midstream.io.sources.conversion import Conversion, Origin, in_batches
from midstream.plans.values.errors import InputFileError
from midstream.plans.values.streams import Batch

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextReader(ABC):
    """Reads batches from bytes as they arrive.

    State    The bytes of one call of the operating system, and an incomplete record.
    """

    def __init__(self, name: str, conversion: Conversion, bad_rows: BadRows, encoding: str = "UTF-8") -> None:
        self.origin = Origin(name)
        self.conversion = conversion
        self.bad_rows = bad_rows
        self.encoding = encoding
        """The encoding of the bytes before they became UTF-8, for messages."""
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


def require_text(text: str, encoding: str = "UTF-8") -> None:
    """Raise Misfit if a text contains bytes that were no text in their encoding."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        byte = ord(text[error.start]) - 0xDC00
        raise Misfit(None, f"the byte {byte:#04x}", f"text in {encoding}") from None


def in_utf8(arrivals: Iterable[bytes], encoding: str, name: str, *, is_whole: bool = True) -> Iterator[bytes]:
    r"""Text as UTF-8, whatever its encoding, as it arrives.

    Bytes that are no text stay as they are where readers can find them, as they can with one byte a
    character; in other encodings they end the reading. Unless the text `is_whole`, its last character may be
    cut off.

    State    One incomplete character.
    Raises   InputFileError, with the line.

    >>> list(in_utf8([b"\xe4\n", b"\x80"], "cp1252", "a.csv"))
    [b'\xc3\xa4\n', b'\xe2\x82\xac']
    """
    is_single = len("ab".encode(encoding)) == 2 and not encoding.lower().startswith("utf")
    decoder = getincrementaldecoder(encoding)("surrogateescape" if is_single else "strict")
    lines = 1
    try:
        for block in arrivals:
            text = decoder.decode(block)
            lines += text.count("\n")
            if text:
                yield text.encode(errors="surrogateescape")
        decoder.decode(b"", is_whole)
    except UnicodeError as error:
        raise InputFileError(
            f"{name}, line {lines} or later: {error}, expected text in {encoding}", path=name, line=lines
        ) from None
