"""The cost model beside what our operators do: streams, runs, and what is predicted of them."""
