"""Queries as data: schemas, expressions, plans, SQL, and the logical algebra with its specification."""
