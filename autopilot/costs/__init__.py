"""What it costs to take turns among plans: bills, the cheapest one, and policies that are replayed."""
