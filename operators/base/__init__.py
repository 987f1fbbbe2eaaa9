"""The base of all operators: the Box contract, ports, the order of results, and expiry."""
