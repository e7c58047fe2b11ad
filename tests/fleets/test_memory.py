"""Memory of client and workers grows with stacks and hosts, not with profiles."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.fleets import making

pytestmark = pytest.mark.slow

pytest.importorskip("distributed")

PROGRAM = """
import json, re, sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from pprofdiff.cli.main import main

if __name__ == "__main__":
    status = main(sys.argv[1:])
    # ru_maxrss of a process has what the one that started it had.
    memory = Path("/proc/self/status").read_text("utf-8")
    client = int(re.search(r"VmHWM:\\s+(\\d+) kB", memory)[1])
    worker = getrusage(RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps([status, 1024 * client, 1024 * worker]))
"""

BOUND = 250_000_000


def peaks(program, *words):
    """Return the peak resident bytes of the client and of the largest worker."""
    done = subprocess.run(
        [sys.executable, program, *words], capture_output=True, text=True, check=True
    )
    status, client, worker = json.loads(done.stdout.splitlines()[-1])
    assert status == 0
    assert "profiles of 20 hosts" in done.stdout
    return client, worker


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has a peak on Linux only")
@pytest.mark.whole
def test_memory_does_not_grow_with_the_number_of_profiles(tmp_path):
    files = making.write(tmp_path / "few", range(20), count=6, samples=6000)
    for number in range(5):
        for file in files:
            place = tmp_path / "many" / file.parent.name
            place.mkdir(parents=True, exist_ok=True)
            os.link(file, place / f"{number}-{file.name}")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    # 240 and 1,200 profiles: workers are started for both.
    few, many = (
        peaks(program, *[f"{tmp_path}/{name}/**/*.gz"] * 2) for name in ("few", "many")
    )
    for small, large in zip(few, many, strict=True):
        assert large < 1.2 * small
        assert large < BOUND
