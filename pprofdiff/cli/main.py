"""The command line: words to options to a run to an exit status.

The only module that prints. 0: done; 1: a gate tripped; 2: usage, input or internal
error, never mistaken for a verdict.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

from pprofdiff._version import __version__
from pprofdiff.errors import PprofDiffError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    # numpy's linear algebra is not used here: its threads would only cost a start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # All that is held goes with the process: to look for cycles in it first takes long.
    atexit.register(gc.freeze)
    try:
        return _run(words)
    except PprofDiffError as error:
        from pprofdiff.units import printable

        # It may quote an input, which must not move the cursor.
        print(f"pprofdiff: {printable(str(error))}", file=sys.stderr)
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing is left to say, even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"pprofdiff: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("pprofdiff: interrupted", file=sys.stderr)
    except MemoryError:
        print(
            "pprofdiff: the profiles need more memory than there is; "
            "narrow them with --max-size",
            file=sys.stderr,
        )
    except Exception as error:
        if os.environ.get("PPROFDIFF_TRACEBACK"):
            raise
        print(
            f"pprofdiff: internal error, {type(error).__name__}: {error}; "
            "PPROFDIFF_TRACEBACK=1 shows where; please report it",
            file=sys.stderr,
        )
    return 2


def _run(words: list[str]) -> int:
    """Do what the words say."""
    if words == ["help"]:
        words = ["--help"]
    if words[:1] == ["demo"]:
        from pprofdiff.demo import arguments

        words = [*arguments(), *words[1:]]
        print(f"$ pprofdiff {' '.join(words)}", file=sys.stderr)
    from pprofdiff.cli.arguments import help_text, parse

    options = parse(words)
    if options.view == "help":
        print(help_text(), end="")
        return 0
    if options.view == "version":
        print(f"pprofdiff {__version__}")
        return 0
    from pprofdiff.cli.run import run
    from pprofdiff.cli.screen import Screen

    return run(options, Screen(sys.stdout, sys.stderr))
