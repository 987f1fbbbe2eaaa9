"""Fidelity of charts: the share of rounds in which a chart chooses the best plan."""
