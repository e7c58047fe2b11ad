"""What Go's own packages say of an execution trace, v1 or v2.

::

    from traces import oracle            # in tests: `tests` is on the path
    oracle.summary(trace)["goroutines"]  # trace: a path, or the bytes
    oracle.summary(trace)["ranges"]      # GC phases, stops, sweeps, assists
    oracle.mutators(trace)               # mutator utilization and MMU, by flags
    oracle.transitions(trace)            # of goroutines and Ps, in order
    oracle.profile(trace, "sched")       # what -pprof=sched writes, gzipped
    oracle.parsed(trace)                 # the text of -d=parsed
    oracle.encoded(text)                 # a trace in text form, written by Go

A refused trace raises `RefusedError` with Go's words. Without a Go of 1.26 or later the
test is skipped; mark tests ``go``. Answers are kept, by the trace's content, as long as
the process lives. The JSON tags in `gotrace` name the fields.
Times are ns by Go's clock of the trace, sums are ns, ids are Go's, -1 for none; a
``stack`` is a row of ``stacks``, leaf first, row 0 for none; what a trace lacks is None.
Bytes of a name that are no UTF-8 are U+FFFD. In v1 traces Go gives the first statuses in a
random order, 1 ns apart: their times differ from run to run.

Of `summary`: goroutines, regions and tasks are `trace.Summarizer`'s (GOROOT's
internal/trace/summary.go); everything else is by the events in Go's order, see
`gotrace/facts.go` and `gotrace/use.go`. If the reader stops before the end, ``error`` says
why, sums go up to there, and ``valid_events`` is what go tool trace would keep.
No tool of Go's shows how long a stop-the-world took to stop: ``last_stop_ns`` of such a
range is when the last P went idle inside of it, by the transitions of Ps.

Of `mutators`: Go's MutatorUtilizationV2 counts background workers wrongly, in 1.26.8 and
1.27.3 alike: a worker stays marked when it stops, and its next start is counted for the
transition and again for its label, so a P's counter never returns to 0. Rows with
``corrected`` are of the same function with one line more, which forgets the mark; without
the flag ``background`` the two must be equal. The page /mmu shows the uncorrected. Both
panic (row ``panic``) where a goroutine of the program has a worker's label, enters a system
call and loses its P; `summary` has such goroutines in ``mislabelled_ns``.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from .toolchains import (
    MissingGoError,
    build_goroot,
    cached,
    digest,
    once,
    run_go,
    session,
    version,
)

SOURCES = Path(__file__).parent / "gotrace"
OLDEST = "1.26.8"  # reads every format up to 1.26
PROFILES = ("net", "sync", "syscall", "sched")
_TIME = re.compile(rb"M=\S+ P=\S+ G=\S+ \w+ Time=(-?\d+)")


class RefusedError(ValueError):
    """Go does not read this trace; the text is Go's."""


def summary(trace: Path | bytes) -> dict[str, Any]:
    """Return goroutines, tasks, ranges, Ps, metrics, samples and counts of a trace."""
    return _asked("summary", trace)


def transitions(trace: Path | bytes) -> dict[str, Any]:
    """Return every transition of a goroutine or P, in order; for small traces."""
    return _asked("transitions", trace)


def mutators(trace: Path | bytes) -> dict[tuple[frozenset[str], bool], dict[str, Any]]:
    """Return utilization (mean, MMU, quantiles) by (flags, corrected)."""
    return _by_flags(_asked("mutators", trace))


def series(trace: Path | bytes) -> dict[tuple[frozenset[str], bool], dict[str, Any]]:
    """Return the same with ``steps``: (ns from the first, utilization), per series."""
    return _by_flags(_asked("series", trace))


