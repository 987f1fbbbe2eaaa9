"""The search for the best of all equivalent plans: apply rules to a plan and compare the results."""
