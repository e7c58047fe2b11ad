"""What benchstat and the library under it say: Go's own tools, built once, pinned.

What benchstat says of the files that every session asks about is kept in `said`. With
``--whole`` it is asked again, and must say the same; ``PPROFDIFF_GOLDEN=write`` and
``--whole`` together keep what it says.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.examples import whole
from tests.traces.toolchains import cached, digest, once, version

BENCHSTAT = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"
SAID = Path(__file__).parent / "said"
MOREMATH = Path(__file__).parent / "moremath"
UNREACHABLE = re.compile(r"dial tcp|no such host|module lookup disabled|i/o timeout")


def _go(*words, **options):
    """Run go; where its modules are neither cached nor reachable, skip."""
    done = subprocess.run(
        ["go", *words], capture_output=True, text=True, check=False, **options
    )
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"Go cannot fetch modules: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


def benchstat_program():
    """Return benchstat's path; it is installed once a machine."""

    def install(draft):
        with TemporaryDirectory() as folder:
            _go("install", BENCHSTAT, env={**os.environ, "GOBIN": folder})
            shutil.move(Path(folder) / "benchstat", draft)

    return once(cached(version(), BENCHSTAT) / "benchstat", install)


def benchstat(base, new, *flags):
    """Return what benchstat prints of two files: standard output and error."""
    kept = SAID / f"{digest(BENCHSTAT, *flags, base, new)}.json"
    if kept.exists() and not whole():
        return tuple(json.loads(kept.read_text("utf-8")))
    done = subprocess.run(
        [benchstat_program(), *flags, f"base={base}", f"new={new}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = done.stdout, done.stderr
    if os.environ.get("PPROFDIFF_GOLDEN") == "write":
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(said, indent=0, ensure_ascii=False) + "\n", "utf-8")
    elif kept.exists():
        assert list(said) == json.loads(kept.read_text("utf-8"))
    return said


def moremath_program():
    """Return the path of `moremath/main.go`, built once a machine."""
    return once(
        cached(version(), *sorted(MOREMATH.iterdir())) / "moremath",
        lambda draft: _go("build", "-o", draft, ".", cwd=MOREMATH),
    )


class Said(NamedTuple):
    """One line of benchstat's CSV; what is missing is empty."""

    base: str
    base_ci: str
    new: str
    new_ci: str
    versus: str
    test: str


class Table(NamedTuple):
    """One of benchstat's tables: configuration, unit, lines by name."""

    config: dict[str, str]
    unit: str
    sides: int
    rows: dict[str, Said]


def tables(base, new):
    """Return (tables, warnings) of what benchstat says about two files."""
    out, err = benchstat(base, new, "-format=csv")
    found, config, head = [], {}, True
    for line in csv.reader(out.splitlines()):
        if not line or line == [""]:
            head = True
        elif head and len(line) == 1:
            key, _, value = line[0].partition(": ")
            config[key] = value
        elif head and line[1] in ("base", "new"):
            continue
        elif head:
            head = False
            found.append(Table(dict(config), line[1], 1 + (len(line) > 3), {}))
        else:
            name, *cells = line + [""] * (7 - len(line))
            found[-1].rows[name] = Said(*cells)
    warnings = {line.partition(": ")[2] for line in err.splitlines()}
    return found, warnings
