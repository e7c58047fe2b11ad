"""Standard output for data, standard error for messages."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TextIO

from msgspec import Struct

from pprofdiff.errors import FetchError

# ASCII replacements for the report's marks, for encodings that lack them.
_ASCII = str.maketrans(
    {
        "▲": "^",
        "▼": "v",
        "→": ">",
        "←": "<",
        "−": "-",
        "–": "-",
        "×": "x",
        "÷": "/",
        "±": "+",
        "∞": "?",
        "Δ": "d",
        "µ": "u",
        "…": "~",
        "↳": "`",
    }
    | {mark: str(digit) for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
    | {bar: str(height) for height, bar in enumerate("▁▂▃▄▅▆▇█", 1)}
)


class Screen(Struct, frozen=True):
    """Standard output for data, standard error for messages."""

    out: TextIO
    messages: TextIO

    def write(self, text: str) -> None:
        """Write data; raises FetchError if that fails."""
        encoding = self.out.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            plain = text.translate(_ASCII)
            text = plain.encode(encoding, "backslashreplace").decode(encoding)
        self._deliver(text)

    def write_bytes(self, data: bytes) -> None:
        """Write binary data; raises FetchError if that fails."""
        self._deliver(data)

    def _deliver(self, data: str | bytes) -> None:
        try:
            if isinstance(data, bytes):
                self.out.buffer.write(data)
            else:
                self.out.write(data)
            self.out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise FetchError(f"standard output: cannot be written: {reason}") from error

    def say(self, message: str) -> None:
        """Write a message, dropped if it cannot be written."""
        with suppress(OSError):
            self.messages.write(f"{message}\n")
            self.messages.flush()

    def width(self) -> int | None:
        """Return the terminal's columns, None if output is not a terminal."""
        if not self.out.isatty():
            return None
        # Not at start-up: shutil imports all compressions.
        from shutil import get_terminal_size

        return get_terminal_size().columns

    def wants_color(self, when: str) -> bool:
        """Return whether to colour: as requested, else on terminals (no-color.org)."""
        if when != "auto":
            return when == "always"
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or self.out.isatty()
