"""Settings and fixtures of the whole test run.

Environment     MIDSTREAM_PROFILE  hypothesis profile: default, ci, few or thorough (ci where CI is set)
                MIDSTREAM_DATA     folder of the shared data sets
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from extras import what_is_missing
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"

# Where the run itself was started in the background, interruptions are ignored, and so they would be by all
# commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Typer makes all commands anew whenever one is called, which takes longer than most of them do in tests.
typer.main.get_command = functools.cache(typer.main.get_command)

# A time limit per example would measure the machine, not the code.
settings.register_profile("default", max_examples=100, deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("default"), max_examples=50, derandomize=True)
settings.register_profile("few", settings.get_profile("ci"), max_examples=10)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("MIDSTREAM_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


@pytest.fixture(autouse=True, scope="session")
def no_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the user has configured, such as a cost profile, or keeps is neither read nor written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds tests/: the repository, or a copy of its tests without the rooms."""
    return ROOT


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    if not PYPROJECT.is_file():
        pytest.skip(f"no {PYPROJECT.name} next to the tests")
    return tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def source_tree(root: Path) -> Path:
    """The repository root, where the rooms lie next to the tests."""
    if not (root / "midstream" / "__init__.py").is_file():
        pytest.skip("the rooms are not next to the tests: an installed package is tested")
    return root


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the shared data sets."""
    folder = Path(os.environ.get("MIDSTREAM_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (MIDSTREAM_DATA names another folder)")
    return folder


@functools.cache
def find_modules() -> tuple[str, ...]:
    """Name every module of the installed package, importable or not."""
    import midstream

    below = pkgutil.walk_packages(midstream.__path__, "midstream.", onerror=lambda _: None)
    return tuple(sorted({"midstream", *(m.name for m in below if not m.name.endswith(".__main__"))}))


@pytest.fixture(scope="session")
def module_names() -> tuple[str, ...]:
    """The name of every module of the installed package."""
    return find_modules()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `module_name` once for every module of the installed package."""
    if "module_name" in metafunc.fixturenames:
        metafunc.parametrize("module_name", find_modules())


@functools.cache
def find_spark_obstacle() -> str | None:
    """Say why Spark cannot run here, or None if it can."""
    if importlib.util.find_spec("pyspark") is None:
        return "needs PySpark: pip install 'midstream[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(f"{home}/bin/java" if home else "java")
    if java is None:
        return "needs Java 17 or newer; found none"
    version = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    major = re.search(r'version "(\d+)', version)
    if major is None or int(major[1]) < 17:
        return f"needs Java 17 or newer; found {version.strip().partition(chr(10))[0] or java}"
    return None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Skip a file of tests that imports a library of an extra that is not installed."""
    report = yield
    if report.failed and (missing := what_is_missing(report.call.excinfo.value)):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, f"Skipped: {missing}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Skip a test that stumbles over one."""
    report = yield
    if report.failed and call.excinfo and (missing := what_is_missing(call.excinfo.value)):
        report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1], f"Skipped: {missing}")
    return report


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep tests in one worker that share what takes long to make: Spark, or what a module makes once.

    Those of one function stay together too: whenever a test ends, xdist looks at all groups. Those marked
    `spark` are skipped where Spark cannot run, and slow but for one of each stage.
    """
    has_groups = any(line.startswith("xdist_group") for line in config.getini("markers"))
    groups: dict[pytest.Item, str] = {}
    for item in items:
        function, is_one_of_several, _ = item.name.partition("[")
        group = item.path.stem if _shares(item) else function if is_one_of_several else None
        if (spark := item.get_closest_marker("spark")) is not None:
            group = SPARK
            if not spark.kwargs.get("fast"):
                item.add_marker(pytest.mark.slow)
            if obstacle := find_spark_obstacle():
                item.add_marker(pytest.mark.skip(reason=obstacle))
        if has_groups and group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
        groups[item] = group or item.nodeid
    if hasattr(config, "workerinput"):
        # Workers take groups in this order: one is with Spark from the beginning, for most of the time, and
        # single tests are left for the end.
        sizes = Counter(groups.values())
        items.sort(key=lambda item: (groups[item] != SPARK, -sizes[groups[item]], groups[item]))


SPARK = "spark"
"""The group of all tests that need it."""


def _shares(item: pytest.Item) -> bool:
    """Whether a test uses what its module makes once for all its tests."""
    info = getattr(item, "_fixtureinfo", None)
    made = {} if info is None else info.name2fixturedefs
    return any(found[-1].scope == "module" for found in made.values())


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without the garbage collector: what is made stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the garbage collector all that collecting made."""
    keep_what_is_there()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Spare it also what the tests of a file have left: a simulation collects before every run, of which a
    test may make hundreds."""
    yield
    if nextitem is not None and nextitem.path != item.path:
        keep_what_is_there()


def keep_what_is_there() -> None:
    """Let the garbage collector look at nothing that there is now any more."""
    gc.collect()
    gc.freeze()
