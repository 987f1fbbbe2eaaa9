"""Filter, map, union, duplicate elimination and difference: operators on rows that keep their validity."""
