"""A stage of a study: its declaration, its request, its options, and its summary."""
