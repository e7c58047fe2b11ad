"""Mutations of traces, and a process of its own that reads them within limits.

``python -m tests.loaders.traces.fuzzing SEED ROUNDS KEPT FILE…`` reads so many mutations
of files; each is written to `KEPT` before: what is there when the process ends
early is what ended it.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from pathlib import Path
from random import Random

from pprofdiff.analysis.traces.compare import compare_traces
from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces import decode
from pprofdiff.model.side import Capture
from pprofdiff.report.json.traces import trace_row
from pprofdiff.report.sections.traces.section import trace_parts
from pprofdiff.report.text.lines import render

MEMORY = 1 << 30
"""Address space, in bytes, that a process may take beyond what it began with."""

CPU_SECONDS = 240
"""CPU time that a process may take: far more than a round needs, so a hang ends."""

HEADER = 16
# Numbers that are longest, largest, or one more than what fits.
HUGE = (
    b"\xff" * 9 + b"\x01",
    b"\xff\xff\xff\xff\x0f",
    b"\x80" * 9 + b"\x00",
    b"\x80" * 12,
)
_LINE = re.compile(r"fuzzed: [ -~]{10,200}")


def mutations(seed, files, rounds):
    """Yield (what was done, bytes), the same for the same seed and files."""
    random = Random(seed)
    ways = (
        *(_cut, _flipped, _spliced, _joined, _repeated, _moved, _dropped, _swollen),
        *(_nudged, _nudged),
    )
    for _ in range(rounds):
        data, done = random.choice(files), []
        for _ in range(random.choice((1, 1, 2, 4))):
            way = random.choice(ways)
            done.append(way.__name__.strip("_"))
            data = way(random, data, files)
        yield "+".join(done), data


def _place(random, data):
    return random.randrange(HEADER, max(len(data), HEADER) + 1)


def _piece(random, data):
    """Return two places, near each other as often as not."""
    first, last = sorted((_place(random, data), _place(random, data)))
    if random.random() < 0.5:
        last = min(last, first + random.randrange(1, 64))
    return first, last


def _cut(random, data, _):
    return data[: random.randrange(len(data) + 1)]


def _flipped(random, data, _):
    """Turn single bits over, in one place or over the whole file."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 16, 200))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _nudged(random, data, _):
    """Say other numbers of one byte: what is whole stays so, what it says does not."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 4, 30))):
        place = min(_place(random, data), len(changed) - 1)
        if changed and changed[place] < 0x80:
            near = changed[place] + random.choice((-1, 1))
            changed[place] = random.choice((near & 0x7F, random.randrange(0x80)))
    return bytes(changed)


def _spliced(random, data, files):
    """Go on in another file, of whatever format."""
    other = random.choice(files)
    return data[: _place(random, data)] + other[_place(random, other) :]


def _joined(random, data, files):
    """Put all of another file behind, or its content behind another header."""
    other = random.choice(files)
    if random.random() < 0.5:
        return data + other[random.choice((0, HEADER)) :]
    return data[:HEADER] + other[HEADER:]


def _repeated(random, data, _):
    """Say a piece again and again."""
    first, last = _piece(random, data)
    times = min(random.choice((2, 10, 1000)), (1 << 18) // max(last - first, 1) + 1)
    return data[:first] + data[first:last] * times + data[last:]


def _moved(random, data, _):
    first, last = _piece(random, data)
    rest = data[:first] + data[last:]
    to = _place(random, rest)
    return rest[:to] + data[first:last] + rest[to:]


def _dropped(random, data, _):
    first, last = _piece(random, data)
    return data[:first] + data[last:]


def _swollen(random, data, _):
    """Put a huge number in place of a byte."""
    at = _place(random, data)
    return data[:at] + random.choice(HUGE) + data[at + 1 :]


def _outcome(data):
    """Return "trace" or "refused"; raise for any other outcome."""
    try:
        trace = decode(data, "fuzzed")
    except FormatError as error:
        if not _LINE.fullmatch(str(error)):
            raise ValueError(str(error)) from error
        return "refused"
    run = Capture("fuzzed", "trace", trace)
    diff = compare_traces(("base", [run]), ("new", [run]))
    json.dumps(trace_row(diff), allow_nan=False)
    if re.search(r"\b(nan|inf|None)\b", render(trace_parts(diff))):
        raise ValueError(render(trace_parts(diff)))
    return "trace"


def _limited():
    """Take what memory and time there are to be."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    status = Path("/proc/self/statm")
    taken = int(status.read_text().split()[0]) * resource.getpagesize() if status.exists() else 1 << 32  # fmt: skip
    most = taken + MEMORY
    if sys.platform != "darwin":  # which refuses the limit
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main(seed, rounds, kept, *paths):
    """Read the mutations; print how many ended how."""
    files = [Path(path).read_bytes() for path in paths]
    for data in files:
        assert _outcome(data) == "trace"
    _limited()
    counts = {"trace": 0, "refused": 0}
    for way, data in mutations(int(seed), files, int(rounds)):
        Path(kept).write_bytes(data)
        print(way, file=sys.stderr)
        counts[_outcome(data)] += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
