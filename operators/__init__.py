"""Running plans: the Box contract, SweepAreas, physical operators, and the engine that drives them."""
