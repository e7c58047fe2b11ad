"""Mutated profiles on the command line: a result, or one line that names a file.

``python -m tests.cli.fuzzing SEED ROUNDS`` runs so many mutations, with every kind of
report, numpy's warnings as errors, and names the seeds of those that go wrong:
``python -m tests.cli.fuzzing SEED 1`` runs one of them again.
"""

import contextlib
import gzip
import io
import json
import os
import sys
import tempfile
import traceback
import warnings
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from pprofdiff.api import load
from pprofdiff.cli.main import main
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.loaders.profiles.schema import message_class
from pprofdiff.model.profiles.tables import pruned

DATA = Path(__file__).parents[1] / "data"
PAIRS = (
    *(f"{story}/{{}}/cpu" for story in ("syncpool", "zstd", "rss-search")),
    *(f"syncpool/{{}}/{kind}" for kind in ("allocs", "heap", "mutex", "block")),
    *(f"rss-search/{{}}/{kind}" for kind in ("goroutine", "heap")),
)
# A profile keeps this many of its samples: mutations then meet often.
_SAMPLES = 150

LEAST, MOST = -(1 << 63), (1 << 63) - 1
_SIGNED = (
    *(LEAST, LEAST + 1, MOST, MOST - 1, 0, 1, -1, 2, -2, 7, -10_000_000),
    *(1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 32, 1 << 52, 1 << 53, (1 << 53) + 1),
    *(1 << 61, 1 << 62, -(1 << 62), 10**15, 10**18, -(10**18)),
)
_UNSIGNED = (0, 1, 2, 1 << 31, 1 << 32, 1 << 63, (1 << 64) - 1)
_WORDS = (
    *(b"", b"NaN", b"inf", b"-0", b"1e999", b" ", b".", b"..", b"/", b"\xff", b"\0"),
    *(b"runtime.mallocgc", b"runtime.gcBgMarkWorker", b"main.main", b"main.(*T[...]).f"),
    *(b"cpu", b"samples", b"count", b"nanoseconds", b"bytes", b"seconds", b"inuse_space"),
    *(b"delay", b"contentions", b"a" * 3000, b"main.f.func1.2.3", b"go.shape.int"),
    *(b"main.f" + part * 2000 for part in (b".func1", b"[", b"(", b"1.", b"-range1")),
)  # fmt: skip
_OPTIONS = (
    *((), (), ("--work=3:5",), ("--work=1e-9:1e18",), ("--rps=100:90",)),
    *(("-normalize",), ("--full",), ("--joined",), ("--fail-on=total:+5%",)),
    *(("--fail-on=cum:main:+5%", "--strict"), ("-focus=main",), ("-hide=runtime",)),
    *(("-lines",), ("-files",), ("-sample_index=0",), ("--no-pairing",)),
    *(("-explain=main",), ("-top",), ("-top", "-cum", "-base"), ("-peek=main",)),
    *(("-top", "-mean"), ("-proto",), ("--only-if-changed",), ("--no-paths",)),
)
_ENDINGS = ("json", "md", "csv", "pb.gz")
_DRAWN = ("html", "svg", "png")  # these take longest


@cache
def _pair(pattern):
    """Return base and new of a pair of captures, as gzip bytes."""
    return tuple(
        encode(pruned(_few(load(DATA / f"{pattern.format(side)}.pb.gz").data)))
        for side in ("base", "new")
    )


def _few(profile):
    """Return the largest samples of a profile."""
    order = np.argsort(-profile.values[:, -1], kind="stable")
    return profile.take(order[:_SAMPLES])


def mutated(random, data):
    """Return a profile's bytes after some changes, and what they were."""
    message = message_class("Profile").FromString(data)
    ways = random.choices(_WAYS, k=random.choice((1, 1, 2, 3, 6)))
    for way in ways:
        way(random, message)
    return message.SerializeToString(), [way.__name__.strip("_") for way in ways]


def _some(random, items):
    """Return one item, a few or all of them."""
    most = random.choice((1, 1, 5, len(items)))
    return random.sample(list(items), min(most, len(items)))


def _values(random, message):
    """Put extreme values into samples."""
    same = random.choice((None, random.choice(_SIGNED)))
    for sample in _some(random, message.sample):
        for i in range(len(sample.value)):
            if random.random() < 0.7:
                sample.value[i] = random.choice(_SIGNED) if same is None else same


def _negated(random, message):
    for sample in _some(random, message.sample):
        sample.value[:] = [min(-v, MOST) for v in sample.value]


def _scaled(random, message):
    by = random.choice((1 << 20, 1 << 40, 10**9, 0))
    for sample in _some(random, message.sample):
        sample.value[:] = [min(max(v * by, LEAST), MOST) for v in sample.value]


def _times(random, message):
    for field in ("time_nanos", "duration_nanos", "period"):
        if random.random() < 0.6:
            setattr(message, field, random.choice(_SIGNED))


def _lines(random, message):
    for location in _some(random, message.location):
        for line in location.line:
            line.line = random.choice(_SIGNED)
            line.column = random.choice(_SIGNED)


def _starts(random, message):
    for function in _some(random, message.function):
        function.start_line = random.choice(_SIGNED)


def _addresses(random, message):
    for location in _some(random, message.location):
        location.address = random.choice(_UNSIGNED)
    for mapping in message.mapping:
        mapping.memory_start = random.choice(_UNSIGNED)
        mapping.memory_limit = random.choice(_UNSIGNED)
        mapping.file_offset = random.choice(_UNSIGNED)


