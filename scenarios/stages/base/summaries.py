"""Summaries of studies as plain data, and their parts that several stages tell."""

from __future__ import annotations

from typing import Any

from midstream.scenarios.streams.recorded.declaration import Study

Summary = dict[str, Any]
"""Results of a stage as plain data, for JSON."""


def frame(study: Study, starts: range) -> Summary:
    """The header of every study's summary: its name and title, and its buckets."""
    return {
        "study": study.name,
        "title": study.title,
        "unit": study.clock.unit,
        "bucket": starts.step,
        "buckets": len(starts),
        "first": starts[0] if starts else None,
        "last": starts[-1] if starts else None,
    }


def bucket_facts(study: Study, summary: Summary) -> list[str]:
    """The number of buckets, and the time that they cover."""
    if not summary["buckets"]:
        return ["The streams hold no elements."]
    clock, end = study.clock, summary["last"] + summary["bucket"]
    return [
        f"{summary['buckets']:,} buckets of {clock.show_duration(summary['bucket'])}, from "
        f"{clock.show(summary['first'])} to {clock.show(end)}."
    ]


def more_buckets(summary: Summary, listed: int) -> str:
    """A note on the buckets that a table does not list."""
    more = summary["buckets"] - listed
    return f"… and {more:,} more buckets: files have all, the option rows lists more" if more else ""
