"""Charts of recorded streams, made on Spark's executors."""
