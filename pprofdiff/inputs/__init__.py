"""What was typed -> named inputs of known kinds -> two sides of decoded captures.

Start at `read_sides`: it finds what each argument means (`places`), reads files and
folders (`reading`), fetches the URLs of both sides at once (`urls`, `fetch`,
`download`), keeps copies of what was fetched (`saving`) and tells every input's kind
from its content (`intake`, `recognition`): a profile's or trace's bytes are kept for
the loaders, a text is read by them piece by piece as it comes. `sides` does this and
decodes what was read. `fetch` and what it needs is imported for URLs alone, the loaders
for texts alone.
"""

from __future__ import annotations

from pprofdiff.inputs.gunzip import DEFAULT_MAX_SIZE, decompress
from pprofdiff.inputs.intake import recognise
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
    "recognise",
]
