"""The way of an element as generated code."""
