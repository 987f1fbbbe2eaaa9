"""The benchmark: Midstream, hand-written loops and other libraries do the same work in one run."""
