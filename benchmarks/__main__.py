"""`python -m midstream.benchmarks`, in a checkout: benchmarks are no part of the installed package."""

import sys

from midstream.benchmarks.commands import PROGRAM, app
from midstream.console.process import as_process

if __name__ == "__main__":
    sys.exit(as_process(lambda: app(prog_name=PROGRAM)))
