"""The room that decides when a query moves to which plan, and tells what that costs."""
