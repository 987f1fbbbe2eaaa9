"""Sinks of results: files and standard output."""
