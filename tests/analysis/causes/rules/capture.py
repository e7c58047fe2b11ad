"""``python -m tests.analysis.causes.rules.capture`` makes the traces in `captures` again.

Waits of a program depend on what else its machine does, so that tests read traces that
are kept. Make them with nothing else running, and look at what tests then say.
"""

from __future__ import annotations

import json
import lzma
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.traces import make
from tests.traces.toolchains import environment, run_go

CAPTURES = Path(__file__).parent / "captures"
SOURCE = Path(__file__).parent / "offcpu.go"
# A program that is written in one piece and in parts; CPU profiles of each.
SPLIT = Path(__file__).parent / "split_programs"
SPLIT_ROUNDS = 160_000
# Operations a second of each run of `SOURCE`.
RATES = CAPTURES / "rates.json"
# What `SOURCE` does, and of how many runs there are traces.
KINDS = {
    "synced": 2, "unsynced": 2, "locked": 2, "shared": 2, "asked": 2, "alone": 1,
    "limited": 1, "parts1": 1, "parts8": 2, "5000": 1, "500": 1, "attended": 1,
    "held": 1,
}  # fmt: skip
# Makers of `tests.traces` whose runs should not differ: two of each.
SITUATIONS = ("gc", "http", "sync", "files", "procs", "stops", "generations")


def path_of(kind: str, number: int) -> Path:
    """Return the file of a kind's or situation's run: a compressed trace."""
    return CAPTURES / f"{kind}-{number}.trace.xz"


def kept(kind: str, number: int) -> bytes:
    """Return the trace of a kind's or situation's run."""
    return lzma.decompress(path_of(kind, number).read_bytes())


def profile_of(how: str) -> Path:
    """Return the file of the profile of `SPLIT` as "whole" or in "parts"."""
    return CAPTURES / f"{how}.pb.gz"


def main() -> None:
    """Write all traces, the rates and the profiles."""
    CAPTURES.mkdir(exist_ok=True)
    rates = {}
    with tempfile.TemporaryDirectory() as name:
        out, program = Path(name) / "x.trace", Path(name) / "offcpu"
        run_go("build", "-trimpath", "-o", program, SOURCE)
        for kind, number in ((k, n) for k, runs in KINDS.items() for n in range(runs)):
            words = [str(program), kind, str(out)]
            done = subprocess.run(
                words, check=True, capture_output=True, text=True, env=environment()
            )
            rates[f"{kind}-{number}"] = float(done.stdout)
            _keep(out, path_of(kind, number))
        sources = sorted(make.SOURCES.glob("*.go"))
        run_go("build", "-trimpath", "-o", program, *sources)
        for maker, number in ((m, n) for m in SITUATIONS for n in range(2)):
            settings = environment() | {"GODEBUG": make.MAKERS[maker].godebug}
            subprocess.run([str(program), maker, str(out)], check=True, env=settings)
            _keep(out, path_of(maker, number))
        for how in ("whole", "parts"):
            _split(Path(name) / how, how)
    RATES.write_text(f"{json.dumps(rates, indent=2)}\n", "utf-8")


def _split(folder: Path, how: str) -> None:
    shutil.copytree(SPLIT, folder)
    (folder / "go.mod").write_text("module split\n\ngo 1.22\n", "utf-8")
    words = ["go", "build", "-trimpath", "-tags", how, "-o", "split", "."]
    settings = environment() | {"GOFLAGS": ""}
    subprocess.run(words, check=True, env=settings, cwd=folder)
    words = [str(folder / "split"), str(SPLIT_ROUNDS), str(profile_of(how))]
    subprocess.run(words, check=True)


def _keep(trace: Path, place: Path) -> None:
    place.write_bytes(lzma.compress(trace.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    trace.unlink()


if __name__ == "__main__":
    main()
