"""Queries in SQL: a catalog of streams, and the translation of statements into logical plans."""
