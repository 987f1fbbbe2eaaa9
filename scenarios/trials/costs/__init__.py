"""The cost model beside measurements of our operators: streams, runs, and predictions."""
