"""The beginning of a text file, and its encoding."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from midstream.io.sources.arrivals import file_arrivals
from midstream.io.sources.text_reader import in_utf8
from midstream.plans.values.errors import InputFileError

SIZE = 1 << 20
"""The number of bytes that are looked at."""

UNPACKING = {".gz": "gzip", ".zst": "zstd"}
"""The programs that unpack files, by the ends of their names."""

MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
"""Byte order marks, and the encodings that they tell."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The first lines of a file.

    encoding    None for UTF-8
    is_whole    True if the file has no further lines
    """

    path: str
    text: str
    encoding: str | None
    is_whole: bool

    def mended_by(self, program: str, *arguments: str) -> str:
        """The shell command that sends the file's text, unpacked and in UTF-8, through a program to a file.

        >>> print(Sample("a b.csv.gz", "", "utf-16", True).mended_by("tail", "-n", "+3"))
        gzip -dc < 'a b.csv.gz' | iconv -f utf-16 -t utf-8 | tail -n +3 > mended.csv
        """
        name = self.path.lower()
        steps = [[UNPACKING[end], "-dc"] for end in UNPACKING if name.endswith(end)]
        if self.encoding is not None:
            steps.append(["iconv", "-f", self.encoding, "-t", "utf-8"])
        first, *others = map(shlex.join, [*steps, [program, *arguments]])
        suffix = ".jsonl" if ".json" in name or ".ndjson" in name else ".csv"
        return f"{' | '.join([f'{first} < {shlex.quote(self.path)}', *others])} > mended{suffix}"


def sample_of(path: str, encoding: str | None = None, quote: str = '"') -> Sample:
    """The first lines of a file, up to the end of a record.

    Raises   InputFileError for an empty file.
    """
    blocks: list[bytes] = []
    size = 0
    with closing(file_arrivals(Path(path))) as arrivals:
        for block in arrivals:
            blocks.append(block)
            size += len(block)
            if size > SIZE:
                break
    data = b"".join(blocks)
    is_whole = size <= SIZE
    encoding = encoding or encoding_of(data)
    text = b"".join(in_utf8([data], encoding, path, is_whole=is_whole)).decode(errors="surrogateescape")
    text = text.removeprefix("\ufeff")
    if not is_whole:
        text = _whole_records(text, quote)
    if not text.strip():
        raise InputFileError(
            f"{path}: found nothing, expected rows; CREATE STREAM declares a file that is still empty",
            path=path,
        )
    return Sample(path, text, None if encoding == "utf-8" else encoding, is_whole)


def encoding_of(data: bytes) -> str:
    """The encoding of a text by its first bytes.

    - A byte order mark decides.
    - Every second byte is mostly zero: UTF-16.
    - Everything is UTF-8, as random text in other encodings is not.
    - Else a byte is a character. The bytes 0x80 to 0x9f are letters and quotation marks in cp1252, which
      Windows writes, and control characters in latin-1, where no file has them.

    >>> encoding_of("Müller".encode()), encoding_of("Müller".encode("latin-1")), encoding_of(b"5 \\x80")
    ('utf-8', 'latin-1', 'cp1252')
    >>> encoding_of("Müller".encode("utf-16-le"))
    'utf-16-le'
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return encoding
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if data[first::2].count(0) * 2 > len(data[first::2]) > 0:
            return encoding
    try:
        data.decode()
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data" and error.start > len(data) - 4
        if not is_cut:
            return "cp1252" if any(0x80 <= byte <= 0x9F for byte in set(data)) else "latin-1"
    return "utf-8"


def _whole_records(text: str, quote: str) -> str:
    """A text up to the last line end that stands outside of quotes."""
    end = text.rfind("\n") + 1
    inside = text.count(quote, 0, end) % 2 if quote else 0
    while inside and end:
        before = text.rfind("\n", 0, end - 1) + 1
        inside = (inside - text.count(quote, before, end)) % 2
        end = before
    # Without an end outside, the quote is a character like any other.
    return text[: end or text.rfind("\n") + 1]
