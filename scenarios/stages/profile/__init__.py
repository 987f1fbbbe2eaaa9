"""Profiles of recorded streams besides pairs: rates, values, conditions; all of it for the optimizer."""
