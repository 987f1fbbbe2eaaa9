"""Offline studies on Spark."""
