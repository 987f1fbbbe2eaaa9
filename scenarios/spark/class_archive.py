"""An archive of Spark's classes, by which Spark starts in half the processor time.

To load and check its classes is most of what Java does while a small study runs. The first Java of ours
writes those that it has loaded into a file when it ends, and later ones map that file into memory (class data
sharing, `-XX:ArchiveClassesAtExit` and `-XX:SharedArchiveFile`). Java itself checks that an archive is whole
and made by the same Java of the same classes, and else does without it.
"""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time

import pyspark

from midstream.io.requirements import java_program

SWITCH = "MIDSTREAM_CLASS_ARCHIVE"
"""The environment variable that switches archives off if it is 0."""

UNUSED = 30 * 24 * 3600.0
"""The seconds without use after which an archive goes: its Java or Spark is gone, or it is unfinished."""
FREE = 1 << 30
"""The bytes that must be free before an archive is written, which takes a sixth of them."""


def archive_options() -> list[str]:
    """The options of Java, quoted as for Spark, to read an archive or, where there is none, to write one.

    Empty while another process writes one, or where there is no place for it.
    """
    java = java_program()
    if os.environ.get(SWITCH) == "0" or java is None:
        return []
    folder = default_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"spark-{_version(Path(java).resolve())}"
        # Each process writes a file of its own: two that write the same one could mix their parts.
        _remove_unused(folder)
        if found := sorted(folder.glob(f"{name}-*.jsa")):
            return _read(found)
        has_place = os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= FREE
    except OSError:
        return []
    archive = folder / f"{name}-{os.getpid()}.jsa"
    return [shlex.quote(f"-XX:ArchiveClassesAtExit={archive}")] if has_place else []


def default_folder() -> Path:
    """The folder of archives: midstream in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "midstream"


def _version(java: Path) -> str:
    """A name for a Java and Spark's classes, each at its place, of which an archive is made."""
    spark = Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0]).resolve()
    parts = (str(java), java.stat().st_mtime_ns, str(spark), (spark / "jars").stat().st_mtime_ns)
    return sha256(repr(parts).encode()).hexdigest()[:12]


def _read(found: list[Path]) -> list[str]:
    for archive in filter(_is_whole, found):
        with suppress(OSError):  # as where another user has made it
            os.utime(archive, (time(), archive.stat().st_mtime))
        return [shlex.quote(f"-XX:SharedArchiveFile={archive}")]
    return []


def _is_whole(archive: Path) -> bool:
    """True if an archive is complete: Java writes its beginning last."""
    with archive.open("rb") as file:
        return any(file.read(4))


def _remove_unused(folder: Path) -> None:
    for archive in folder.glob("spark-*.jsa"):
        if time() - archive.stat().st_atime > UNUSED:
            archive.unlink()
