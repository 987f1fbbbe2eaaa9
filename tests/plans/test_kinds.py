"""What is known of an operator is in its file; other places that name a kind of operator are listed here.

Who adds an operator need not go to them: they deal with the kinds that they name, and with all others alike,
or not at all. A new place needs a reason; a fact that every operator has belongs into its file.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest

from midstream.operators.engine.running.planner import RUNNING
from midstream.plans.algebra.operators import KINDS

OPERATORS = "midstream.plans.algebra.operators"
IMPORTS = (f"from {OPERATORS}", f"from {OPERATORS.rpartition('.')[0]} import")
NAMES = {kind.__name__ for kind in KINDS.values()}
LEAVES = {"Source", "Relation"}
WINDOWS = {"TimeWindow", "CountWindow", "PartitionedWindow"}
CHANGES = {"Istream", "Dstream"}

ALLOWED: dict[str, tuple[set[str], str]] = {
    "plans/algebra/builder.py": (NAMES - {"Convert"}, "a method of a stream makes each operator"),
    "plans/algebra/plan.py": (LEAVES, "a plan lists the streams and the relations that it reads"),
    "plans/algebra/specification.py": ({"Sample"}, "rows that are drawn keep the order of their arrival"),
    "plans/algebra/scaling.py": (
        {
            "Sample",
            "TimeWindow",
            "Granularity",
            "Filter",
            "Project",
            "Aggregate",
            "Distinct",
            "Union",
            *CHANGES,
        },
        "what each gives decides if its rows are those of a sample, each with its share",
    ),
    "plans/algebra/properties/nodes.py": ({"Source"}, "what reads no stream does not go on in time"),
    "plans/algebra/properties/windowless.py": (
        {"Source", "Join", "SemiJoin", "AntiJoin", "Aggregate", "Distinct", *WINDOWS, *CHANGES},
        "what combines rows at one instant, and what gives rows a stated validity",
    ),
    "plans/algebra/properties/inclusions.py": (
        {"Relation", "TimeWindow", "Granularity", "Dstream"},
        "windows over both sides keep an inclusion",
    ),
    "plans/sql/*.py": (NAMES, "clauses of SQL mean these operators; some are refused over others"),
    "plans/equivalence/comparison.py": (LEAVES, "plans are compared over the same inputs"),
    "plans/equivalence/prover.py": (NAMES, "its equations are about these; others stand as they are"),
    "plans/equivalence/refutation.py": ({"Aggregate"}, "floats are summed in another order"),
    "plans/equivalence/small_inputs.py": (
        {*LEAVES, *WINDOWS, "Granularity", "Project", "Aggregate"},
        "inputs are drawn at which windows move on, and with the values that computed columns come from",
    ),
    "plans/equivalence/small_streams.py": (LEAVES, "inputs are made for what brings them"),
    "plans/equivalence/step_functions.py": (
        {*CHANGES, "TimeWindow", "Granularity", "Sample"},
        "a second reading of what operators over time mean; a test compares it with the first",
    ),
    "operators/base/facts.py": (
        {"Filter", "Project", "Join", "Aggregate", "TimeWindow", "CountWindow"},
        "what these are given runs on intervals and on signs, in families that do not know each other",
    ),
    "io/sources/pushed.py": ({"Source"}, "pushed rows become elements of a source"),
    "operators/engine/*.py": (LEAVES, "what comes from outside enters here"),
    "operators/engine/running/planner.py": (
        {"Split", "Convert"},
        "they are placed between what does not fit",
    ),
    "optimizer/cost/*.py": (
        {*WINDOWS, "Granularity", "Sample", "Project", "Join", "Aggregate", "Split", "Coalesce"},
        "formulas read parameters",
    ),
    "optimizer/statistics.py": (
        {"Source", "TimeWindow", "Filter", "Union"},
        "what was measured of windows is told of the sources below them",
    ),
    "optimizer/statistics_file.py": (
        {"Relation", "Filter", "Join", "Project"},
        "statistics are told of streams and relations, and of conditions, which move below projections",
    ),
    "commands/seen_statistics.py": ({"Source", "TimeWindow"}, "statistics are told of streams, by windows"),
    "optimizer/online/requirements.py": (
        {"Source", "Filter", "Join", "Project"},
        "columns and conditions are followed down to the streams that they read",
    ),
    "optimizer/search/cheapest.py": (
        {"Union", "AntiJoin", "Difference", "StrictDifference"},
        "fewer rows of an input of these may mean more results above",
    ),
    "optimizer/search/entered_orders.py": (
        {"Filter", "Join"},
        "join orders are entered for what stands above joins, but not for filters that pay below them",
    ),
    "optimizer/online/decayed_statistics.py": ({"Source"}, "statistics are told of streams"),
    "operators/engine/measuring/statistics_collector.py": (
        {"Source"},
        "streams are watched where they enter",
    ),
    "optimizer/charts/measures.py": (
        {"Filter", "Join", "Project", "Source", "TimeWindow"},
        "rates are those of sources, selectivities those of conditions",
    ),
    "optimizer/charts/naming.py": (
        {"Filter", "Join", "Project", "TimeWindow"},
        "a plan is named by the order of its joins and filters",
    ),
    "optimizer/sampling/sampler.py": ({"Filter", "Join"}, "a sampler plan filters rows and joins them"),
    "autopilot/learning.py": ({"Source"}, "what comes on streams is counted"),
    "autopilot/source_statistics.py": ({"Source"}, "each stream is learned by itself"),
    "autopilot/change_parts.py": ({"Granularity"}, "only granules wait for multiples of themselves"),
    "benchmarks/budgets.py": ({"Source", "TimeWindow"}, "streams are fed, and windows adjusted"),
    "autopilot/gathering.py": ({"Source"}, "elements of streams are gathered"),
    "optimizer/allocation/*.py": (
        {"Source", "Granularity"},
        "queries wait for statistics of streams; granules have to fit each other",
    ),
    "autopilot/looks.py": ({"TimeWindow"}, "it looks a few times in the largest window"),
    "scenarios/streams/recorded/inputs.py": ({"Relation"}, "a study knows no relations, and refuses them"),
    "autopilot/among_plans.py": ({"Join"}, "intermediate results are those of several joins"),
    "optimizer/search/*.py": ({"Join"}, "joins are put in order by a search of their own"),
    "optimizer/verification/declaring.py": ({"Source"}, "keys are declared of streams"),
    "optimizer/verification/subplans.py": (NAMES, "random subplans are made of them"),
    "optimizer/rules/*.py": (NAMES, "a rule is about what it rewrites"),
    "migration/*.py": (
        {*LEAVES, "TimeWindow"},
        "a migration leaves the inputs as they are; a window of one chronon may come and go",
    ),
    "migration/parallel_track.py": ({"Filter", "Project", "Union", "Join"}, "it is right over these alone"),
    "operators/engine/running/sharing.py": (
        {"Source", "TimeWindow"},
        "what a time window gives tells of the stream below it",
    ),
    "optimizer/search/weaker_filters.py": ({"Filter"}, "it is about filters"),
    "commands/charting.py": (
        {"TimeWindow"},
        "of a window without an end streams do not tell how long it keeps",
    ),
    "commands/explaining.py": (
        {*LEAVES, "TimeWindow"},
        "without statistics, lengths are assumed by the windows",
    ),
    "commands/running.py": ({"CountWindow", "PartitionedWindow"}, "their errors name the window"),
    "testing/plans.py": (
        {*LEAVES, *CHANGES, "TimeWindow", "Join", "Intersection"},
        "random plans keep what never ends out of windows",
    ),
    "scenarios/trials/costs/*.py": (
        {"Source", "Join"},
        "costs are measured of streams that are made for each source, and of some implementations of joins",
    ),
    "scenarios/trials/simulator/*.py": (
        {"Source", "TimeWindow", "Granularity", "Sample"},
        "scenarios change windows, granules and samples, and sources are what arrives",
    ),
    "scenarios/trials/simulator/joined_plans.py": (
        {"Filter", "Join", "Project", "Source", "TimeWindow"},
        "joins of three filtered streams are priced by replay",
    ),
    "scenarios/trials/simulator/priced.py": ({"Project"}, "projections give no intermediate results"),
    "scenarios/stages/verify_run/spark_sql.py": (NAMES, "a plan is written as SQL, operator by operator"),
    "testing/rephrasing.py": (NAMES, "queries are written in other forms, operator by operator"),
    "scenarios/streams/recorded/*.py": (
        {"Source", "TimeWindow", "Filter", "Project", "Join", "Distinct", "Aggregate"},
        "queries over recorded streams are plans of these",
    ),
    "scenarios/recordings/*.py": (
        {"Source", "TimeWindow", "Filter", "Project", "Join", "Union"},
        "facts are counted of these",
    ),
    "scenarios/stages/profile/drawing.py": ({"Sample"}, "a study draws what a sample of the stream has"),
    "scenarios/stages/*.py": (
        {"Source", "TimeWindow", "Filter", "Project", "Join", "Union", "Distinct", "Aggregate"},
        "studies over recorded streams are about plans of these",
    ),
}
"""By file, the kinds that it may name, and why."""


def sources() -> Iterator[tuple[str, str]]:
    """The modules of all rooms: where they are, and their text."""
    spec = find_spec("midstream")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    for folder, _, files in os.walk(root, followlinks=True):
        for path in (Path(folder, file) for file in files if file.endswith(".py")):
            yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def named_kinds(source: str) -> set[str]:
    """The kinds that a module imports, or reads off the package that holds them."""
    found: set[str] = set()
    packages: set[str] = set()
    if not any(words in source for words in IMPORTS):
        return found  # without parsing it, which takes long
    for node in ast.walk(tree := ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OPERATORS):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == OPERATORS.rpartition(".")[0]:
            packages |= {alias.asname or alias.name for alias in node.names if alias.name == "operators"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            found.add(node.attr)
    return found & NAMES


def unlisted(file: str, kinds: set[str]) -> set[str]:
    """The kinds that a file may not name: it is no module of running operators that names what it runs."""
    module = f"midstream.{file.removesuffix('.py').replace('/', '.')}"
    runs = {
        fact.implements.__name__
        for fact in RUNNING
        if module in sys.modules and fact in vars(sys.modules[module]).get("RUNNING", {})
    }
    allowed = [kinds for pattern, (kinds, _) in ALLOWED.items() if fnmatch(file, pattern)]
    return kinds - runs.union(*allowed)


FACTS = ("plans/algebra/operators/", "plans/algebra/implementations/")
NAMED = {
    file: kinds for file, text in sources() if not file.startswith(FACTS) and (kinds := named_kinds(text))
}


def test_the_search_finds_both_ways_of_naming() -> None:
    assert named_kinds("from midstream.plans.algebra.operators import Join, Leaf") == {"Join"}
    assert named_kinds("from midstream.plans.algebra.operators.join import Join") == {"Join"}
    assert named_kinds("from midstream.plans.algebra import operators as o\nisinstance(x, o.Join)") == {
        "Join"
    }
    assert "operators/joins/matching.py" in NAMED and "plans/algebra/builder.py" in NAMED


@pytest.mark.parametrize("file", NAMED)
def test_only_listed_places_name_a_kind_of_operator(file: str) -> None:
    assert unlisted(file, NAMED[file]) == set()


@pytest.mark.parametrize("pattern", ALLOWED)
def test_what_is_listed_is_named(pattern: str) -> None:
    named = set().union(*(kinds for file, kinds in NAMED.items() if fnmatch(file, pattern)))
    if ALLOWED[pattern][0] >= NAMES - {"Convert"}:
        assert named
    else:
        assert ALLOWED[pattern][0] <= named
