"""Statistics of streams while they flow; recent elements count most."""
