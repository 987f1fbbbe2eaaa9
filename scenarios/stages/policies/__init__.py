"""The cost of changing plans over recorded streams, policy by policy."""
