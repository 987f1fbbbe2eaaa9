"""The costs of taking turns among plans: bills, the cheapest one, and policies that are replayed."""
