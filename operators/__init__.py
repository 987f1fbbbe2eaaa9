"""How a plan runs: the Box contract, SweepAreas, physical operators, and the engine that drives them."""
