"""Other engines migrate: the Boxes of the examples keep what docs/embedding.md says that a Box must promise,
and so the law of migration holds for them."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.migration.machine import Migration
from midstream.migration.migrate import migrate_box
from midstream.migration.report import report
from midstream.migration.strategies import find_strategy
from midstream.operators.base.box import Box, settled
from midstream.plans.values.errors import MigrationRefused
from midstream.plans.values.snapshots import equivalent
from midstream.plans.values.streams import BEGINNING, FOREVER, Element
from midstream.testing import Event, check_box, elements, interleavings, is_ordered

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FILES = [EXAMPLES / "embed_callables.py", EXAMPLES / "embed_asyncio.py", EXAMPLES / "peers/embed_streamz.py"]
ALLOWED = ("midstream.boxes", "midstream.migration", "midstream.plans.values.streams")
OF_THE_FACADE = {"BEGINNING", "FOREVER", "Migration", "equivalent", "report"}

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not next to the tests")

JOINS = ("join_then_filter", "filter_then_join")
CASES = [
    ("embed_callables", *JOINS, "genmig"),
    ("embed_callables", *JOINS, "genmig-reference-point"),
    ("embed_asyncio", "count_then_filter", "filter_then_count", "genmig"),
    ("embed_streamz", *JOINS, "genmig"),
    ("embed_streamz", *JOINS, "genmig-reference-point"),
]
MAKERS = [(name, maker) for name, *makers in {case[:3] for case in sorted(CASES)} for maker in makers]


def example(name: str) -> ModuleType:
    """An example as a module, found as Python finds it when it is run."""
    if name == "embed_streamz":
        pytest.importorskip("streamz", reason="needs streamz: pip install 'midstream[peers]'")
    for folder in {str(file.parent) for file in FILES} - set(sys.path):
        sys.path.append(folder)
    return importlib.import_module(name)


ROWS = st.tuples(st.integers(0, 3), st.sampled_from((10, 50, 51, 90)))


@st.composite
def arrivals(draw: st.DrawFn, ports: int = 2) -> list[Event]:
    """Batches, heartbeats and ends on ports, of which one may run ahead of the other."""
    streams = {str(port): draw(elements(ROWS, forever=False)) for port in range(ports)}
    return draw(interleavings(streams))


def drive(
    box: Box, events: Sequence[Event], moves: Iterable[tuple[int, Box, str]] = ()
) -> tuple[list[Element], list[Migration], Box]:
    """Run to the end of all inputs; before event number n, begin the moves that say n."""
    results: list[Element] = []
    migrations: list[Migration] = []
    max_ends, reached = [BEGINNING for _ in box.inputs], [BEGINNING for _ in box.inputs]
    waiting = sorted(moves, key=lambda move: move[0])
    for number, (kind, name, what) in enumerate([*events, *(("end", p, None) for p in range(len(reached)))]):
        while waiting and waiting[0][0] <= number:
            _, new, strategy = waiting.pop(0)
            migration, (ready,) = migrate_box(
                box, new, find_strategy(strategy), max_ends=max_ends, reached=reached
            )
            migrations.append(migration)
            box, results = settled(migration), results + ready
        port = int(name)
        if kind == "push":
            results += box.push(port, what)[0]
            max_ends[port] = max(max_ends[port], *(end for _, end, _ in what))
            reached[port] = what[-1][0]
        elif reached[port] < FOREVER:
            time = what if kind == "advance" else FOREVER
            results += box.end(port)[0] if time == FOREVER else box.advance(port, time)[0]
            reached[port] = max(reached[port], time)
        box = settled(box)
    return results, migrations, box


@pytest.mark.parametrize(("name", "old", "new", "strategy"), CASES)
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_the_law_of_migration_holds(
    name: str, old: str, new: str, strategy: str, data: st.DataObject
) -> None:
    """Whenever plans are exchanged, back and forth, the results mean the same and are in order, and each
    migration ends."""
    module = example(name)
    events = data.draw(arrivals())
    times = sorted(data.draw(st.lists(st.integers(0, len(events) + 1), min_size=1, max_size=3)))
    makers: list[Callable[[], Box]] = [getattr(module, old), getattr(module, new)]
    moves = [(at, makers[(i + 1) % 2](), strategy) for i, at in enumerate(times)]
    results, migrations, last = drive(makers[0](), events, moves)
    verdict = equivalent(results, drive(makers[0](), events)[0])
    assert verdict, str(verdict)
    assert is_ordered(results)
    assert all(isinstance(time, int) for start, end, _ in results for time in (start, end))
    assert [(migration.old, report(migration).unmatched) for migration in migrations] == [(None, 0)] * len(
        times
    )
    assert last is moves[-1][1]
    assert last.size() == 0


@pytest.mark.parametrize(("name", "old", "new"), sorted({case[:3] for case in CASES}))
def test_a_box_keeps_its_promises(name: str, old: str, new: str) -> None:
    """All that docs/embedding.md asks of a Box."""
    make: list[Callable[[], Box]] = [getattr(example(name), maker) for maker in (old, new)]
    for one, other in (make, reversed(make)):
        check_box(one, inputs=[elements(ROWS, forever=False)] * 2, to=other)


@pytest.mark.parametrize(("name", "maker"), sorted(MAKERS))
def test_what_waits_for_the_other_input_is_state(name: str, maker: str) -> None:
    box: Box = getattr(example(name), maker)()
    assert box.push(0, [(1, 9, (2, 90))]) == [[]]
    assert list(box.state()) == [(1, 9, (2, 90))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_of_our_engine_is_imported(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in modules if module.startswith("midstream")}
    assert {module for module in ours if not module.startswith(ALLOWED)} == set()
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {name for name in imported if name.startswith("midstream.")} == set()
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ms"
    }
    assert used <= OF_THE_FACADE


def test_the_example_with_streamz_runs(tmp_path: Path) -> None:
    pytest.importorskip("streamz", reason="needs streamz: pip install 'midstream[peers]'")
    ran = subprocess.run(
        [sys.executable, FILES[2]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "snapshot-equivalent" in ran.stdout


def test_what_is_valid_for_ever_refuses_a_migration() -> None:
    module = example("embed_callables")
    events: list[Event] = [("push", "0", [(1, FOREVER, (1, 90))]), ("push", "1", [(2, 9, (1, 1))])]
    box, new = module.join_then_filter(), module.filter_then_join()
    with pytest.raises(MigrationRefused, match="valid for ever"):
        drive(box, events, [(1, new, "genmig")])
    assert box.size() == 1
    assert new.reached == [BEGINNING, BEGINNING]


def test_plans_that_do_not_mean_the_same_leave_fragments_alone() -> None:
    module = example("embed_callables")
    old = module.CallableBox(("in",), module.keep(lambda row: row[0] > 1))
    new = module.CallableBox(("in",), module.keep(lambda row: row[0] > 2))
    events: list[Event] = [("push", "0", [(t, t + 10, (t % 4,))]) for t in range(40)]
    _, (migration,), _ = drive(old, events, [(20, new, "genmig")])
    assert report(migration).unmatched > 0


def test_orders_and_silence_migrate_in_the_service() -> None:
    """Both migrations of the asyncio service end although one of its inputs never delivers anything."""
    module = example("embed_asyncio")
    orders = [(2 * t, 2 * t + 60, (t % 7,)) for t in range(300)]
    results, migrations = module.asyncio.run(module.serve(orders, is_moving=True))
    expected, none = module.asyncio.run(module.serve(orders, is_moving=False))
    assert none == []
    assert [migration.old for migration in migrations] == [None, None]
    assert is_ordered(results)
    assert equivalent(results, expected)
