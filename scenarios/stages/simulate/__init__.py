"""Migrations of the real engine on slices of recorded streams, run on Spark's executors."""
