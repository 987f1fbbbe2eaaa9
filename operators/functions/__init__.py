"""Running aggregate functions of values that come and go."""
