"""Coverage of intervals for sampled selectivities."""
