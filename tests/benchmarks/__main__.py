"""pprofdiff next to ``go tool pprof``: wall time and peak memory, measured in turn.

    python -m tests.benchmarks                    profiles of all shapes (5 minutes)
    python -m tests.benchmarks --shapes weight    one shape: its tenth, then itself
    python -m tests.benchmarks --sizes 500000     larger (10 minutes)
    python -m tests.benchmarks --traces           execution traces, for long
    python -m tests.benchmarks --fleet            many hosts' profiles, by workers

How to read the tables. Every row is one input: two profiles, base and new. The
programs run in turn, one warm-up each and then --rounds times; the one that goes first
changes every time. Numbers are medians with (least-greatest). A ratio is pprofdiff to
the other program within a round, so what slows the machine for a while slows both; its
median stands next to the budget it has to keep, with "kept" or "over". "CPU" is
processor time, all threads. Memory is the largest resident set (wait4, ru_maxrss).
Nothing here passes or fails: people judge.

"go tool pprof" is what a user types: ``go tool pprof -top -diff_base=BASE NEW``, output
thrown away. Before it starts the program, the go command makes sure that it is built,
which takes a tenth of a second. "pprof" is that program by itself, as ``go tool -n
pprof`` names it: its time and memory are pprof's own. pprofdiff is the command as it is
installed next to --python, a new process each time. All find their files in the page
cache.

The large inputs are CPU profiles of an invented service, the same bytes for the same
seed; they are made once (20 s for the largest) and kept in --inputs. shapes.py says
what each of --shapes is. Of each, a pair with a tenth of the stacks stands first: the
last table says how many times its time the whole pair takes.

Traces stand next to ``go tool trace -pprof=sched``, the program itself (``go tool -n
trace``): two files, as ``pprofdiff BASE NEW``, next to two runs of it, their times added;
and ``pprofdiff.load`` with all analysis of one. "Go's summary" is a program that only reads
a trace's events and sums up goroutines with Go's own packages: what the reading alone
takes. The traces are of Go programs, run once and kept in --inputs.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

if not __package__:
    # ``python tests/benchmarks`` puts this folder on the path instead of the root.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.benchmarks.measure import ROOT, BenchmarkError, compared
from tests.benchmarks.table import TOOL, Row, comparison, growth
from tests.benchmarks.traces.measured import measured
from tests.benchmarks.traces.table import comparison as traces

SIZES = (50_000,)
# Those of `shapes.SHAPES`: that module imports numpy, which does not belong in here.
SHAPES = (
    *("service", "weight", "moved", "renamed", "half"),
    *("recursion", "labels", "runs", "callers", "names"),
)


def main() -> int:
    """Measure what the command line asks for; return the exit status."""
    options = _options()
    try:
        if options.traces:
            return _traces(options)
        if options.fleet:
            return _fleet(options)
        inputs = _inputs(options)
        pprof = options.pprof or _pprof()
        print(_setting(options, "pprof"), flush=True)
        rows = [_measured(options, pprof, one) for one in inputs]
    except BenchmarkError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    print(f"\n{comparison(rows)}")
    if grown := growth(rows):
        print(f"\n{grown}")
    print(f"\nload at the end: {_load()}")
    return 0


def _options() -> argparse.Namespace:
    about, _, guide = str(__doc__).partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=about,
        epilog=guide,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    temp = Path(tempfile.gettempdir()) / "pprofdiff-benchmarks"
    add(
        "--inputs",
        type=Path,
        default=temp,
        metavar="DIR",
        help="where the large inputs are kept (default: %(default)s)",
    )
    add(
        "--shapes",
        default="all",
        metavar="NAME,NAME",
        help=f"of the large inputs: {', '.join(SHAPES)} (default: all); empty for none",
    )
    add(
        "--sizes",
        default=",".join(map(str, SIZES)),
        metavar="N,N",
        help="stacks of the large inputs: 50000, 500000 (default: %(default)s)",
    )
    add("--seed", type=int, default=1, help="of the large inputs (default: 1)")
    add(
        "--real",
        type=Path,
        default=ROOT / "tests/data/syncpool",
        metavar="DIR",
        help="folder with base/cpu.pb.gz and new/cpu.pb.gz (default: %(default)s)",
    )
    add("--rounds", type=int, default=5, help="runs of each program (default: 5)")
    add("--python", default=sys.executable, help="interpreter for pprofdiff")
    add("--pprof", help="pprof's own program (default: what 'go tool -n pprof' says)")
    add(
        "--command",
        metavar="TEXT",
        help="run this instead of pprofdiff; {base} and {new} are replaced",
    )
    add("--traces", action="store_true", help="only: execution traces")
    add("--fleet", action="store_true", help="only: many profiles of many hosts")
    add("--profiles", default="1000,10000", metavar="N,N", help="a side of a fleet")
    add("--megabytes", default="10,36", metavar="N,N", help="traces (default: 10,36)")
    add(
        "--workloads",
        default="channels,syscalls,gc,goroutines,objects",
        help="of traces (default: all)",
    )
    return parser.parse_args()  # fmt: skip


def _traces(options: argparse.Namespace) -> int:
    """Measure traces and print the tables; return the exit status."""
    print(_setting(options, "trace"), flush=True)
    rows = measured(
        options.python,
        _template(options),
        options.inputs,
        [size for size in options.megabytes.split(",") if size],
        [name for name in options.workloads.split(",") if name],
        options.rounds,
    )
    print(f"\n{traces(rows)}\n\nload at the end: {_load()}")
    return 0


def _fleet(options: argparse.Namespace) -> int:
    """Measure fleets and print the table; return the exit status."""
    from tests.benchmarks.fleets import table as fleets

    pprof = options.pprof or _pprof()
    print(_setting(options, "pprof"), flush=True)
    sizes = [int(size) for size in options.profiles.split(",") if size]
    print(f"\n{fleets(options.python, pprof, options.inputs, sizes)}")
    print(f"\nload at the end: {_load()}")
    return 0


@dataclass(frozen=True, slots=True)
class _Input:
    """A pair to compare; each side is a file, or a folder of runs."""

    shape: str
    stacks: int
    base: Path
    new: Path

    @property
    def name(self) -> str:
        """What the tables call it."""
        return f"{self.shape}, {self.stacks:,}" if self.stacks else self.shape


def _inputs(options: argparse.Namespace) -> list[_Input]:
    """Return what to compare; large inputs are made if need be."""
    found: list[_Input] = []
    base, new = (options.real / side / "cpu.pb.gz" for side in ("base", "new"))
    if base.exists() and new.exists():
        found.append(_Input("real", 0, base, new))
    else:
        print(f"no real captures in {options.real}", file=sys.stderr)
    shapes = options.shapes.split(",") if options.shapes != "all" else SHAPES
    sizes = {int(size) for size in options.sizes.split(",") if size}
    for shape in filter(None, shapes):
        if shape not in SHAPES:
            raise BenchmarkError(f"no shape {shape}; there are: {', '.join(SHAPES)}")
        for size in sorted(sizes | {size // 10 for size in sizes}):
            found.append(_made(options, shape, size))  # noqa: PERF401
    return found


def _made(options: argparse.Namespace, shape: str, size: int) -> _Input:
    """Return an invented pair, made in a process of its own: its memory ends with it."""
    made = subprocess.run(
        [options.python, "-m", "tests.benchmarks.inputs", shape, str(size),
         str(options.inputs), str(options.seed)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        raise BenchmarkError(f"{shape} of {size} stacks could not be made")
    base, new = made.stdout.splitlines()
    return _Input(shape, size, Path(base), Path(new))


def _template(options: argparse.Namespace) -> list[str]:
    """Return the words of the command to measure, with {base} and {new} in them."""
    words = options.command or f"{_pprofdiff(options.python)} {{base}} {{new}}"
    return shlex.split(words)


def _pprofdiff(python: str) -> str:
    """Return the command that a user types: the script next to the interpreter."""
    script = Path(python).with_name("pprofdiff")
    if script.exists():
        return shlex.quote(str(script))
    return f"{shlex.quote(python)} -m pprofdiff"


def _pprof() -> str:
    """Return the path of the pprof program that ``go tool pprof`` starts."""
    try:
        done = subprocess.run(
            ["go", "tool", "-n", "pprof"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchmarkError("needs Go: 'go tool -n pprof' failed") from error
    return done.stdout.strip()


def _setting(options: argparse.Namespace, program: str) -> str:
    """Return what was measured where, for whoever reads the numbers later."""
    go = subprocess.run(["go", "version"], capture_output=True, text=True, check=False)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "protobuf"))
    instead = f"; measured instead: {options.command}" if options.command else ""
    return (
        f"machine    {platform.machine()}, {os.cpu_count()} CPUs, load {_load()}\n"
        f"{program:<9}  of {go.stdout.strip() or 'unknown Go'} (go tool -n {program})\n"
        f"pprofdiff  Python {platform.python_version()}, {libraries}{instead}\n"
        f"runs       {options.rounds} rounds after one warm-up each"
    )


def _load() -> str:
    return "{:.1f} {:.1f} {:.1f}".format(*os.getloadavg())


def _measured(options: argparse.Namespace, pprof: str, one: _Input) -> Row:
    """Return one input's runs."""
    ours = [part.format(base=one.base, new=one.new) for part in _template(options)]
    flags = ["-top", *(f"-diff_base={file}" for file in _files(one.base))]
    flags += _files(one.new)
    commands = [["go", "tool", "pprof", *flags], [pprof, *flags], ours]
    row = Row(one.shape, one.stacks, one.name, compared(commands, options.rounds))
    ratio = row.ratio("wall", TOOL).middle
    print(
        f"{one.name}: {ratio:.2f} x go tool pprof's wall", file=sys.stderr, flush=True
    )
    return row


def _files(side: Path) -> list[str]:
    """Return the profiles of a side."""
    return sorted(map(str, side.rglob("*.pb.gz"))) if side.is_dir() else [str(side)]


if __name__ == "__main__":
    sys.exit(main())
