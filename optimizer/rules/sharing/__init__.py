"""Rules that reveal common parts of several queries."""
