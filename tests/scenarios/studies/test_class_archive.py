"""The archive of Spark's classes: written once, read where it is whole, and never in the way."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from midstream.io.requirements import java_program
from midstream.scenarios.spark import class_archive
from midstream.scenarios.spark.class_archive import FREE, UNUSED, archive_options, default_folder

WRITE, READ = "-XX:ArchiveClassesAtExit=", "-XX:SharedArchiveFile="


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is to be the Java that Spark starts; and a folder of archives, of which there are none."""
    found = tmp_path / "java"
    found.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "what is kept"))
    return found


def option() -> tuple[str, Path]:
    """The only option, and its file."""
    (quoted,) = archive_options()
    (found,) = shlex.split(quoted)
    name, _, file = found.partition("=")
    return f"{name}=", Path(file)


def test_one_is_written_and_then_read(java: Path) -> None:
    name, file = option()
    assert (name, file.parent) == (WRITE, default_folder())
    file.write_bytes(bytes(8))
    assert archive_options() == []  # its beginning is written last
    file.write_bytes(b"magic")
    file.chmod(0o444)
    assert option() == (READ, file)


def test_a_process_writes_a_file_of_its_own_and_reads_that_of_others(
    java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, file = option()
    monkeypatch.setattr(os, "getpid", lambda: 1)
    _, other = option()
    assert file != other
    file.write_bytes(bytes(8))
    other.write_bytes(b"magic")
    assert option() == (READ, other)


@pytest.mark.parametrize("change", ["Java", "its place", "Spark"])
def test_another_java_or_spark_has_another_one(
    java: Path, change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, file = option()
    file.write_bytes(b"magic")
    assert option()[0] == READ
    if change == "Java":
        os.utime(java, (0, 0))
    elif change == "its place":
        (tmp_path / "home" / "bin").mkdir(parents=True)
        shutil.copy2(java, tmp_path / "home" / "bin")
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    else:
        (tmp_path / "spark" / "jars").mkdir(parents=True)
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    name, other = option()
    assert name == WRITE and other != file


def test_what_nobody_uses_any_more_goes(java: Path) -> None:
    _, file = option()
    kept, gone, unfinished, own = (
        default_folder() / name for name in ("spark-a-1.jsa", "spark-b-2.jsa", f"{file.name}-0.jsa", "own")
    )
    for one in (kept, gone, own):
        one.write_bytes(b"magic")
    unfinished.touch()
    for one in (gone, unfinished, own):
        age(one, UNUSED + 60)
    age(kept, UNUSED - 60)
    assert option()[0] == WRITE
    assert sorted(default_folder().iterdir()) == [own, kept]


def test_to_read_one_is_to_use_it(java: Path) -> None:
    _, file = option()
    file.write_bytes(b"magic")
    age(file, UNUSED - 60)
    written = file.stat().st_mtime
    assert option() == (READ, file)
    assert file.stat().st_atime > written + UNUSED / 2
    assert file.stat().st_mtime == written


def age(file: Path, seconds: float) -> None:
    os.utime(file, (file.stat().st_mtime - seconds,) * 2)


def no_folder(java: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("XDG_CACHE_HOME", str(java))


def no_space(java: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(class_archive, "FREE", 1 << 70)


def no_java(java: Path, patch: pytest.MonkeyPatch) -> None:
    java.unlink()


def no_spark(java: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("SPARK_HOME", str(java.parent))


def no_wish(java: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("MIDSTREAM_CLASS_ARCHIVE", "0")


@pytest.mark.parametrize("obstacle", [no_folder, no_space, no_java, no_spark, no_wish])
def test_without_a_place_or_a_wish_there_is_none(
    java: Path, obstacle: Callable[[Path, pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(archive_options()) == 1 and FREE > 0
    obstacle(java, monkeypatch)
    assert archive_options() == []


@pytest.mark.spark
def test_java_writes_and_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jars = Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0]) / "jars"
    java = java_program()
    assert java is not None

    def classes_loaded() -> str:
        options = [shlex.split(quoted)[0] for quoted in archive_options()]
        command = [java, *options, "-Xlog:class+load", "-cp", f"{jars}/*"]
        spark = ["org.apache.spark.deploy.SparkSubmit", "--version"]
        return subprocess.run([*command, *spark], capture_output=True, text=True, check=True).stdout

    read = "org.apache.spark.deploy.SparkSubmit source: shared objects file (top)"
    assert read not in classes_loaded()
    (archive,) = tmp_path.rglob("*.jsa")
    assert option() == (READ, archive)
    assert read in classes_loaded()
