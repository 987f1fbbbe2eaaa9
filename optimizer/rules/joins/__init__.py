"""Rules that change the order of joins."""
