"""Count the pairs of elements that are valid together, and those that agree on columns, by time bucket.

An element that starts at t under a window of w chronons is valid in [t, t + w), so elements of two streams
are valid together where neither ends before the other starts. The pair is counted in the bucket of its
later start: there its result starts. Its result ends with the earlier end.

No pair is ever formed. Time is cut into cells of a few windows' length, so that an element is valid in at
most two of them; in each cell, and for each value of the columns if these are to agree, a sweep over starts
and ends keeps how many elements of either stream are valid, and each start meets as many partners as the
other stream has valid then. So it is with ends: each takes as many pairs with it as partners are still valid.

Cost     Three rows an element at most; one shuffle that adds up elements of one start (and value), one that
         sorts the rows of each cell (and value). A cell's rows are sorted by one task: without columns, at
         most five a chronon of the cell, however fast the streams are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column as Value
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from midstream.plans.values.schema import Type
from midstream.scenarios.recordings.recording import TIME, Recording, floor_to, payload, text_of
from midstream.scenarios.streams.recorded.declaration import RecordedStream, Study


@dataclass(frozen=True)
class Pair:
    """Two streams, and the columns that must agree: pairs of names as the files have them."""

    left: str
    right: str
    on: tuple[tuple[str, str], ...]


LEFT, RIGHT = 0, 1

CELL = 4
"""The length of a cell in windows; longer cells hold more rows, shorter ones hold more elements twice."""

# Within one instant: what ends there is gone, of two ends the left one counts as the earlier, and of two
# starts the right one as the later.
CARRIED, GONE_LEFT, GONE_RIGHT, STARTS_LEFT, STARTS_RIGHT = range(5)


def count_pairs(
    recording: Recording, study: Study, pairs: Sequence[Pair], *, in_every_bucket: bool = False
) -> DataFrame:
    """Count pairs for each bucket and pair of streams: (start, pair, overlapping, matched).

    pair          its position in `pairs`
    overlapping   pairs of elements that are valid together
    matched       those that agree on the pair's columns; unknown values agree with nothing

    Buckets and pairs without any are left out unless `in_every_bucket`.
    """
    swept = _swept(recording, study, pairs, (False, True))
    met = swept.select("pair", "is_matching", TIME, "met").where(F.col("met") > 0)
    if in_every_bucket:
        met = met.unionAll(_nothing(recording, pairs))
    start = floor_to(F.col(TIME), recording.bucket).alias("start")
    return met.groupBy(start, "pair").agg(
        F.sum(F.when(~F.col("is_matching"), F.col("met")).otherwise(0)).alias("overlapping"),
        F.sum(F.when(F.col("is_matching"), F.col("met")).otherwise(0)).alias("matched"),
    )


def count_changes(recording: Recording, study: Study, pairs: Sequence[Pair]) -> DataFrame:
    """Count the agreeing pairs that begin and end: (time, pair, met, ended), several rows an instant."""
    return _swept(recording, study, pairs, (True,)).select(TIME, "pair", "met", "ended")


def _swept(recording: Recording, study: Study, pairs: Sequence[Pair], kinds: Sequence[bool]) -> DataFrame:
    """The sweep over some pairs of streams: all pairs that overlap, those that agree, or both."""
    questions = [
        _questions(recording.frames[stream.name], study, pairs, stream, kinds)
        for stream in study.streams.values()
        if any(stream.name in (pair.left, pair.right) for pair in pairs)
    ]
    groups = ["pair", "is_matching", "cell_length", "side", "window", TIME, "key"]
    counted = reduce(DataFrame.unionAll, questions).groupBy(*groups).agg(F.count("*").alias("n"))
    return _sweep(_events(counted))


def _nothing(recording: Recording, pairs: Sequence[Pair]) -> DataFrame:
    """A row without pairs for every bucket and pair of streams."""
    none = F.lit(0).cast("long").alias("met")
    return recording.numbered_buckets(len(pairs), "pair").select(
        "pair", F.lit(False).alias("is_matching"), F.col("start").alias(TIME), none
    )


def _questions(
    frame: DataFrame, study: Study, pairs: Sequence[Pair], stream: RecordedStream, kinds: Sequence[bool]
) -> DataFrame:
    """The starts of one stream for each question about it, with the values that must agree."""
    parts = [
        _part(study, pair, i, side, is_matching)
        for i, pair in enumerate(pairs)
        for side in (LEFT, RIGHT)
        if stream.name == (pair.left, pair.right)[side]
        for is_matching in kinds
    ]
    exploded = frame.select(TIME, F.explode(F.array(*parts)).alias("part")).select(TIME, "part.*")
    return exploded.where(F.col("key").isNotNull())


def _part(study: Study, pair: Pair, number: int, side: int, is_matching: bool) -> Value:
    """One side of one question; its key is null where a value that must agree is unknown."""
    keys = _keys(study, pair, side) if is_matching else []
    windows = [study.streams[name].window for name in (pair.left, pair.right)]
    return F.struct(
        F.lit(number).alias("pair"),
        F.lit(is_matching).alias("is_matching"),
        F.lit(CELL * max(windows)).cast("long").alias("cell_length"),
        F.lit(side).alias("side"),
        F.lit(windows[side]).cast("long").alias("window"),
        F.concat(F.lit(""), *keys).alias("key"),
    )


def _keys(study: Study, pair: Pair, side: int) -> list[Value]:
    """The columns of one side as texts, which put together are equal only where the values are."""
    streams: Mapping[int, RecordedStream] = {LEFT: study.streams[pair.left], RIGHT: study.streams[pair.right]}
    keys = []
    for names in pair.on:
        types = {streams[i].columns[names[i]].type for i in (LEFT, RIGHT)}
        key = F.col(payload(streams[side].columns.index(names[side])))
        text = text_of(key, with_floats=Type.FLOAT in types)
        keys += [F.length(text).cast("string"), F.lit(":"), text]
    return keys


def _events(counted: DataFrame) -> DataFrame:
    """The changes of the number of valid elements in each cell, and the elements that arrive.

    They are a start; the end, in the same cell or the next; and, at the beginning of the next cell, the
    elements that are still valid.
    """
    n, side, time = F.col("n"), F.col("side"), F.col(TIME)
    cell = time - F.pmod(time, F.col("cell_length"))
    following, end = cell + F.col("cell_length"), time + F.col("window")

    def event(cell: Value, time: Value, phase: Value, change: Value, arriving: Value) -> Value:
        named = {"cell": cell, TIME: time, "phase": phase, "change": change, "arriving": arriving}
        return F.struct(*(value.alias(name) for name, value in named.items()))

    none = F.lit(0).cast("long")
    gone = F.when(side == LEFT, GONE_LEFT).otherwise(GONE_RIGHT)
    arrival = F.when(side == LEFT, STARTS_LEFT).otherwise(STARTS_RIGHT)
    events = F.array(
        event(cell, time, arrival, n, n),
        F.when(end <= following, event(cell, end, gone, -n, none)),
        F.when(end > following, event(following, following, F.lit(CARRIED), n, none)),
        F.when(end > following, event(following, end, gone, -n, none)),
    )
    exploded = counted.select("pair", "is_matching", "key", "side", F.explode(events).alias("event"))
    return exploded.where(F.col("event").isNotNull()).select("pair", "is_matching", "key", "side", "event.*")


def _sweep(events: DataFrame) -> DataFrame:
    """The number of pairs that each arrival makes, and of those that each end takes with it.

    An arrival makes a pair with each element of the other stream that is valid by then.
    """
    swept = Window.partitionBy("pair", "is_matching", "cell", "key").orderBy(TIME, "phase")
    # The frame grows only at its end, so a sum over it costs O(1) a row.
    so_far = swept.rangeBetween(Window.unboundedPreceding, Window.currentRow)
    of_left = F.when(F.col("side") == LEFT, F.col("change")).otherwise(0)
    of_right = F.when(F.col("side") == RIGHT, F.col("change")).otherwise(0)
    valid = events.select(
        "*",
        F.sum(of_left).over(so_far).alias("valid_left"),
        F.sum(of_right).over(so_far).alias("valid_right"),
    )
    others = F.when(F.col("side") == LEFT, F.col("valid_right")).otherwise(F.col("valid_left"))
    leaving = F.when(F.col("change") < 0, -F.col("change")).otherwise(0)
    found = valid.select(
        "pair",
        "is_matching",
        TIME,
        (F.col("arriving") * others).alias("met"),
        (leaving * others).alias("ended"),
    )
    return found.where((F.col("met") > 0) | (F.col("ended") > 0))
