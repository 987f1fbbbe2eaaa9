"""Random migrations, tried on Spark or in one process."""
