"""The command line: words to options to a run to an exit status.

The only module that prints. 0: done; 1: a gate tripped; 2: usage, input or internal
error, never mistaken for a verdict.
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
from pprofdiff.errors import PprofDiffError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    # numpy's linear algebra is not used here: its threads would only cost a start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Few objects are in cycles: to look for them 80 times takes 5 % of a short run.
    gc.set_threshold(100_000)
    # All that is held goes with the process: to look for cycles in it first takes long.
    atexit.register(gc.freeze)
    _fill_closed_streams()
    with _signals_that_end():
        return _status(words)


def _status(words: list[str]) -> int:
    """Do what the words say; return the exit status, errors told."""
    try:
        return _run(words)
    except PprofDiffError as error:
        from pprofdiff.units import printable

        # It may quote an input, which must not move the cursor.
        _complain(printable(_without_logins(str(error), words)))
    except BrokenPipeError:
        return 0  # The reader (head, less) has gone: nothing is left to say.
    except OSError as error:
        _complain(error.strerror or str(error))
    except KeyboardInterrupt:
        _complain("interrupted")
    except MemoryError:
        _complain(
            "the profiles need more memory than there is; narrow them with --max-size"
        )
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
    """Do what the words say."""
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
    if words[:1] == ["measure"]:
        from pprofdiff.cli.measure import run_measure

        return run_measure(words[1:], screen)
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


def _must_be_no_command(words: list[str]) -> None:
    """Refuse a first word that is a command misspelt, and no file."""
    word = words[0] if words else ""
    if not word.isalpha() or os.path.exists(word):
        return
    from difflib import get_close_matches

    from pprofdiff.errors import UsageError

    for near in get_close_matches(word, ("measure", "demo"), n=1, cutoff=0.75):
        raise UsageError(f"{word}: no such file; did you mean pprofdiff {near}?")


def _without_logins(message: str, words: list[str]) -> str:
    """Return a message that quotes the words typed, without user names and passwords.

    What reads URLs leaves them out; a flag that gets one for a value quotes it.
    """
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
    """A signal is to end the process."""


@contextmanager
def _signals_that_end() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end the process as ever, but with no file left behind.

    What is running is left by an exception, so that it removes what it did not finish;
    then the signal ends the process. A signal that is ignored (nohup) stays ignored; a
    second one ends the process at once.
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


def _complain(message: str) -> None:
    """Print an error, unless standard error takes none."""
    with suppress(OSError):
        print(f"pprofdiff: {message}", file=sys.stderr)


def _fill_closed_streams() -> None:
    """Put something in the place of each standard stream that is closed (``>&-``).

    Standard output's takes nothing, so that data for it is an error; what is written to
    standard error is dropped. No file that is opened later takes their numbers, to
    which C libraries write.
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
    """Drop what a stream did not take: Python would try again at exit, and fail."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
