"""What it costs to choose among plans while a query runs: policies, judged by the same arrivals."""
