"""Settings of levers within a budget: forecasts, precision, and the allocation of memory and processor."""
