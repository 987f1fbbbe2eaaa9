"""The path of an element as generated code."""
