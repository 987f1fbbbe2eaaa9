"""Rules about projections."""
