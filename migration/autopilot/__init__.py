"""Whether, when and how to move to another plan: an advisor is asked, and the cost of changing is counted."""
