"""Relations: load them, stream their changes, and store results as relations (thesis, section 17.4)."""

from midstream.io.errors import DatabaseError, RelationError
from midstream.io.relations.csv_file import load_csv
from midstream.io.relations.maintained_table import MaintainedTable
from midstream.io.relations.parquet_file import load_parquet
from midstream.io.relations.sql_database import load_sql
from midstream.io.relations.temporal_table import TemporalTable
from midstream.io.relations.time_varying import TimeVaryingRelation

__all__ = [
    "DatabaseError",
    "MaintainedTable",
    "RelationError",
    "TemporalTable",
    "TimeVaryingRelation",
    "load_csv",
    "load_parquet",
    "load_sql",
]
