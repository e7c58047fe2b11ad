"""Go's own summary of a trace and nothing else, as a program: see ``bare.go``."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.traces.toolchains import build_goroot, cached, run_go, session, version

_SOURCE = Path(__file__).with_name("bare.go")


def bare() -> Path:
    """Return go tool trace of the Go on PATH that also knows ``bare``, built if need be.

    Raises subprocess.SubprocessError where that Go is older than 1.23, which has no
    internal/trace of this form.
    """
    go = version()
    built = cached(go, _SOURCE) / "go-trace"
    if not built.exists():
        root = Path(run_go("env", "GOROOT").strip())
        place = root / "src/cmd/trace/bare.go"
        overlay = session() / f"bare-{go}.json"
        overlay.write_text(json.dumps({"Replace": {str(place): str(_SOURCE)}}))
        draft = built.with_name(f"go-trace.{os.getpid()}")
        words = ("-overlay", overlay, "-o", draft, "cmd/trace")
        build_goroot(*words, go=go, root=root)
        draft.replace(built)
    return built


if __name__ == "__main__":
    print(bare())
