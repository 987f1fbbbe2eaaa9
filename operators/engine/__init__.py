"""From plans to connected operators: the planner, the query graph, and the engine."""
