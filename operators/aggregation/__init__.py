"""Aggregation of interval streams."""
