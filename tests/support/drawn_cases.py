"""Cases of policies from a few elements, and lists of elements to draw."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from midstream.scenarios.trials.policies.case import Case, Key, one_key

ELEMENTS = st.lists(st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.sampled_from("xy")), max_size=40)
"""When, in which stream and with which key; none is later than 60."""


def case(elements: Iterable[tuple[int, str, str]]) -> Case:
    """A join of three streams that get these elements; the first one is always there."""
    streams: dict[str, list[tuple[int, Key]]] = {"a": [(0, "x")], "b": [], "c": []}
    for time, stream, key in sorted(elements):
        streams[stream].append((time, key))
    return one_key("made", 4, 8, streams)
