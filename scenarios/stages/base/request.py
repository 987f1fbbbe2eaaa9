"""A request to a stage: streams, a query and a length of buckets, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from midstream.io.time_units import Clock
from midstream.plans.algebra.plan import Plan
from midstream.scenarios.streams.recorded.declaration import Study
from midstream.scenarios.streams.recorded.feeds import Feed
from midstream.scenarios.streams.recorded.inputs import declared_plan, require_priceable


def without_streams(name: str) -> Study:
    """The study of a stage that reads no streams."""
    return Study(name, "", Clock("ms"), {}, None)


@dataclass(frozen=True)
class Request:
    """A request to a stage, by a study file, a command or a program.

    study    the streams as they are recorded, and the query
    bucket   in chronons
    folder   to which paths in options are relative
    name     of the declaration of the query, for messages
    error    makes the error about an option; without an option's name, about the stage
    feeds    the files behind the streams, for ingestion
    """

    study: Study
    bucket: int
    folder: Path
    name: str
    error: Callable[[str, str], Exception]
    feeds: Sequence[Feed] = ()

    @classmethod
    def alone(
        cls,
        study: Study,
        bucket: str | None,
        error: Callable[[str, str], Exception],
        feeds: Sequence[Feed] = (),
    ) -> Request:
        """The request of a command or a program for one stage; without a length, buckets are chronons."""
        request = cls(study, 1, Path(), f"study {study.name}", error, feeds)
        return request if bucket is None else replace(request, bucket=request.chronons("bucket", bucket))

    @property
    def part(self) -> list[int | None]:
        """The length of buckets, and the studied part of the time."""
        return [self.bucket, self.study.since, self.study.until]

    def plan(self, file: str | None) -> Plan:
        """The plan in a file, else the study's query, to be priced.

        Raises   InputFileError where it does not fit the streams, or reads a relation.
        """
        place = None if file is None else self.folder / file
        if place is None and self.study.query is None:
            raise self.error("", "found no query and no plan, expected one of them")
        plan = declared_plan(self.study, place)
        require_priceable(plan, self.study, place or self.name)
        return plan

    def chronons(self, option: str, text: str) -> int:
        """A duration in chronons."""
        with self.errors_of(option, ValueError):
            return self.study.clock.chronons(text)

    @contextmanager
    def errors_of(self, option: str, *kinds: type[Exception]) -> Iterator[None]:
        """Turn errors of some kinds in the block into errors of an option."""
        try:
            yield
        except kinds as error:
            raise self.error(option, str(error)) from error
