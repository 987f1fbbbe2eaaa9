"""What a query means: schemas, expressions, plans as data, and the logical algebra as executable
specification."""
