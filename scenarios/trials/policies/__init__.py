"""Costs of choosing among plans while a query runs: policies, judged by equal arrivals."""
