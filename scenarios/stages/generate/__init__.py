"""Streams of any size, made in parts: each cell of time can be made alone, with equal elements."""
