"""Charts: the best plan for each region of rates and selectivities, looked up in constant time."""
