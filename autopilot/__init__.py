"""The autopilot: it decides when a query moves to which plan, and accounts for the costs."""
