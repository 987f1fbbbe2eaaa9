"""Measurements of running queries: counts, ends, gauges, recent elements, cells of streams."""
