"""The entry point: parse arguments, run, return the exit status.

The only module that prints. Exit status 0: done; 1: a gate rule tripped; 2: usage,
input or internal error.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pprofdiff._version import __version__
from pprofdiff.errors import MeasureError, PprofDiffError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from pprofdiff.cli.screen import Screen


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    # numpy's linear algebra is not used; its threads would only slow start-up.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Few objects are in cycles; 80 collections would take 5% of a short run.
    gc.set_threshold(100_000)
    # Skip the GC at exit: it is slow, and the process is ending anyway.
    atexit.register(gc.freeze)
    _fill_closed_streams()
    with _signals_that_end():
        return _status(words)


def _status(words: list[str]) -> int:
    """Run the command; print any error and return the exit status."""
    try:
        return _run(words)
    except PprofDiffError as error:
        from pprofdiff.units import printable

        output = error.output if isinstance(error, MeasureError) else ()
        # It may quote an input, which must not move the cursor.
        _complain(printable(_without_logins(str(error), words)), output)
    except BrokenPipeError:
        return 0  # The reader (head, less) is gone: there is nothing left to print.
    except OSError as error:
        _complain(error.strerror or str(error))
    except KeyboardInterrupt:
        _complain("interrupted")
    except MemoryError:
        _complain("out of memory; a lower --max-size refuses large inputs")
    except Exception as error:
        if os.environ.get("PPROFDIFF_TRACEBACK"):
            raise
        _complain(
            f"internal error, {type(error).__name__}: {error}; "
            "PPROFDIFF_TRACEBACK=1 shows where; please report it"
        )
    finally:
        for stream in (sys.stdout, sys.stderr):
            _drop_unwritten(stream)
    return 2


def _run(words: list[str]) -> int:
    from pprofdiff.cli.screen import Screen

    screen = Screen(sys.stdout, sys.stderr)
    if words == ["help"]:
        words = ["--help"]
    within = ""
    if words[:1] == ["demo"]:
        from pprofdiff.demo import arguments, installed_in

        words, within = [*arguments(), *words[1:]], installed_in()
        typed = " ".join(words).replace(os.path.join(within, ""), "")
        screen.say(_without_logins(f"$ pprofdiff {typed}", words))
    command = _command(words)
    if command is not None:
        return command(words[1:], screen)
    from pprofdiff.cli.arguments import folded, help_text, parse

    _must_be_no_command(words)
    options = parse(words)
    if options.view == "help":
        screen.write(folded(help_text(), screen.width()))
        return 0
    if options.view == "version":
        screen.write(f"pprofdiff {__version__}\n")
        return 0
    if options.over:
        from pprofdiff.cli.over import run_over

        return run_over(options, screen)
    from pprofdiff.cli.run import run

    return run(options._replace(within=within), screen)


def _command(words: list[str]) -> Callable[[list[str], Screen], int] | None:
    """Return what runs the command that the first word names; None for a report."""
    name = words[0] if words else ""
    if name == "measure":
        from pprofdiff.cli.measure import run_measure

        return run_measure
    if name == "bisect":
        from pprofdiff.cli.bisect import run_bisect

        return run_bisect
    if name == "mcp" and not os.path.exists(name):
        from pprofdiff.cli.mcp import run_mcp

        return run_mcp
    return _print_workflow if name == "ci" and not os.path.exists(name) else None


def _print_workflow(words: list[str], screen: Screen) -> int:
    """Print the workflow of ``pprofdiff ci NAME``; raises UsageError."""
    from pprofdiff.ci import NAMES, workflow
    from pprofdiff.errors import UsageError

    if len(words) != 1 or words[0] not in NAMES:
        raise UsageError(f"usage: pprofdiff ci {'|'.join(NAMES)}")
    screen.write(workflow(words[0]))
    return 0


def _must_be_no_command(words: list[str]) -> None:
    """Refuse a first word that is a misspelt command and not a file."""
    word = words[0] if words else ""
    if not word.isalpha() or os.path.exists(word):
        return
    from difflib import get_close_matches

    from pprofdiff.errors import UsageError

    for near in get_close_matches(
        word, ("measure", "bisect", "demo", "ci", "mcp"), n=1, cutoff=0.75
    ):
        raise UsageError(f"{word}: no such file; did you mean pprofdiff {near}?")


def _without_logins(message: str, words: list[str]) -> str:
    """Return a message without user names and passwords of the arguments' URLs."""
    if "@" not in message:
        return message
    from pprofdiff.inputs.places import without_login

    for word in words:
        for part in (word, word.lstrip("-"), word.partition("=")[2]):
            if "@" in part and "://" in part:
                for typed in (part, part.replace("'", "'\"'\"'")):
                    message = message.replace(typed, without_login(part))
    return message


class _Ended(BaseException):
    """Raised when a signal should end the process."""


@contextmanager
def _signals_that_end() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the process, but with no file left behind.

    An exception unwinds the running code; then the signal ends the process. An ignored
    signal (nohup) stays ignored; a second one ends the process at once.
    """

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise _Ended(number)

    names = {"SIGTERM", "SIGHUP"} & set(signal.Signals.__members__)
    caught = [signal.Signals[name] for name in names]
    caught = [one for one in caught if signal.getsignal(one) is signal.SIG_DFL]
    with suppress(ValueError):  # in a thread, which gets no signals
        for one in caught:
            signal.signal(one, end)
    try:
        yield
    except _Ended as ended:
        os.kill(os.getpid(), ended.args[0])
    finally:
        with suppress(ValueError):
            for one in caught:
                signal.signal(one, signal.SIG_DFL)


def _complain(message: str, output: Sequence[str] = ()) -> None:
    """Print an error after a program's output, unless standard error is unwritable."""
    lines = [*(f"  {line}" for line in output), f"pprofdiff: {message}"]
    with suppress(OSError):
        print(*lines, sep="\n", file=sys.stderr)


def _fill_closed_streams() -> None:
    """Replace each standard stream that is closed (``>&-``).

    Else files opened later would get their descriptors, which C libraries write to.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stdout is None:
        closed = os.open(os.devnull, os.O_RDONLY)
        sys.stdout = open(closed, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        dropped = os.open(os.devnull, os.O_WRONLY)
        sys.stderr = open(dropped, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _drop_unwritten(stream: TextIO) -> None:
    """Drop unwritten data: Python would flush it again at exit, and fail."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
