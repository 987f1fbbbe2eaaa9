"""The NEXMark auction workload."""