def _by_flags(rows: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    return {(frozenset(r["flags"]), r["corrected"]): r for r in rows}


def profile(trace: Path | bytes, kind: str) -> bytes:
    """Return the gzipped profile that ``go tool trace -pprof=kind`` writes."""
    return _answer((f"-pprof={kind}",), trace)


def parsed(trace: Path | bytes) -> str:
    """Return every event in order, as ``go tool trace -d=parsed`` prints them."""
    return _answer(("-d=parsed",), trace).decode(errors="surrogateescape")


def times(trace: Path | bytes) -> np.ndarray:
    """Return the time of every event in Go's order (int64), of the same text.

    Of a large trace the text is hundreds of MB, and its times are asked for again.
    """

    def made(draft: Path) -> None:
        with _answered(("-d=parsed",), trace).open("rb") as lines:
            found = (int(match[1]) for match in map(_TIME.match, lines) if match)
            held = np.fromiter(found, np.int64)
        with draft.open("wb") as out:
            np.save(out, held)

    return np.load(once(_folder(trace) / "times.npy", made))


class Footprint(NamedTuple):
    """How many events of a kind a trace has, and their bytes."""

    size: int
    count: int


def footprint(trace: Path | bytes) -> dict[str, Footprint]:
    """Return a v2 trace's wire events by name, as ``-d=footprint`` counts them."""
    lines = _answer(("-d=footprint",), trace).decode().splitlines()[2:]
    rows = [words for line in lines if len(words := line.split()) == 5]
    return {name: Footprint(int(b), int(n)) for name, b, _, n, _ in rows if n != "0"}


@cache
def encoded(text: str) -> bytes:
    """Return the bytes of a trace in text form, by Go's internal/trace/raw."""
    return _run((str(program()), "oracle", "encode"), text.encode())


def _asked(question: str, trace: Path | bytes) -> Any:
    return json.loads(_answer(("oracle", question), trace))


def _answer(words: tuple[str, ...], trace: Path | bytes) -> bytes:
    return _answered(words, trace).read_bytes()


def _answered(words: tuple[str, ...], trace: Path | bytes) -> Path:
    """Return the file that holds an answer."""
    folder, asked = _folder(trace), program()
    if isinstance(trace, bytes):
        content = trace
        trace = once(folder / "trace", lambda draft: draft.write_bytes(content))
    kept = folder / "-".join(words).replace("=", "-").lstrip("-")
    return once(
        kept, lambda draft: draft.write_bytes(_run((str(asked), *words, str(trace))))
    )


def _folder(trace: Path | bytes) -> Path:
    """Return the session's folder of what is known of a trace."""
    content = trace if isinstance(trace, bytes) else trace.read_bytes()
    folder = session() / digest(content)
    folder.mkdir(exist_ok=True)
    return folder


def _run(words: tuple[str, ...], given: bytes = b"") -> bytes:
    done = subprocess.run(words, input=given, capture_output=True, check=False)
    if done.returncode:
        raise RefusedError(done.stderr.decode(errors="replace").strip())
    return done.stdout


def program() -> Path:
    """Return go tool trace that also answers `gotrace`, built if need be.

    Of the Go on PATH, or of `OLDEST` where that is older. The test is skipped if there
    is none.
    """
    try:
        older = _release(version()) < _release(OLDEST)
        return _built(version(OLDEST if older else None))
    except MissingGoError as missing:
        pytest.skip(str(missing))


def _release(go: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", go)[:2]))


@cache
def _built(go: str) -> Path:
    sources = sorted(SOURCES.glob("*.go"))
    folder = cached(go, Path(__file__), *sources)
    return once(folder / "go-trace", lambda draft: _build(draft, go, sources))


def _build(draft: Path, go: str, sources: list[Path]) -> None:
    root = Path(run_go("env", "GOROOT", go=go).strip())
    source = root / "src"
    corrected = session() / f"corrected-{go}.go"
    corrected.write_text(_corrected((source / "internal/trace/gc.go").read_text()))
    places = {source / "cmd/trace" / f"oracle_{p.name}": p for p in sources}
    places[source / "internal/trace/oracle_corrected.go"] = corrected
    overlay = session() / f"overlay-{go}.json"
    overlay.write_text(
        json.dumps({"Replace": {str(to): str(real) for to, real in places.items()}})
    )
    words = ("-overlay", overlay, "-o", draft, "cmd/trace")
    build_goroot(*words, go=go, root=root)


def _corrected(source: str) -> str:
    """Return Go's utilization function, read in place, with the line that it lacks."""
    start = source.index("func MutatorUtilizationV2(")
    body = source[start : source.index("\n}\n", start) + 3]
    stopped = body.index("// Stopped running while doing GC things.")
    end = body.index("\n", body.index(".gc--", stopped))
    body = f"{body[:end]}\ndelete(bgMark, g){body[end:]}"
    body = body.replace("MutatorUtilizationV2", "MutatorUtilizationCorrected", 1)
    return f'package trace\n\nimport "strings"\n\n{body}'
