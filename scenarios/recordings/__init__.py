"""Recorded streams in Spark: read, counted, measured and priced."""
