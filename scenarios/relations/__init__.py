"""Relations: load them, stream their changes, and keep results as relations (thesis, section 17.4)."""

from midstream.scenarios.relations.csv_file import load_csv
from midstream.scenarios.relations.errors import DatabaseError, RelationError
from midstream.scenarios.relations.maintained_table import MaintainedTable
from midstream.scenarios.relations.parquet_file import load_parquet
from midstream.scenarios.relations.sql_database import load_sql
from midstream.scenarios.relations.temporal_table import TemporalTable
from midstream.scenarios.relations.time_varying import TimeVaryingRelation

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
