"""The costs of running plans in turn: bills, the cheapest one, and policies that are replayed."""
