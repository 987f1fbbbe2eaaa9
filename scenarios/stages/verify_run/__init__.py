"""The recorded output of a run, compared with Spark SQL."""
