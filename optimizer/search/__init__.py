"""Which of all equivalent plans to run: what rules make of a plan, and the cheapest of that."""
