"""Rules of aggregations."""
