"""The programs that are run, and how a build is made dearer by a known part."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
# Of ``go list -json``: what documents.Package has, without what differs by module cache.
_FIELDS = "Dir,ImportPath,Name,Doc,GoFiles,Imports,Deps"

CONDITIONS = {"quiet": 0, "busy": 2}
"""How many busy loops run next to the program."""


@dataclass(frozen=True)
class Workload:
    """A program of `programs`.

    `package` is its folder, `main` whether it is a command rather than a benchmark,
    `spins` the variable (as the linker knows it) that says how many rounds more
    `planted` does, the function that planted builds make dearer. `pilot` is how many
    operations, and `trial` how many rounds, a first look at its costs takes.
    """

    package: str
    main: bool
    spins: str
    planted: str
    pilot: int
    trial: int

    def build(self, spins: int, binary: Path) -> None:
        """Build it, with so many rounds more."""
        command = ["build"] if self.main else ["test", "-c"]
        flags = ["-ldflags", f"-X {self.spins}={spins}", "-o", str(binary)]
        subprocess.run(
            ["go", *command, *flags, f"./{self.package}"],
            cwd=PROGRAMS,
            env=dict(os.environ, GOFLAGS="", CGO_ENABLED="0", GOWORK="off"),
            check=True,
        )

    def input(self, path: Path) -> None:
        """Write what it reads: text that the toolchain has, all of it alike."""
        if self.package == "documents":
            listed = ["go", "list", f"-json={_FIELDS}", "std"]
            with path.open("wb") as out:
                subprocess.run(listed, cwd=PROGRAMS, stdout=out, check=True)
            return
        root = subprocess.check_output(["go", "env", "GOROOT"], text=True).strip()
        sources = sorted((Path(root) / "src/net/http").glob("*.go"))
        path.write_bytes(b"".join(source.read_bytes() for source in sources))

    def run(self, binary: Path, source: Path, operations: int, out: Path) -> None:
        """Run it once for so many operations; its files come to stand in `out`."""
        if self.main:
            command = [str(binary), f"-out={out}", f"-requests={operations}"]
        else:
            command = [str(binary), "-test.run=^$", "-test.bench=.", "-test.benchmem"]
            command += [f"-test.benchtime={operations}x", f"-test.outputdir={out}"]
            command += ["-test.cpuprofile=cpu.pb.gz", "-test.memprofile=allocs.pb.gz"]
        env = dict(os.environ, GODEBUG="gctrace=1", CALIBRATION_INPUT=str(source))
        with (
            (out / "bench.txt").open("wb") as text,
            (out / "gctrace.log").open("wb") as log,
        ):
            subprocess.run(command, env=env, stdout=text, stderr=log, check=True)


_MODULE = "example.com/calibration/"

WORKLOADS = {
    workload.package: workload
    for workload in (
        Workload(
            "documents",
            main=False,
            spins=f"{_MODULE}documents.Spins",
            planted=f"{_MODULE}documents.Fingerprint",
            pilot=60,
            trial=1000,
        ),
        Workload(
            "texts",
            main=False,
            spins=f"{_MODULE}texts.Spins",
            planted=f"{_MODULE}texts.bucket",
            pilot=16,
            trial=1600,
        ),
        Workload(
            "server",
            main=True,
            spins="main.Spins",
            planted="main.relevance",
            pilot=20000,
            trial=1500,
        ),
    )
}
