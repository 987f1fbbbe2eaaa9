"""Examples from the literature, and the edges of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from inside import box_of, host_of

from midstream.driving import run
from midstream.engine import Engine
from midstream.migration.machine import Migration, Phase, under_way
from midstream.migration.migrate import migrate_box
from midstream.migration.report import report
from midstream.migration.strategies import STRATEGIES
from midstream.migration.strategy import Strategy
from midstream.operators.base.box import Box, max_end, state_size
from midstream.operators.engine.running.plan_box import PlanBox
from midstream.operators.signs import signed_plan
from midstream.plans.algebra.builder import stream
from midstream.plans.algebra.specification import specified
from midstream.plans.expressions.aggregates import count, max_, sum_
from midstream.plans.expressions.operands import col
from midstream.plans.values.snapshots import equivalent, normal_form
from midstream.plans.values.streams import BEGINNING, FOREVER, Batch, Element, Time, chronons
from midstream.testing import is_ordered, verdict
from midstream.testing.law import vouched

FORKING = [name for name in STRATEGIES if name not in ("swap", "moving-states")]
"""Those that can move a join."""

A = stream("A", a="string", intervals=True)
B = stream("B", b="string", intervals=True)
ABOVE = A.join(B, on=[("a", "b")]).distinct()
BELOW = A.distinct().join(B.distinct(), on=[("a", "b")])
# The inputs of Example 28.1: every element is valid for the global window; the migration starts at 40.
STREAMS: Mapping[str, list[Element]] = {
    "A": [(10, 111, ("a",)), (50, 151, ("a",))],
    "B": [(20, 121, ("a",)), (70, 171, ("a",))],
}


def test_example_28_1_genmig_is_right() -> None:
    """Thesis, Example 28.1: duplicate elimination is pushed below the join while the query runs."""
    results: list = []
    engine = Engine(ABOVE.plan(), results.extend)
    engine.push("A", STREAMS["A"][:1])
    engine.push("B", STREAMS["B"][:1])
    migration = engine.migrate(BELOW.plan())
    engine.push("A", STREAMS["A"][1:])
    engine.push("B", STREAMS["B"][1:])
    engine.close()
    assert verdict(specified(ABOVE.plan(), STREAMS), results)
    assert migration.phase is Phase.DONE
    assert report(migration).split_time == 122


def test_example_28_1_parallel_track_would_be_wrong() -> None:
    """Old results of an element from before 40, and all of a new plan started at 40, give `a` twice."""
    old = run(ABOVE.plan(), STREAMS)
    with_old_element = run(
        ABOVE.plan(), {"A": STREAMS["A"], "B": STREAMS["B"][:1]}
    )  # all but the pair of the two new elements
    new = run(BELOW.plan(), {name: elements[1:] for name, elements in STREAMS.items()})
    assert new == [(70, 151, ("a", "a"))]
    assert (111, 121, ("a", "a")) in with_old_element
    track = equivalent(with_old_element + new, old)
    assert not track
    assert any((d.start, d.end, d.left, d.right) == (70, 121, 2, 1) for d in track.differences)


def test_erratum_13_aggregation_under_the_reference_point() -> None:
    """Why it is refused: the old sum emits 1 on [5, 15) and never sees b; the new one gives 3 on [12, 15)."""
    s = stream("s", x="integer", intervals=True)
    elements = [(5, 15, (1,)), (12, 20, (2,))]
    right = [(5, 12, (1,)), (12, 15, (3,)), (15, 20, (2,))]
    plan = s.aggregate(total=sum_("x")).plan()
    unsound = STRATEGIES["genmig-reference-point"]
    out = through_boxes(PlanBox(plan), PlanBox(plan), elements, [9], unsound)
    assert equivalent(run(plan, {"s": elements}), right)
    assert not equivalent(out, right)
    assert (5, 15, (1,)) in out
    assert (12, 15, (3,)) in out


def test_erratum_13_duplicates_under_the_reference_point() -> None:
    """Why it is refused: with T = 30 the old plan gives [60, 100), which is not its to say; the new plan has
    it in a result that starts at T."""
    s, r = (stream(name, x="integer", intervals=True) for name in "sr")
    plan = s.union(r).distinct().plan()
    old, new = PlanBox(plan), PlanBox(plan)
    unsound = STRATEGIES["genmig-reference-point"]
    migration, _ = migrate_box(old, new, unsound, max_ends=[29, 29], reached=[BEGINNING, BEGINNING])
    out = migration.push(1, [(5, 100, (7,))])[0] + migration.push(0, [(1, 60, (7,))])[0]
    out += migration.end(0)[0] + migration.end(1)[0]
    assert out == [(1, 60, (7,))]
    assert run(plan, {"s": [(1, 60, (7,))], "r": [(5, 100, (7,))]}) == [(1, 60, (7,)), (60, 100, (7,))]


def through_boxes(
    old: Box, new: Box, elements: list[Element], max_ends: list[Time], strategy: Strategy
) -> list[Element]:
    """Migrate between two boxes from the first element on, with a given bound for the split time."""
    migration, ready = migrate_box(old, new, strategy, max_ends=max_ends, reached=[BEGINNING])
    out = ready[0] + migration.push(0, elements)[0] + migration.end(0)[0]
    assert migration.phase is Phase.DONE
    return out


LEFT = stream("l", x="integer", y="integer").window(10)
RIGHT = stream("r", z="integer").window(10)
SILENT = LEFT.join(RIGHT, on=[("x", "z")]).filter(col("y") > 5)
SILENT_TOO = LEFT.filter(col("y") > 5).join(RIGHT, on=[("x", "z")])


def rows(times: Iterable[int], payload: tuple) -> list[Element]:
    return list(chronons((t, payload) for t in times))


@pytest.mark.parametrize("strategy", FORKING)
def test_an_old_plan_that_never_emits_does_not_hold_up_the_migration(strategy: str) -> None:
    """Erratum 14: the end follows from the progress of the inputs."""
    results: list = []
    engine = Engine(SILENT.plan(), results.extend)
    engine.push("l", rows(range(5), (1, 0)))
    engine.push("r", rows(range(5), (1,)))
    migration = engine.migrate(SILENT_TOO.plan(), strategy)
    engine.push("l", rows(range(5, 40), (1, 0)))
    assert migration.phase is Phase.MOVING
    engine.push("r", rows(range(5, 40), (1,)))
    assert migration.phase is Phase.DONE
    assert results == []
    assert isinstance(box_of(engine), PlanBox)


@pytest.mark.parametrize("strategy", FORKING)
def test_an_idle_input_that_only_sends_heartbeats_is_enough(strategy: str) -> None:
    engine = Engine(SILENT.plan())
    engine.push("l", rows([0], (1, 9)))
    engine.advance("r", 0)
    migration = engine.migrate(SILENT_TOO.plan(), strategy)
    engine.advance("r", 1000)
    assert migration.phase is Phase.MOVING
    engine.advance("l", 1000)
    assert migration.phase is Phase.DONE


def test_a_port_is_counted_once_however_many_of_its_elements_pass_the_split() -> None:
    """With two inputs, two late elements on one do not make both pass."""
    results: list = []
    engine = Engine(SILENT.plan(), results.extend)
    engine.push("l", rows([0], (1, 9)))
    migration = engine.migrate(SILENT_TOO.plan())
    for t in (50, 51, 52):
        engine.push("l", rows([t], (1, 9)))
    assert migration.phase is Phase.MOVING
    engine.push("r", rows([3], (1,)))
    engine.close()
    assert results == [(3, 10, (1, 9, 1))]


def test_a_migration_before_the_first_element_ends_with_it() -> None:
    results: list = []
    engine = Engine(SILENT.plan(), results.extend)
    migration = engine.migrate(SILENT_TOO.plan())
    assert [part.old for part in migration.parts] == [None]
    engine.push("l", rows([0], (1, 9)))
    engine.push("r", rows([0], (1,)))
    assert results == [(0, 10, (1, 9, 1))]
    assert migration.phase is Phase.DONE
    assert report(migration).split_time is None
    assert report(migration).duration is None


def test_a_migration_after_the_end_is_over_at_once() -> None:
    engine = Engine(SILENT.plan())
    engine.push("l", rows([0], (1, 9)))
    engine.close()
    migration = engine.migrate(SILENT_TOO.plan())
    assert migration.phase is Phase.DONE
    assert isinstance(box_of(engine), PlanBox)


def test_inputs_that_are_already_past_the_split_release_the_old_plan_at_once() -> None:
    """Results that the old plan still held come out with the call itself."""
    results: list = []
    total = LEFT.aggregate(n=count())
    engine = Engine(total.plan(), results.extend)
    engine.push("l", rows([0], (1, 9)))
    engine.advance("l", 10_000)
    migration = engine.migrate(total.plan(), replace_all=True)
    assert migration.phase is Phase.DONE
    assert results == [(0, 10, (1,))]


def test_an_aggregate_that_spans_the_split_is_fused_into_one() -> None:
    """Not only equivalent: the result is not cut at all."""
    results: list = []
    s = stream("s", x="integer", intervals=True)
    plan = s.aggregate(top=max_("x")).plan()
    engine = Engine(plan, results.extend)
    engine.push("s", [(0, 10, (1,))])
    migration = engine.migrate(plan, replace_all=True)
    engine.push("s", [(2, 50, (7,))])
    engine.advance("s", 20)
    assert migration.phase is Phase.DRAINING
    assert [part.old for part in migration.parts] == [None]
    engine.close()
    assert results == [(0, 2, (1,)), (2, 10, (7,)), (10, 50, (7,))]
    assert migration.phase is Phase.DONE
    assert report(migration).results_fused == 1


@pytest.mark.parametrize("origin", [-(10**6), 2**53, 2**63, 10**20])
@pytest.mark.parametrize("strategy", FORKING)
def test_timestamps_of_any_size(origin: int, strategy: str) -> None:
    """Nanoseconds since 1970 do not fit a float; the instant between two of them must be exact."""
    results: list = []
    plan = LEFT.join(RIGHT, on=[("x", "z")]).plan()
    swapped = RIGHT.join(LEFT, on=[("x", "z")], columns=("x", "y", "z")).plan()
    streams = {
        "l": rows(range(origin, origin + 60, 3), (1, 9)),
        "r": rows(range(origin, origin + 60, 7), (1,)),
    }
    engine = Engine(plan, results.extend)
    engine.push("l", streams["l"][:7])
    engine.push("r", streams["r"][:3])
    migration = engine.migrate(swapped, strategy)
    engine.push("l", streams["l"][7:])
    engine.push("r", streams["r"][3:])
    engine.close()
    assert normal_form(results) == normal_form(run(plan, streams))
    assert is_ordered(results)
    assert migration.phase is Phase.DONE
    assert report(migration).unmatched == 0


def test_plans_that_do_not_mean_the_same_are_found_out() -> None:
    """Where the caller vouches wrongly, it shows in the report, and no fragment is dropped."""
    results: list = []
    s = stream("s", x="integer", intervals=True)
    engine = Engine(s.plan(), results.extend)
    engine.push("s", [(0, 5, (1,))])
    migration = vouched(engine, s.select(x=col("x") + 1).plan())
    engine.push("s", [(2, 9, (1,)), (30, 31, (1,))])
    engine.close()
    assert results == [(0, 5, (1,)), (2, 9, (1,)), (6, 9, (2,)), (30, 31, (2,))]
    assert report(migration).unmatched == 2


def test_a_migration_within_a_migration_is_unwrapped_when_it_is_done() -> None:
    """The second split time lies beyond the first, even if nothing came in between."""
    plan = LEFT.plan()
    engine = Engine(plan)
    engine.push("l", rows([0], (1, 9)))
    first = engine.migrate(plan, replace_all=True)
    second = engine.migrate(plan, replace_all=True)
    (inner,), (outer,) = first.parts, second.parts
    assert isinstance(outer.old, PlanBox)
    assert under_way(outer.old) == [inner]
    assert (report(first).split_time, report(second).split_time) == (11, 12)
    engine.push("l", rows([5, 11], (1, 9)))
    assert first.phase is Phase.DONE
    assert under_way(outer.old) == []
    engine.push("l", rows([13], (1, 9)))
    assert second.phase is Phase.DONE
    assert report(second).peak_held == 2  # promises, until the new plan is given what has waited for it


def test_a_wrong_plan_does_not_let_the_split_time_out() -> None:
    """An aggregate that is open at the split time in one plan only still comes out in whole chronons."""
    s = stream("s", x="integer", intervals=True)
    right, wrong = s.filter(col("x") > 5).aggregate(n=count()), s.aggregate(n=count())
    for old, new in ((right, wrong), (wrong, right)):
        results: list = []
        engine = Engine(old.plan(), results.extend)
        engine.push("s", [(0, 10, (1,))])
        migration = vouched(engine, new.plan())
        engine.push("s", [(3, 60, (1,)), (20, 21, (9,))])
        engine.close()
        assert all(isinstance(t, int) for start, end, _ in results for t in (start, end))
        assert is_ordered(results)
        assert report(migration).unmatched == 1
        assert migration.phase is Phase.DONE


def test_heartbeats_that_go_back_are_ignored() -> None:
    old, new = Doubler(), Doubler()
    migration, _ = migrate_box(old, new, STRATEGIES["genmig"], max_ends=[90], reached=[40])
    migration.advance(0, 30)
    assert old.heartbeats == [40]
    migration.advance(0, 50)
    migration.advance(0, 50)
    assert old.heartbeats == [40, 50]


def test_an_output_that_is_drained_goes_on_while_another_drains() -> None:
    """Progress is reported output by output."""
    from midstream.plans.algebra.plan import Plan

    s = stream("s", x="integer", intervals=True)
    kept = s.filter(col("x") > 0)
    plan = Plan({"all": kept.node, "n": kept.aggregate(n=count()).node})
    results: list = []
    engine = Engine(plan)
    engine.subscribe(results.extend, "all")
    engine.push("s", [(0, 10, (1,))])
    migration = engine.migrate(plan, replace_all=True)
    engine.push("s", [(3, 90, (1,))])
    engine.advance("s", 40)
    assert migration.phase is Phase.DRAINING
    assert report(migration).peak_held == 1
    (part,) = migration.parts
    assert (part.progress(0), part.progress(1)) == (40, 10)
    assert results == [(0, 10, (1,)), (3, 90, (1,))]


def test_state_is_released_and_peaks_are_kept() -> None:
    plan = LEFT.join(RIGHT, on=[("x", "z")]).plan()
    engine = Engine(plan)
    engine.push("l", rows(range(5), (1, 9)))
    assert max_end(box_of(engine)) == 14
    assert state_size(box_of(engine)).elements == 5
    assert state_size(box_of(engine)).bytes > 5 * 100
    migration = engine.migrate(plan, replace_all=True)
    engine.push("l", rows(range(5, 10), (1, 9)))
    assert report(migration).peak_state_old == 10
    (part,) = migration.parts
    assert part.size() == len(list(part.state()))
    engine.push("r", rows([30], (1,)))
    engine.push("l", rows([30], (1, 9)))
    assert isinstance(box_of(engine), PlanBox)
    assert box_of(engine).size() == 2
    assert report(migration).peak_state_new >= 1


class Doubler:
    """A box of some other engine: two results for every element, at once."""

    inputs = ("in",)
    outputs = ("out",)

    def __init__(self) -> None:
        self.reached: Time = BEGINNING
        self.ended = 0
        self.heartbeats: list[Time] = []

    def push(self, port: int, batch: Batch) -> list[Batch]:
        self.reached = batch[-1][0]
        return [[element for element in batch for _ in range(2)]]

    def advance(self, port: int, time: Time) -> list[Batch]:
        self.heartbeats.append(time)
        self.reached = max(self.reached, time)
        return [[]]

    def end(self, port: int) -> list[Batch]:
        self.ended += 1
        return self.advance(port, FOREVER)

    def progress(self, output: int = 0) -> Time:
        return self.reached

    def size(self) -> int:
        return 0

    def state(self) -> Iterable[Element]:
        return ()

    def counters(self) -> Mapping[str, int]:
        return {}


@pytest.mark.parametrize("strategy", [STRATEGIES[name] for name in (*FORKING, "swap")], ids=lambda s: s.name)
def test_boxes_of_another_engine_migrate_by_the_contract_alone(strategy: Strategy) -> None:
    old, new = Doubler(), Doubler()
    assert isinstance(old, Box)
    elements = [(t, t + 7, t % 3) for t in range(0, 60, 2)]
    out = old.push(0, elements[:10])[0]
    migration, ready = migrate_box(old, new, strategy, max_ends=[elements[9][1]], reached=[old.progress()])
    assert isinstance(migration, Box)
    out += ready[0] + migration.push(0, elements[10:])[0] + migration.end(0)[0]
    assert equivalent(out, [element for element in elements for _ in range(2)])
    assert is_ordered(out)
    assert isinstance(migration, Migration)
    assert migration.successor is new
    assert old.ended == 1


def test_several_outputs_are_fused_one_by_one() -> None:
    from midstream.plans.algebra.plan import Plan

    def outputs(filtered_first: bool) -> Plan:
        pairs = SILENT_TOO if filtered_first else SILENT
        return Plan({"pairs": pairs.node, "counts": pairs.group_by("x").aggregate(n=count()).node})

    pairs: list = []
    counts: list = []
    expected: dict[str, list] = {"pairs": [], "counts": []}
    engine, alone = Engine(outputs(False)), Engine(outputs(False))
    engine.subscribe(pairs.extend, "pairs")
    engine.subscribe(counts.extend, "counts")
    for name, sink in expected.items():
        alone.subscribe(sink.extend, name)
    for step in range(12):
        if step == 4:
            migration = engine.migrate(outputs(True))
        for one in (engine, alone):
            one.push("l", rows(range(step * 5, step * 5 + 5), (1, 9)))
            one.push("r", rows([step * 5 + 2], (1,)))
    engine.close()
    alone.close()
    assert migration.phase is Phase.DONE
    assert equivalent(pairs, expected["pairs"])
    assert equivalent(counts, expected["counts"])
    assert counts
    assert is_ordered(pairs)
    assert is_ordered(counts)


def test_what_a_window_above_reads_as_well_stays() -> None:
    """The duplicate elimination runs once, below the fork: no two plans can run what a window reads."""
    rows = stream("s", x="integer").window(6).distinct()
    gained = rows.istream().rename({"x": "y"})
    old = rows.join(gained)
    history = list(chronons([(t, (t % 3,)) for t in range(0, 40, 2)]))
    results: list = []
    engine = Engine(old.plan(), results.extend)
    engine.push("s", history[:7])
    migration = engine.migrate(gained.join(rows, columns=["x", "y"]).plan())
    assert {str(node.operator) for node in host_of(engine).exchangeable_inputs()} == {"distinct", "istream"}
    for element in history[7:]:
        engine.push("s", [element])
    engine.close()
    assert migration.phase is Phase.DONE
    assert verdict(specified(old.plan(), {"s": history}), results)


def test_an_arrangement_above_a_window_is_part_of_the_new_plan() -> None:
    """CQL's Rstream: chronons before the migration, and chronons behind it."""
    window = stream("s", x="integer").window(3)
    results: list = []
    engine = Engine(window.filter(col("x") > 1).rstream().plan(), results.extend)
    engine.push("s", chronons([(0, (7,))]))
    engine.migrate(window.rstream().filter(col("x") > 1).plan())
    engine.push("s", chronons([(20, (8,)), (40, (9,))]))
    engine.close()
    assert results == [(t + i, t + i + 1, (x,)) for t, x in ((0, 7), (20, 8), (40, 9)) for i in range(3)]


@pytest.mark.parametrize("signed", [False, True])
def test_a_split_time_inside_a_chronon_does_not_show_in_pieces(signed: bool) -> None:
    """The piece that is cut there is put together; pieces go on being cut where chronons end."""
    s = stream("s", x="integer", intervals=True)
    new = s.coalesce(5).split(2).distinct().plan()
    results: list = []
    engine = Engine(s.distinct().plan(), results.extend)
    engine.push("s", [(0, 5, (7,))])
    migration = engine.migrate(signed_plan(new) if signed else new)
    engine.push("s", [(3, 12, (8,)), (5, 9, (7,)), (20, 23, (7,))])
    engine.close()
    assert migration.split == 5.5
    assert all(type(t) is int for start, end, _ in results for t in (start, end))
    assert equivalent(results, [(0, 9, (7,)), (3, 12, (8,)), (20, 23, (7,))])
    assert report(migration).unmatched == 0
