"""Rules that move windows, granularities and the streams of changes, and merge them."""
