"""Expressions over the columns of a payload, and aggregate functions."""
