"""The costs of a query under other plans over time, and of taking turns among them."""
