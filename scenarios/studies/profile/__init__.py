"""What is known of recorded streams besides pairs: rates, values, conditions; and all for the optimizer."""
