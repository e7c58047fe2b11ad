"""Parse ``GODEBUG=gctrace=1`` lines from any text into `model.gclogs.GCLog`.

`lines` holds the grammars, `repair` reassembles lines interleaved with other output,
`runs` separates processes, and `reader` is the state machine fed with the text.
"""

from __future__ import annotations

from pprofdiff.loaders.gclogs.reader import GCScanner, parse

__all__ = ["GCScanner", "parse"]
