"""Selectivities from samples, with intervals."""
