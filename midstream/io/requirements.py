"""Requirements of studies besides Midstream: PySpark with its libraries, Java, matplotlib for charts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec

from midstream.plans.values.errors import MissingExtra

LIBRARIES = ("pyspark", "pyarrow", "pandas")
MODULES = {"PyYAML": "yaml"}
"""The names of modules that differ from those of their libraries."""

JAVA = 17
"""The oldest Java that runs Spark 4."""


def require_spark() -> None:
    """Raise MissingExtra unless Spark can start here; this runs only `java -version`."""
    require_libraries(LIBRARIES, "spark")
    require_java()


def require_libraries(names: Sequence[str], extra: str, need: str = "this needs") -> None:
    """Raise MissingExtra, with what to install and its `need`, unless all libraries are installed."""
    missing = [name for name in names if find_spec(MODULES.get(name, name)) is None]
    if missing:
        raise MissingExtra(
            f'found no {", ".join(missing)}, which {need}; install: pip install "midstream[{extra}]"',
            missing=missing,
        )


def java_program() -> str | None:
    """The java that Spark would use: that of JAVA_HOME, even if missing, else the one on PATH, if any."""
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else shutil.which("java")


def require_java() -> None:
    """Raise MissingExtra unless the java that Spark would use is new enough."""
    home, java = os.environ.get("JAVA_HOME"), java_program()
    place = f"at JAVA_HOME, {home}" if home else "on PATH"
    version = _version(java) if java else None
    if version is None:
        raise MissingExtra(
            f"found no java {place}, expected Java {JAVA} or newer, which Spark runs on; install a Java "
            "runtime, for example the package openjdk-17-jre-headless, or set JAVA_HOME"
        )
    if version < JAVA:
        raise MissingExtra(
            f"found Java {version} {place}, expected Java {JAVA} or newer, which Spark runs on; install one, "
            "for example the package openjdk-17-jre-headless, or set JAVA_HOME to one that is there"
        )


def _version(java: str) -> int | None:
    """The major version that a java program reports; None if it is not a java program."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(done.stderr + done.stdout)


def parse_version(report: str) -> int | None:
    """The major version in the output of `java -version`.

    >>> parse_version('openjdk version "21.0.2" 2024-01-16'), parse_version('java version "1.8.0_402"')
    (21, 8)
    """
    match = re.search(r'version "(?:1\.)?(\d+)', report)
    return int(match[1]) if match else None
