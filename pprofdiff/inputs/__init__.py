"""Turn command-line arguments into two sides of decoded captures.

`read_sides` resolves arguments, reads files and folders, fetches the URLs of both sides
at once and recognises the kind of each input from its content: the bytes of profiles
and traces are kept for the loaders, which scan texts as they arrive.
"""

from __future__ import annotations

from pprofdiff.inputs.decompression import DEFAULT_MAX_SIZE, decompress
from pprofdiff.inputs.model import (
    Input,
    ReadOptions,
    SideInputs,
    Skipped,
    not_read,
)
from pprofdiff.inputs.places import displayed
from pprofdiff.inputs.reading import read, read_sides
from pprofdiff.inputs.recognition import Foreign

__all__ = [
    "DEFAULT_MAX_SIZE",
    "Foreign",
    "Input",
    "ReadOptions",
    "SideInputs",
    "Skipped",
    "decompress",
    "displayed",
    "not_read",
    "read",
    "read_sides",
]
