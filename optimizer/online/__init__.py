"""Statistics of streams while they flow: what came lately counts most."""
