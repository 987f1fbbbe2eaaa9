"""Joins, semi-joins and anti-joins of interval streams."""
