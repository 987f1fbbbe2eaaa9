"""Equivalence of two plans: proof by normal form, and search for a counter-example."""
