"""Streams of files that nobody declared: what a file's beginning tells."""
