"""Rules that move, split and merge filters."""
