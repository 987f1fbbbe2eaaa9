"""Whether two plans mean the same."""
