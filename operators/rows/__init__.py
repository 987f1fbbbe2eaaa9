"""Filter, map, union, duplicate elimination, difference: what takes rows as they are."""
