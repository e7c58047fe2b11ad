"""``GODEBUG=gctrace=1`` lines in any text to `model.gclog.GCLog`.

`lines` has the grammars, `repair` puts lines together that other output tore, `runs`
tells the processes apart, and `reader` is the state machine that is fed the text.
"""

from __future__ import annotations

from pprofdiff.loaders.gclogs.reader import GCScanner, parse

__all__ = ["GCScanner", "parse"]
