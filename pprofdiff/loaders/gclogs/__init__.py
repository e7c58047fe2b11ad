"""Parse ``GODEBUG=gctrace=1`` lines from any text into `model.gclogs.GCLog`."""

from __future__ import annotations

from pprofdiff.loaders.gclogs.reader import GCScanner, parse

__all__ = ["GCScanner", "parse"]
