"""What all operators share: the Box contract, ports, the order of results, and what expires."""