def _ids(random, message):
    """Let parts refer to others than they did, or to none."""
    table, field = random.choice(
        (("sample", "location_id"), ("location", "mapping_id"), ("location", "line"))
    )
    known = len(message.location)
    for part in _some(random, getattr(message, table)):
        number = random.choice((*range(1, known + 1), *_UNSIGNED))
        if field == "location_id":
            part.location_id[:] = [number] * len(part.location_id)
        elif field == "mapping_id":
            part.mapping_id = number
        else:
            for line in part.line:
                line.function_id = number


def _texts(random, message):
    """Let names be others of the table, or none."""
    top = len(message.string_table)
    field = random.choice(("name", "system_name", "filename"))
    for function in _some(random, message.function):
        setattr(function, field, random.choice((0, random.randrange(top), top, -1)))


def _words(random, message):
    """Put odd strings into the table."""
    if len(message.string_table) > 1:
        for at in _some(random, range(1, len(message.string_table))):
            message.string_table[at] = random.choice(_WORDS)


def _types(random, message):
    """Change what values count."""
    top = len(message.string_table)
    for kind in (*message.sample_type, message.period_type):
        if random.random() < 0.5:
            kind.type = random.randrange(top)
        if random.random() < 0.5:
            kind.unit = random.randrange(top)


def _named_types(random, message):
    """Change what values count to another kind that is known."""
    for kind in (*message.sample_type, message.period_type):
        if random.random() < 0.5:
            message.string_table.append(random.choice(_WORDS))
            kind.type = len(message.string_table) - 1


def _labels(random, message):
    message.string_table.append(random.choice(_WORDS))
    key = len(message.string_table) - 1
    for sample in _some(random, message.sample):
        label = sample.label.add()
        label.key = key
        label.num = random.choice(_SIGNED)
        if random.random() < 0.3:
            label.str = random.randrange(len(message.string_table))


def _deep(random, message):
    for sample in _some(random, message.sample):
        ids = list(sample.location_id)
        sample.location_id[:] = (ids * random.choice((0, 2, 40)))[:2000]


def _without(random, message):
    field = random.choice(
        ("sample", "sample_type", "mapping", "comment", "period_type")
    )
    message.ClearField(field)


def _emptied(random, message):
    for sample in _some(random, message.sample):
        sample.value[:] = [0] * len(sample.value)


_WAYS = (
    *(_values, _values, _negated, _scaled, _times, _times, _lines, _starts),
    *(_addresses, _ids, _texts, _words, _types, _named_types, _labels, _deep),
    *(_without, _emptied),
)


def faults(seed, rounds, folder):
    """Yield (seed, what was done, what went wrong) of mutations that go wrong."""
    for one in range(seed, seed + rounds):
        random = Random(one)
        base, new = _pair(random.choice(PAIRS))
        ways = []
        if random.random() < 0.6:
            base, done = mutated(random, base)
            ways += ["base", *done]
        if random.random() < 0.6 or not ways:
            new, done = mutated(random, new)
            ways += ["new", *done]
        if random.random() < 0.1:
            base = new
        options = random.choice(_OPTIONS)
        endings = (*_ENDINGS, *random.choices(("", *_DRAWN), (4, 2, 1, 1)))
        wrong = _wrong(Path(folder), base, new, (options, endings))
        if wrong:
            yield one, [*ways, *options], wrong


def _wrong(folder, base, new, asked):
    """Return what is wrong with a run of the command line, "" for nothing.

    `asked` are options, and the endings of reports.
    """
    options, endings = asked
    sides = []
    for name, data in (("base", base), ("new", new)):
        path = folder / f"{name}.pb.gz"
        path.write_bytes(gzip.compress(data, 1))
        sides.append(str(path))
    first = "-base" if "-base" in options else "-diff_base"
    words = [word for word in options if word != "-base"]
    view = any(word.startswith(("-top", "-peek", "-proto")) for word in words)
    outputs = [] if view else [folder / f"out.{ending}" for ending in endings if ending]
    for path in outputs:
        path.unlink(missing_ok=True)
    words += [f"{first}={sides[0]}", *(f"-o={path}" for path in outputs), sides[1]]
    out, err = _Stream(), _Stream()
    before = os.environ.get("PPROFDIFF_TRACEBACK")
    os.environ["PPROFDIFF_TRACEBACK"] = "1"
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            warnings.simplefilter("error")
            status = main(words)
    except Exception:  # noqa: BLE001 - any is a fault
        return traceback.format_exc()
    finally:
        if before is None:
            del os.environ["PPROFDIFF_TRACEBACK"]
        else:
            os.environ["PPROFDIFF_TRACEBACK"] = before
    return _unlike(status, err.text(), sides, outputs)


class _Stream(io.TextIOWrapper):
    """A stream of text that is kept."""

    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8", write_through=True)

    def text(self):
        """Return what was written."""
        return self.buffer.getvalue().decode("utf-8")


def _unlike(status, said, sides, outputs):
    """Return how far a run is from a result, or one line that names a file."""
    if status == 2:
        if not said.startswith("pprofdiff: ") or said.count("\n") != 1:
            return f"not one line: {said!r}"
        named = (Path(path).name for path in (*sides, *outputs))
        if outputs and "--explain" not in said and not any(n in said for n in named):
            return f"names no file: {said!r}"
        return ""
    if said.startswith("pprofdiff: internal") or "Warning" in said:
        return said
    for path in outputs:
        if path.suffix == ".json" and path.exists():
            json.loads(path.read_text("utf-8"), parse_constant=_no_number)
    return ""


def _no_number(word):
    raise ValueError(f"{word} is no JSON")


def _main(seed, rounds):
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for one, ways, wrong in faults(seed, rounds, folder):
            found += 1
            print(f"--- seed {one}: {' '.join(ways)}\n{wrong}", flush=True)
    print(f"{rounds} mutations, {found} faults")
    return found > 0


if __name__ == "__main__":
    sys.exit(_main(*map(int, sys.argv[1:])))
