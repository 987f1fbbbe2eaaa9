"""Charts: the best plan for every region of what may change, made once and looked up in constant time."""
