"""Whole studies: a file that describes a study, its stages in order, a log, and a page with the results."""
