"""What was typed on the command line -> named bytes and their kind.

Start at `read_sides`: it finds what each argument means (`places`), reads files and
folders (`reading`), fetches the URLs of both sides at once (`urls`, `fetch`,
`download`), keeps copies of what was fetched (`saving`) and tells every input's kind
from its content (`intake`, `kinds`): a profile's or trace's bytes are kept for the
loaders, a text is read by them piece by piece as it comes. `fetch` and what it needs is
imported for URLs alone, the loaders for texts alone.
"""

from __future__ import annotations

from pprofdiff.inputs.gunzip import decompress
from pprofdiff.inputs.intake import recognise
from pprofdiff.inputs.model import (
    DEFAULT_MAX_SIZE,
    ReadOptions,
    SideInputs,
    Skipped,
    Source,
)
from pprofdiff.inputs.reading import read, read_sides
from pprofdiff.inputs.recognition import READABLE, Kind

__all__ = [
    "DEFAULT_MAX_SIZE",
    "READABLE",
    "Kind",
    "ReadOptions",
    "SideInputs",
    "Skipped",
    "Source",
    "decompress",
    "read",
    "read_sides",
    "recognise",
]
