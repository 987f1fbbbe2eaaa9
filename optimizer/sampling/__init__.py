"""Selectivities from samples, with confidence intervals."""
