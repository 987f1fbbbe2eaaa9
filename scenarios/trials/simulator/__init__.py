"""Scenarios of migration: streams, plans and strategies described in a file, run and compared."""
