"""Traces of small Go programs, one a situation, run by a Go of any version.

`trace("http", "1.22.12")` builds `makers` with that Go, runs it once a session and
returns the file. In pytest, what cannot be made here is skipped with the reason; `made`
raises instead. `big` makes the trace that speed is measured on.

Without ``--whole``, traces are those in `kept` where they are there: of releases that are
not on PATH, and of situations that a busy machine hides. `xz -9e` of what `another`
returns makes one again.
"""

from __future__ import annotations

import lzma
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.examples import whole

from . import oracle
from .toolchains import (
    VERSIONS,
    MissingGoError,
    cached,
    environment,
    once,
    run_go,
    session,
    version,
)

SOURCES = Path(__file__).parent / "makers"
KEPT = Path(__file__).parent / "kept"
TIMEOUT_S = 120
TRIES = 30
EVENTS_A_ROUND = 115
# A generation of 0.1 s, dense as this program is, holds what a second of a service does.
BIG_GODEBUG = "traceadvanceperiod=100000000"


class Maker(NamedTuple):
    """A situation: what GODEBUG it needs, and the first Go that knows it.

    Go of the release `spoils`, its own runtime at fault, crashes or writes a trace that
    it refuses: alloc in every third run or so, flight rarely, on a busy machine. Where
    `only` names versions, no other builds it.
    """

    godebug: str = ""
    since: tuple[int, int] = (1, 11)
    spoils: tuple[int, int] | None = None
    only: tuple[str, ...] = ()


MAKERS = {
    # To build net/http takes longer than all else: these have it built, or need it for
    # go tool trace as well. Of two more there are traces in `kept`.
    "http": Maker(only=("1.11.13", "1.19.4", "1.26.8")),
    "sync": Maker(),
    "gc": Maker(),
    "stops": Maker(),
    "files": Maker(),
    "procs": Maker(),
    "tasks": Maker(),
    "samples": Maker(),
    "whole": Maker(),
    "profiled": Maker("traceadvanceperiod=20000000"),
    "generations": Maker("traceadvanceperiod=100000000"),
    "coroutines": Maker(since=(1, 23)),
    "alloc": Maker("traceallocfree=1", (1, 23), spoils=(1, 26)),
    "flight": Maker("traceadvanceperiod=100000000", (1, 25), spoils=(1, 25)),
}

# GOROOT's own, in src/internal/trace/testdata/testprog; run where they are.
TESTPROGS = (
    "annotations-stress", "annotations", "cgo-callback", "cpu-profile",
    "futile-wakeup", "gc-stress", "gomaxprocs", "iter-pull", "many-start-stop",
    "stacks", "stress-start-stop", "stress", "wait-on-pipe",
)  # fmt: skip


def pairs() -> list[tuple[str, str]]:
    """Return every (maker, version) that there is, for parametrization."""
    return [
        (name, go)
        for name, maker in MAKERS.items()
        for go in maker.only or VERSIONS
        if _release(go) >= maker.since
    ]


def trace(maker: str, go: str) -> Path:
    """Return the trace of a situation by a version of Go; skip the test without it."""
    try:
        return made(maker, go)
    except MissingGoError as missing:
        pytest.skip(str(missing))


@cache
def made(maker: str, go: str) -> Path:
    """Return the trace of a situation, made once a session; raise `MissingGoError`."""
    builds = go in (MAKERS[maker].only or VERSIONS)
    if not (whole() and builds) and (path := kept(f"{maker}-{go}")):
        return path
    return _run_once(maker, go, 0)


def another(maker: str, go: str, number: int) -> Path:
    """Return a trace of a situation that was made in this session, one a number.

    The test is skipped where it cannot be made.
    """
    try:
        return _run_once(maker, go, number)
    except MissingGoError as missing:
        pytest.skip(str(missing))


def _run_once(maker: str, go: str, number: int) -> Path:
    program = _built(go)
    return once(
        session() / f"{maker}-{go}-{number}.trace",
        lambda draft: _run_maker(program, maker, go, draft),
    )


def kept(name: str) -> Path | None:
    """Return the trace that is kept under a name, if there is one."""
    packed = KEPT / f"{name}.trace.xz"
    if not packed.exists():
        return None
    return once(
        session() / f"kept-{name}.trace",
        lambda draft: draft.write_bytes(lzma.decompress(packed.read_bytes())),
    )


def _run_maker(program: Path, maker: str, go: str, out: Path) -> None:
    command, godebug = [str(program), maker, str(out)], MAKERS[maker].godebug
    if _release(go) != MAKERS[maker].spoils:
        _execute(command, godebug)
        return
    for _ in range(TRIES):
        with suppress(subprocess.SubprocessError, oracle.RefusedError):
            _execute(command, godebug)
            if oracle.summary(out)["error"] is None:
                return
    raise subprocess.SubprocessError(f"Go {go} spoiled {TRIES} traces: {maker}")


@cache
def goroot_trace(name: str, go: str | None = None) -> Path:
    """Return the trace that one of `TESTPROGS` writes; cgo-callback needs a C compiler."""
    try:
        if name == "cgo-callback" and run_go("env", "CGO_ENABLED", go=go) != "1\n":
            pytest.skip("cgo is off: no C compiler")
        root = Path(run_go("env", "GOROOT", go=go).strip()) / "src/internal/trace"
    except MissingGoError as missing:
        pytest.skip(str(missing))
    source = root / f"testdata/testprog/{name}.go"
    program = once(
        session() / f"{name}-{version(go)}",
        lambda draft: run_go("build", "-o", draft, source, go=go),
    )
    return once(
        program.with_name(f"{program.name}.trace"),
        lambda draft: draft.write_bytes(_execute([str(program)], "")),
    )


def big(path: Path, events: int = 8_000_000, go: str | None = None) -> Path:
    """Write the trace of about so many events to `path`, unless it is there.

    The work is the same in each run; how often goroutines block, and so the number of
    events, differs by a percent or two. 8 million events are some 36 MB (of Go 1.22 and
    later; v1 writes 22 MB) and take seconds.
    """
    if not path.exists():
        draft = path.with_suffix(".part")
        rounds = max(4, events // EVENTS_A_ROUND)
        program = [str(_built(version(go))), "big", str(draft)]
        _execute(program, BIG_GODEBUG, {"BIG_ROUNDS": str(rounds)})
        draft.replace(path)
    return path


def _release(go: str) -> tuple[int, int]:
    major, minor = go.split(".")[:2]
    return int(major), int(minor)


@cache
def _built(go: str) -> Path:
    """Return the makers' program; one for all processes, as it depends on sources only."""
    version(go)
    files = [p for p in sorted(SOURCES.glob("*.go")) if _knows(go, p)]
    return once(
        cached(go, *files) / "makers",
        lambda draft: run_go("build", "-o", draft, *files, go=go),
    )


def _knows(go: str, path: Path) -> bool:
    """Return whether a Go builds a file: it may be too old, or none of `Maker.only`."""
    since = path.stem.removeprefix("since")
    if since != path.stem:
        return _release(go) >= _release(since.replace("_", "."))
    maker = MAKERS.get(path.stem)
    return maker is None or not maker.only or go in maker.only


def _execute(
    words: list[str], godebug: str, more: dict[str, str] | None = None
) -> bytes:
    done = subprocess.run(
        words, env=environment() | {"GODEBUG": godebug} | (more or {}),
        capture_output=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    if done.returncode:
        raise subprocess.SubprocessError(done.stderr.decode(errors="replace"))
    return done.stdout
