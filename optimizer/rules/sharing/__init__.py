"""Rules that bring out what subplans of several queries have in common."""
