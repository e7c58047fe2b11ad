"""Where pprofdiff's time goes: one whole run in a fresh interpreter, by layer.

Run as a program with two profiles, this runs ``python -m pprofdiff`` in its own
process and charges every moment to the layer of the package that was entered last
(what it calls in numpy, protobuf or `model` is its own), or to import while a module
is loaded. It knows the package's folders and nothing of its functions. The clock is
the main thread's: waiting for a helper thread counts where it waits. Watching costs
time too: the sum is some percent above an unwatched run.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from types import CodeType, FrameType

from tests.benchmarks.measure import ROOT, BenchmarkError
from tests.benchmarks.table import columns

__all__ = ["STAGES", "breakdown"]

# stage: the entries of the package's folder that make it up.
STAGES = {
    "start python": (),
    "import": (),
    "read, gunzip": ("inputs",),
    "decode": ("loaders",),
    "who is who": ("identity",),
    "names of Go's runtime": ("goruntime",),
    "analysis": ("analysis",),
    "report": ("report", "plots", "notebook"),
    "command line": ("cli", "__main__.py", "__init__.py"),
}


class _Watch:
    """A profiler for `sys.setprofile` that adds up the seconds of each stage."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        self.parts = {p: stage for stage, parts in STAGES.items() for p in parts}
        self.stage_of: dict[CodeType, str | None] = {}
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.stack = ["command line"]
        self.since = time.perf_counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            current = self.stack[-1]
            entered = self._stage(frame.f_code) or current
            self.stack.append(entered)
        elif event == "return" and len(self.stack) > 1:
            current = self.stack.pop()
            entered = self.stack[-1]
        else:
            return
        if entered != current:
            self._charge(current)

    def _charge(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] += now - self.since
        self.since = now

    def finish(self) -> dict[str, float]:
        """Return the seconds of each stage, the running one included."""
        self._charge(self.stack[-1])
        return self.seconds

    def _stage(self, code: CodeType) -> str | None:
        """Return the stage that this code begins, None if it belongs to its caller."""
        if code not in self.stage_of:
            name = code.co_filename
            stage = None
            if name.startswith("<frozen importlib") or code.co_name == "<module>":
                stage = "import"
            elif name.startswith(self.package):
                part = name[len(self.package) :].partition(os.sep)[0]
                stage = self.parts.get(part)
            self.stage_of[code] = stage
        return self.stage_of[code]


def breakdown(python: str, inputs: list[tuple[str, Path, Path]], runs: int) -> str:
    """Return a table: seconds of each stage (median of `runs`) for each input."""
    for part in (part for parts in STAGES.values() for part in parts):
        if not (ROOT / "pprofdiff" / part).exists():
            raise BenchmarkError(f"stages: the package has no {part}")
    rows = [["stage, s", *(name for name, *_ in inputs)]]
    measured = [_stages(python, base, new, runs) for _, base, new in inputs]
    for stage in (*STAGES, "sum"):
        rows.append([stage, *(f"{m[stage]:.3f}" for m in measured)])  # noqa: PERF401
    return columns(rows)


def _stages(python: str, base: Path, new: Path, runs: int) -> dict[str, float]:
    found: list[dict[str, float]] = []
    for _ in range(runs + 1):
        command = [python, "-m", "tests.benchmarks.stages", str(base), str(new)]
        done = subprocess.run(
            [*command, repr(time.monotonic())],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise BenchmarkError(f"stages: {done.stderr.strip()[-2000:]}")
        seconds = json.loads(done.stderr.splitlines()[-1])
        found.append({**seconds, "sum": sum(seconds.values())})
    return {key: median(run[key] for run in found[1:]) for key in found[0]}


def _watched(base: str, new: str, started: float) -> None:
    """Run the command in this process; write the stages to standard error as JSON."""
    entered = time.monotonic()
    watch = _Watch(ROOT / "pprofdiff")
    sys.argv = ["pprofdiff", base, new]
    out = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    sys.setprofile(watch)
    status: object = None
    try:
        runpy.run_module("pprofdiff", run_name="__main__")
    except SystemExit as done:
        status = done.code
    finally:
        sys.setprofile(None)
        sys.stdout.flush()
        os.dup2(out, 1)
    if status:
        sys.exit(f"pprofdiff ended with {status}")
    seconds = watch.finish()
    seconds["start python"] = entered - started
    sys.stderr.write("\n" + json.dumps(seconds) + "\n")


if __name__ == "__main__":
    _watched(sys.argv[1], sys.argv[2], float(sys.argv[3]))
