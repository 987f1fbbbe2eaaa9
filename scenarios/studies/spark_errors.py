"""What Spark raises, and what it says of the first cause."""

from __future__ import annotations

from pyspark.errors import PySparkException

try:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
except ImportError:  # a client of Spark Connect has none
    SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException,)
else:
    SPARK_ERRORS = (PySparkException, Py4JError)


def reason(error: Exception) -> str:
    """What an error of Spark says of its first cause."""
    cause, text = getattr(error, "java_exception", None), str(error)
    while cause is not None:
        text = str(cause.getMessage() or text)
        cause = cause.getCause()
    return " ".join(text.split())
