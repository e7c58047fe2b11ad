"""Real traces: those in `tests/data`, and new ones from every Go version at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
VERSIONS = ("1.22.12", "1.23.12", "1.24.13", "1.25.14", "1.26.8", "1.27.3")
# What a trace is to show beside the ordinary.
PLAIN, OBJECTS, FLIGHT = "plain", "objects", "flight"
KINDS = [
    *((version, PLAIN) for version in VERSIONS),
    *((version, OBJECTS) for version in VERSIONS[1:]),
    *((version, FLIGHT) for version in VERSIONS[3:]),
]


class Traces:
    """Builds and runs the program of `program/`, each kind once."""

    def __init__(self, folder):
        self.folder = folder
        self.made = {}

    def __call__(self, version, kind):
        """Return the path of a trace; skip the test where there is no such Go."""
        if (version, kind) not in self.made:
            self.made[version, kind] = self._make(version, kind)
        made = self.made[version, kind]
        if isinstance(made, str):
            pytest.skip(made)
        return made

    def _make(self, version, kind):
        environment = {**os.environ, "GOTOOLCHAIN": f"go{version}", "GOFLAGS": ""}
        there = self.folder / f"{version}-{kind}"
        shutil.copytree(HERE / "program", there)
        # A module of Go 1.22 is built as 1.22 was: its settings of GODEBUG too.
        (there / "go.mod").write_text("module program\n\ngo 1.22\n", "utf-8")
        tags = ["-tags", "flight"] if kind == FLIGHT else []
        build = subprocess.run(
            ["go", "build", *tags, "-o", "program", "."],
            cwd=there,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if build.returncode and "toolchain" in build.stderr:
            return f"no Go {version} here, and none to fetch"
        assert not build.returncode, build.stderr
        if kind == OBJECTS:
            environment["GODEBUG"] = "traceallocfree=1"
        # A short period between generations: the trace has several.
        more = f"{environment.get('GODEBUG', '')},traceadvanceperiod=50000000"
        environment["GODEBUG"] = more.strip(",")
        subprocess.run([there / "program", there / "out"], env=environment, check=True)
        return there / "out"


@pytest.fixture(scope="session", name="traces")
def _traces(tmp_path_factory):
    """Return a function: a version of Go and a kind in, the path of a trace out."""
    return Traces(tmp_path_factory.mktemp("traces"))
