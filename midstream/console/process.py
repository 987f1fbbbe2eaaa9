"""The process of a command: signals, closed, full or broken streams, and the exit status.

0 done     1 the answer is no     2 bad input, or something is not installed     130 interrupted
"""

from __future__ import annotations

import io
import itertools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar, TextIO

from typer.core import TyperGroup

from midstream.io.errors import ConnectorError
from midstream.io.output import forget
from midstream.plans.values.errors import MidstreamError, Note

INTERRUPTIONS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

TRACEBACK = "MIDSTREAM_TRACEBACK"

ONLY_HELP = "midstream.only_help"
"""In the `meta` of a group's context: whether a command of the group is only asked for its help."""


def as_process(command: Callable[[], object]) -> int:
    """Run a command in a process of its own, and return the exit status.

    An interruption becomes KeyboardInterrupt wherever the command is; a second one ends the process. If the
    reader of standard output has gone, this is not an error; if standard output cannot be written, it is one.
    The environment variable MIDSTREAM_TRACEBACK shows the traceback of a fault of Midstream itself.
    """
    _open_what_is_closed()
    status = 0
    with _interruptions():
        _guard_streams()
        try:
            with reported():
                try:
                    command()
                finally:
                    sys.stdout.flush()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception as fault:
            if TRACEBACK in os.environ:
                raise
            tell(f"a fault of Midstream itself: {type(fault).__name__}: {fault}; {TRACEBACK}=1 shows where")
            status = 2
    return status


@contextmanager
def reported() -> Iterator[None]:
    """Turn MidstreamError and interruptions into messages on stderr and an exit status.

    Warnings of unlikely times become notes.
    """
    try:
        with _noted():
            yield
    except KeyboardInterrupt as interruption:
        tell("interrupted", *getattr(interruption, "__notes__", ()))
        raise SystemExit(130) from None
    except (MidstreamError, OSError, RecursionError, MemoryError) as error:
        tell(_message(error), *getattr(error, "__notes__", ()))
        raise SystemExit(2) from error


class QuickGroup(TyperGroup):
    """Commands whose help does not wait for checks of options that are not there."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options in front of the command."""
        in_front = itertools.takewhile(lambda argument: argument != "--", args)
        ctx.meta[ONLY_HELP] = not set(ctx.help_option_names).isdisjoint(in_front)
        if not args or args[0].startswith("-"):
            return super().parse_args(ctx, args)
        # There are none. Typer would load pydantic to find that out, a sixth of the time of help.
        options = self.params
        self.params, self.add_help_option = [option for option in options if option.envvar], False
        ctx.params.update({option.name: option.default for option in options if option.expose_value})
        try:
            return super().parse_args(ctx, args)
        finally:
            self.params, self.add_help_option = options, True


class ErrorReportingGroup(QuickGroup):
    """Commands whose errors and interruptions become messages on stderr and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with reported():
            return super().invoke(ctx)


@contextmanager
def _noted() -> Iterator[None]:
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, Note):
                print(f"note: {message}", file=sys.stderr)
            else:
                show(message, category, filename, lineno, file, line)

        warnings.simplefilter("always", Note)
        warnings.showwarning = note
        yield


def _message(error: Exception) -> str:
    match error:
        case OSError():
            what = f"{error.filename}: " if error.filename is not None else ""
            return f"{what}{error.strerror or error}"
        case RecursionError():
            return "found something that is nested too deeply"
        case MemoryError():
            return "there is not enough memory"
    return str(error)


def tell(*messages: str) -> None:
    """Print messages on stderr, one per line."""
    for message in messages:
        print(f"midstream: {message}", file=sys.stderr)


class Uninterrupted:
    """A block that an interruption does not cut in two: it takes effect behind the block.

    It is not for work that may wait for others, as on a pipe.
    """

    depth: ClassVar[int] = 0
    is_due: ClassVar[bool] = False

    def __enter__(self) -> None:
        Uninterrupted.depth += 1

    def __exit__(self, *exception: object) -> None:
        Uninterrupted.depth -= 1
        if Uninterrupted.is_due and not Uninterrupted.depth:
            Uninterrupted.is_due = False
            raise KeyboardInterrupt


@contextmanager
def _interruptions() -> Iterator[None]:
    """Let signals interrupt a block once, and end the process the second time.

    Nothing can interrupt the code after the block. Ignored signals, such as those of a background job, stay
    ignored.
    """
    is_interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal is_interrupted
        if is_interrupted:
            os.write(2, b"midstream: interrupted again, so unfinished files may be left\n")
            os._exit(130)
        is_interrupted = True
        if Uninterrupted.depth:
            Uninterrupted.is_due = True
            return
        raise KeyboardInterrupt

    def missed(unraisable: Any) -> None:
        """Interrupt again where Python swallows exceptions, as in finalizers."""
        nonlocal is_interrupted
        if unraisable.exc_type is KeyboardInterrupt:
            is_interrupted = False
            signal.raise_signal(signal.SIGINT)
        else:
            sys.__unraisablehook__(unraisable)

    heard = [number for number in INTERRUPTIONS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, interrupt)
    sys.unraisablehook = missed
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_IGN)


class _Guarded(io.TextIOWrapper):
    """Standard output or error that drops its output once the reader of a pipe has gone.

    Raises   ConnectorError where standard output cannot be written; for standard error nobody can be told.
    """

    is_error = False

    def write(self, text: str, /) -> int:
        self._try(super().write, text)
        return len(text)

    def flush(self) -> None:
        if not self.closed:
            self._try(super().flush)

    def _try(self, call: Callable[..., object], *arguments: str) -> None:
        try:
            call(*arguments)
        except OSError as error:
            forget(self)
            if not (self.is_error or isinstance(error, BrokenPipeError)):
                raise ConnectorError(f"stdout: {error.strerror or error}") from error


def _guard_streams() -> None:
    for name in ("stdout", "stderr"):
        given = getattr(sys, name)
        if isinstance(given, io.TextIOWrapper):
            encoding, is_by_line = given.encoding, given.line_buffering
            guarded = _Guarded(given.detach(), encoding, "backslashreplace", line_buffering=is_by_line)
            guarded.is_error = name == "stderr"
            setattr(sys, name, guarded)


def _open_what_is_closed() -> None:
    """Open closed standard streams on the null device, the wrong way round, so that using them fails.

    Otherwise the next opened file, perhaps a user's, would take their place.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if mode == "r" else os.O_RDONLY)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
