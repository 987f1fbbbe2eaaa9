"""Survey files before they are read: their hashes, and where long ones can be cut.

A long file of lines is cut into pieces after line ends, so that several tasks read it. A CSV file with a
quote is not: a quoted field may hold line ends.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from midstream.io.file_formats import packing
from midstream.plans.values.errors import InputFileError
from midstream.scenarios.streams.recorded.input_files import InputFile, blocks

PIECE = 32 * 2**20
"""The least number of bytes of lines that a task reads, if the file has as many."""

BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class FilePiece:
    """The part of a file that one task reads.

    number     of the piece in its file, from 0
    since      the first byte; `until` is the first behind the piece
    line       the number of its first line
    header     how many bytes the file's first line has
    sha256     of the whole file
    """

    path: str
    form: str
    number: int
    since: int
    until: int
    line: int
    header: int
    sha256: str


def survey(file: InputFile, piece_size: int = PIECE) -> list[FilePiece]:
    """The pieces of a file, of `piece_size` bytes at least.

    Cost     One pass over its bytes.
    Raises   InputFileError, also where the file does not have the size that it had when it was listed.
    """
    can_cut = file.form in ("csv", "jsonl", "elements") and packing(file.path) is None
    cuts = _Cuts(piece_size)
    digest, size = hashlib.sha256(), 0
    for block in blocks(file.path, BLOCK):
        digest.update(block)
        size += len(block)
        if can_cut:
            cuts.see(block)
            can_cut = file.form != "csv" or b'"' not in block
    if size != file.size:
        raise InputFileError(
            f"{file.path}: found {size:,} bytes, expected the {file.size:,} of before", path=file.path
        )
    starts = cuts.starts if can_cut else cuts.starts[:1]
    ends = [since for since, _ in starts[1:]] + [size]
    return [
        FilePiece(file.path, file.form, number, since, until, line, cuts.header, digest.hexdigest())
        for number, ((since, line), until) in enumerate(zip(starts, ends, strict=True))
    ]


class _Cuts:
    """Finds the starts of pieces in the blocks of a file."""

    def __init__(self, piece: int) -> None:
        self.starts = [(0, 1)]
        """The first byte and the first line of each piece."""
        self.header = 0
        self._piece = piece
        self._passed = 0
        self._lines = 0

    def see(self, block: bytes) -> None:
        if not self._lines and b"\n" in block:
            self.header = self._passed + block.find(b"\n") + 1
        at = 0
        while (wanted := self.starts[-1][0] + self._piece) < self._passed + len(block):
            end = block.find(b"\n", max(at, wanted - 1 - self._passed)) + 1
            if not end:
                break
            self._lines += block.count(b"\n", at, end)
            self.starts.append((self._passed + end, self._lines + 1))
            at = end
        self._lines += block.count(b"\n", at)
        self._passed += len(block)
