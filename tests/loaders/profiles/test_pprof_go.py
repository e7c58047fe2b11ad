"""Go's own reader finds the same in a profile that was decoded and encoded again."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from tests.examples import daily
from tests.repository import go, go_env

pytestmark = [
    pytest.mark.go,
    pytest.mark.skipif(shutil.which("go") is None, reason="needs the Go toolchain"),
]

DATA = Path(__file__).parents[2] / "data"


def _goroot() -> list[Path]:
    """Return the profiles that the Go distribution brings along."""
    if shutil.which("go") is None:
        return []
    source = Path(go_env("GOROOT")) / "src"
    found = [p for ending in ("*.pgo", "*.pprof") for p in source.rglob(ending)]
    return sorted(p for p in found if p.read_bytes()[:2] == b"\x1f\x8b")


CAPTURES = [*sorted(DATA.rglob("*.pb.gz")), *_goroot()]
# Of each folder some; the Go distribution's are the last.
SOME = [*CAPTURES[::3], *CAPTURES[-2:]]


@pytest.fixture(
    scope="module", params=daily(CAPTURES, SOME), ids=lambda p: "/".join(p.parts[-3:])
)
def capture(request):
    return request.param


@pytest.fixture(scope="module")
def program():
    """Return the path of pprof itself, once."""
    return go("tool", "-n", "pprof").strip()


def run(program, path, *flags):
    """Return what pprof writes about a profile."""
    command = [program, "-symbolize=none", *flags, str(path)]
    environment = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.matrix
def test_go_reads_what_encode_writes(program, capture, tmp_path):
    profile = decode(gzip.decompress(capture.read_bytes()))
    copy = tmp_path / "copy.pb.gz"
    copy.write_bytes(compress(encode(profile)))
    assert run(program, copy, "-raw") == run(program, capture, "-raw")


LABELLED = """
package main

import (
	"context"
	"os"
	"runtime/pprof"
)

func main() {
	labels := pprof.Labels("tenant", "northwind", "route", "/v1/rows/{id}")
	ready, done := make(chan bool), make(chan bool)
	for range 3 {
		go pprof.Do(context.Background(), labels, func(context.Context) {
			ready <- true
			<-done
		})
		<-ready
	}
	if err := pprof.Lookup("goroutine").WriteTo(os.Stdout, 0); err != nil {
		panic(err)
	}
}
"""


def test_labels_set_in_a_go_program_are_read(tmp_path):
    source = tmp_path / "main.go"
    source.write_text(LABELLED)
    done = subprocess.run(["go", "run", str(source)], capture_output=True, check=True)
    profile = decode(gzip.decompress(done.stdout))
    names, labels = profile.strings, profile.labels
    found = {(names[k], names[t]) for k, t in zip(labels.key, labels.text, strict=True)}
    assert found >= {("tenant", "northwind"), ("route", "/v1/rows/{id}")}
