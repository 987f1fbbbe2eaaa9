"""The costs of a query under other plans over time, and of switching between them."""
