"""The Go toolchains that tests use, by version, and the folder of what they make.

Ordinarily tests use the Go on PATH, and what `make.kept` has of others; with ``--whole``
all of `VERSIONS`.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

# One of each format a Go has written: 1.11, 1.19, 1.21 (all v1), 1.22, 1.23, 1.25 and
# 1.26, which 1.27 writes too.
VERSIONS = (
    "1.11.13", "1.19.4", "1.21.13", "1.22.12", "1.23.12", "1.25.14", "1.26.8", "1.27.3",
)  # fmt: skip

# What conftest.py gives every process of a session: which versions may be fetched, and
# the folder that all of them share.
RELEASES, FOLDER = "PPROFDIFF_TEST_RELEASES", "PPROFDIFF_TEST_FOLDER"


class MissingGoError(RuntimeError):
    """There is no Go on PATH, or it cannot get the toolchain asked for."""


def environment(go: str | None = None) -> dict[str, str]:
    """Return the environment for `go` of this version (None: as it is on PATH).

    What a developer has in GOFLAGS may be unknown to an old Go; a tag is not.
    """
    words = {"GOFLAGS": "-tags=none", "GOWORK": "off", "GODEBUG": ""}
    if go is not None:
        words["GOTOOLCHAIN"] = f"go{go}"
    return os.environ | words


@cache
def version(go: str | None = None) -> str:
    """Return the version that answers, as in ``1.26.8``; raise `MissingGoError`."""
    if shutil.which("go") is None:
        raise MissingGoError("go is not on PATH")
    if go is not None and not at_hand(go):
        raise MissingGoError(f"Go {go} is for pytest --whole")
    done = subprocess.run(
        ["go", "version"], env=environment(go), capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    said = done.stdout.split()
    found = said[2].removeprefix("go") if done.returncode == 0 else ""
    if not found or go not in (None, found):
        why = (done.stderr.strip().splitlines() or [f"got {found}"])[-1]
        raise MissingGoError(f"no Go {go}: {why}")
    return found


def at_hand(go: str) -> bool:
    """Return whether this session may use a version: without ``--whole``, that on PATH."""
    allowed = os.environ.get(RELEASES)
    barred = () if allowed is None else set(VERSIONS) - {*allowed.split()}
    return go not in barred or (shutil.which("go") is not None and go == version())


def run_go(*words: object, go: str | None = None) -> str:
    """Run ``go`` of a version and return its output; raise with its words if it fails."""
    version(go)
    return _output(["go", *map(str, words)], environment(go))


def build_goroot(*words: object, go: str, root: Path) -> None:
    """Run ``go build`` of what an overlay changes in GOROOT.

    Go refuses that in its module cache, where downloaded toolchains are: it gets
    another one here, and the release is run directly.
    """
    elsewhere = {"GOTOOLCHAIN": "local", "GOMODCACHE": str(session() / "modules")}
    program = [str(root / "bin/go"), "build", *map(str, words)]
    _output(program, environment(go) | elsewhere)


def _output(words: list[str], variables: dict[str, str]) -> str:
    done = subprocess.run(
        words, env=variables, capture_output=True, text=True, cwd=session(), check=False
    )
    if done.returncode:
        raise subprocess.SubprocessError(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def cached(*parts: object) -> Path:
    """Return the user's folder for a program made of these parts, and made if need be.

    It is in the temporary folder, outside any Go module, and outlives the session. Of
    paths, the contents count.
    """
    home = Path(tempfile.gettempdir()) / f"pprofdiff-go-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid():
        raise PermissionError(f"{home} is somebody else's")
    folder = home / digest(*parts)
    folder.mkdir(exist_ok=True)
    return folder


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """Return `path`; the first process that asks has `make` write it, others wait.

    `make` gets the name of a draft, which takes the place of `path` when it is whole.
    """
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            draft = path.with_name(f"{path.name}.draft")
            # What one that failed left behind.
            shutil.rmtree(draft, ignore_errors=True)
            make(draft)
            draft.replace(path)
    return path


@cache
def session() -> Path:
    """Return a folder that all processes of a session share, gone when it ends."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    folder = Path(tempfile.mkdtemp(prefix="pprofdiff-traces-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def digest(*parts: object) -> str:
    """Return a name for texts, bytes and the contents of paths."""
    total = hashlib.sha256()
    for part in parts:
        whole = part.read_bytes() if isinstance(part, Path) else part
        blob = whole if isinstance(whole, bytes) else str(whole).encode()
        total.update(len(blob).to_bytes(8, "little") + blob)
    return total.hexdigest()[:24]
