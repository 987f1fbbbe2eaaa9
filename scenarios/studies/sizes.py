"""How much a study reads."""

from __future__ import annotations

from midstream.plans.values.errors import InputFileError
from midstream.scenarios.studies.declaration import Study
from midstream.scenarios.studies.ingest.input_files import input_files

SMALL = 4 << 20
"""So many bytes are few: some ten thousand rows of a CSV file, or some 100,000 that were ingested."""


def is_small(study: Study) -> bool:
    """Whether the files of a study's streams together are small; of URLs it is not known."""
    try:
        files = {file for stream in study.streams.values() for file in input_files(stream.path)}
    except InputFileError:  # what is wrong with them is told where they are read
        return False
    return sum(file.size for file in files) <= SMALL
