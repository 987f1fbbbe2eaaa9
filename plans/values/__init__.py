"""Values: time, elements, schemas, snapshots, errors."""
