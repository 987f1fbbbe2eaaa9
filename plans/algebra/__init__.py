"""The logical algebra: operators and plans as data, and what they mean."""
