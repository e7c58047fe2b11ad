"""Go execution traces to `model.traces.trace.Trace`, without a Go toolchain.

`decode` tells the format from the header and hands the bytes to its reader: `v1` for
Go 1.11 to 1.21, `v2` for Go 1.22 and later.
"""

from __future__ import annotations

from collections.abc import Callable

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces.batches import version_of
from pprofdiff.loaders.traces.schema import FORMATS
from pprofdiff.loaders.traces.v1 import decode_v1
from pprofdiff.loaders.traces.v1schema import FORMATS_V1
from pprofdiff.loaders.traces.v2 import decode_v2
from pprofdiff.model.traces.trace import Trace

__all__ = ["decode"]


def decode(
    data: bytes, name: str = "trace", say: Callable[[str], None] | None = None
) -> Trace:
    """Return the execution trace that these bytes hold.

    `name` is the file as the user knows it; `say` is told how far reading has come. A
    file that is cut off or damaged gives what comes before, and `Trace.missing` says
    so. Raises FormatError, in one line, where nothing can be read.
    """
    version = version_of(data)
    if version is None:
        raise FormatError(f"{name}: not a Go execution trace")
    if version in FORMATS_V1:
        return decode_v1(data, version, name, say)
    if version not in FORMATS:
        known = ", ".join(f"1.{v}" for v in (*FORMATS_V1, *FORMATS))
        raise FormatError(
            f"{name}: a trace of format 1.{version}, which is none of {known}"
        )
    return decode_v2(data, version, name, say)
