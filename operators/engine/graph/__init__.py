"""The query graph, and all that changes it: elements, queries, settings, migrations."""
