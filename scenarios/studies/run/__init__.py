"""Whole studies: a file that describes one, its stages in order, a log, and a page with what they found."""
