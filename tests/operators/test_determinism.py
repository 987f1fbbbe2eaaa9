"""Two runs of the same query on the same data give the same bytes.

Sets of strings are ordered by a hash that Python seeds anew in every process; nothing may depend on it:
neither results, nor the form in which plans are written, nor what a kept hash says of a plan that was made
elsewhere.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap

SCRIPT = """
    import pickle, sys
    from midstream.driving import run
    from midstream.operators.engine.running.planner import physical_plan
    from midstream.plans.expressions.aggregates import avg, count, max_
    from midstream.plans.algebra.builder import stream
    from midstream.plans.expressions.operands import col
    from midstream.plans.algebra.plan import Plan
    from midstream.plans.algebra.properties import equal_columns, input_nodes
    from midstream.plans.algebra.serialise import dumps
    from midstream.plans.values.snapshots import equivalent
    from midstream.plans.values.streams import chronons

    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    left = stream("left", word="string", letter="string", price="float?").alias("l").window(7)
    right = stream("right", word="string", letter="string", price="float?").alias("r").window(5)
    third = stream("third", word="string").alias("t").window(None)
    data = {
        "left": list(chronons((t, (words[t * 7 % 10], words[t % 3][0], t / 3)) for t in range(40))),
        "right": list(chronons((t, (words[t * 3 % 10], words[t % 4][0], None)) for t in range(40))),
        "third": list(chronons((t // 5, (words[t % 10],)) for t in range(40))),
    }
    condition = (
        col("r.word").eq(col("l.word")) & (col("l.letter") < "e")
        & col("r.letter").ne("k") & (col("l.price") >= 1.5)
    )
    pairs = left.join(right, on=condition)
    chain = pairs.join(third, on=[("l.word", "t.word"), ("r.word", "t.word")])
    wanted = Plan({
        "chain": chain.node,
        "groups": pairs.group_by("r.letter", "l.letter").aggregate(n=count(), top=max_("l.word")).node,
        "mean": pairs.aggregate(mean=avg("l.price")).node,
        "words": left.select("l.word").union(right.select(**{"l.word": col("r.word")})).distinct().node,
    })
    print(wanted)
    print(physical_plan(wanted))
    print(dumps(wanted))
    print(*(sorted(names) for names in equal_columns(chain.node)))
    print(*map(str, input_nodes(wanted)))
    print(*(source.stream for source in wanted.sources))
    for name, root in wanted.outputs.items():
        plan = Plan(root)
        for size in (1, 13, 1000):
            streams = {source.stream: data[source.stream] for source in plan.sources}
            for element in run(plan, streams, size):
                print(name, size, element)
    print(equivalent(run(left.plan(), {"left": data["left"]}), []))
"""

PICKLE = """
    import pickle, sys
    from midstream.plans.expressions.aggregates import count
    from midstream.plans.algebra.builder import stream
    from midstream.plans.expressions.operands import col
    s = stream("s", word="string", x="integer").window(5)
    plan = s.filter(col("word").eq("a") & (col("x") > 1)).group_by("word").aggregate(n=count()).plan()
"""


def output(script: str, seed: str, arrived: bytes = b"") -> bytes:
    """What a script prints in a process with a hash seed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        input=arrived,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_results_and_plans_do_not_depend_on_the_hash_seed() -> None:
    first = output(SCRIPT, "0")
    assert first.count(b"\n") > 500
    for seed in ("1", "12345"):
        assert output(SCRIPT, seed) == first


def test_a_pickled_plan_is_the_same_plan_in_another_process() -> None:
    """The hash that a node keeps must not travel: it would be another process's."""
    pickled = output(f"{PICKLE}    sys.stdout.buffer.write(pickle.dumps(plan))", "1")
    assert pickle.loads(pickled).schema.names == ("word", "n")
    check = (
        f"{PICKLE}    other = pickle.loads(sys.stdin.buffer.read())\n"
        "    assert other == plan and hash(other) == hash(plan) and other in {plan}\n"
        "    assert [hash(a) for a in other.nodes] == [hash(b) for b in plan.nodes]\n"
        "    print('same')"
    )
    assert output(check, "2", pickled) == b"same\n"
