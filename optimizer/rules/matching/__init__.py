"""Rules of semi-joins and anti-joins."""
