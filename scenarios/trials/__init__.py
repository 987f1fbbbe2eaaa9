"""Trials in one process: scenarios of migration, policies, and measurements of the optimizer."""
