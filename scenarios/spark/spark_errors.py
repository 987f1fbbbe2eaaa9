"""Errors of Spark, and the messages of their first causes."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pyspark.errors import PySparkException

from midstream.plans.values.errors import InputFileError

try:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
except ImportError:  # a client of Spark Connect has none
    SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException,)
else:
    SPARK_ERRORS = (PySparkException, Py4JError)


def _texts(error: Exception) -> list[str]:
    """The messages of an error of Spark and of its causes, the first cause last."""
    cause, texts = getattr(error, "java_exception", None), [str(error)]
    while cause is not None:
        texts.append(str(cause.getMessage() or texts[-1]))
        cause = cause.getCause()
    return texts


def reason(error: Exception) -> str:
    """The message of the first cause of an error of Spark."""
    return " ".join(_texts(error)[-1].split())


def failed(who: str, error: Exception) -> InputFileError:
    """An error of Spark as one of ours: the part at work, the file if it is known, and the first cause."""
    paths = [
        unquote(path)
        for text in _texts(error)
        for path in re.findall(r"file:/*(/[^\s,]+?)[.]?(?=[\s,]|$)", text)
    ]
    place = f", file {paths[0]}" if paths else ""
    return InputFileError(f"{who}{place}: {reason(error)}", path=paths[0] if paths else who)
