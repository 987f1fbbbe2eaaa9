"""Spark: its session, its workers, its schemas, and files that it writes."""
