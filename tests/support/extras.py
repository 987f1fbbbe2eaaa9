"""The libraries that need not be installed, and the extras that bring them."""

from __future__ import annotations

import importlib.util
import sys

EXTRAS = {
    "bytewax": "peers",
    "duckdb": "dev",
    "grpc": "spark-connect",
    "hypothesis": "testing",
    "jinja2": "spark",
    "matplotlib": "plot",
    "pandas": "spark",
    "pyarrow": "arrow",
    "pydantic": "simulate",
    "pyspark": "spark",
    "sqlalchemy": "sql",
    "streamz": "peers",
    "yaml": "simulate",
}


def what_is_missing(error: BaseException | None) -> str | None:
    """What to install so that this error does not come; None where it has another reason."""
    while error is not None:
        named = getattr(error, "missing", None) or [getattr(error, "name", None) or ""]
        for library in (name.partition(".")[0] for name in named):
            if library in EXTRAS and not is_installed(library):
                return f"needs {library}: pip install 'midstream[{EXTRAS[library]}]'"
        error = error.__cause__
    return None


def is_installed(library: str) -> bool:
    """Whether a library can be imported."""
    if library in sys.modules:
        return sys.modules[library] is not None
    return importlib.util.find_spec(library) is not None
