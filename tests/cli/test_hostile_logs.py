"""Hostile logs on the command line: a result, or one line that names the file.

Every run goes through the findings, the text and the JSON report.
"""

import json
import re
import shutil
from random import Random

import pytest

from tests.examples import daily

# What stands in a log besides digits, and what a damaged one may hold.
PIECES = (
    b"gc ", b" @", b"s ", b"%: ", b"+", b"/", b"->", b" ms clock, ", b" ms cpu, ", b" MB, ",
    b" MB goal, ", b" MB stacks, ", b" MB globals, ", b" P", b" (forced)", b"GC forced\n", b"\n",
    b"0", b"9", b"-", b".", b"NaN", b"1e308", b"18446744073709551615", b"9" * 400, b"9" * 5000, b"\0", b"\xff\xfe",
    b"Benchmark", b"BenchmarkX-2\t", b"\t", b" ns/op", b" B/op", b" MB/s", b" Inf ns/op", b"pkg: x\n",
    b"goos:", b"Requests/sec:", b"Summary:\n", b"  Total:\t", b"Latency", b"Running 2s test @ ",
)  # fmt: skip


@pytest.fixture
def attempt(cli, tmp_path):
    """Return a function: base and new bytes in, the complaint (None: a result) out."""
    out = tmp_path / "out.json"

    def run(base, new, *words):
        out.unlink(missing_ok=True)
        sides = []
        for name, content in (("base", base), ("new", new)):
            path = tmp_path / f"{name}.log"
            if isinstance(content, bytes):
                path.write_bytes(content)
            sides.append(path if isinstance(content, bytes) else content)
        done = cli(*words, *sides, f"-o={out}")
        assert "internal error" not in done.err, done.err
        if done.status == 0:
            assert done.err == ""
            assert all(line.isprintable() for line in done.out.split("\n"))
            assert not re.search(r"\b(nan|inf|None)\b", _without_names(done.out))
            json.loads(out.read_text("utf-8"), parse_constant=pytest.fail)
            return None
        assert (done.status, done.out) == (2, "")
        assert re.fullmatch(r"pprofdiff: .+\n", done.err)
        assert done.err[:-1].isprintable()
        assert not out.exists()
        return done.err

    return run


@pytest.fixture
def folders(data_folder, tmp_path):
    """Return a function: names of profiles in, both sides' folders with them out."""

    def make(*names):
        made = []
        for side in ("base", "new"):
            made.append(tmp_path / f"{side}-folder")
            made[-1].mkdir()
            for name in names:
                shutil.copy(data_folder / "syncpool" / side / f"{name}.pb.gz", made[-1])
        return made

    return make


def _without_names(text):
    """Return the text without file names, benchmarks' names and units."""
    return re.sub(r"^\S.*(/op|/s|\bBenchmark\S*).*$", "", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def kinds(data_folder):
    """Return (sound text, another of its kind) by kind."""
    log = (data_folder / "syncpool" / "base" / "gctrace.log").read_bytes()
    return {
        "go1.26 log": (
            b"".join(log.splitlines(keepends=True)[:12]),
            (data_folder / "syncpool" / "new" / "gctrace.log").read_bytes(),
        ),
        "go1.16 log": (
            b"".join(
                (data_folder / "sync-pool-gctrace" / "none-pool.log")
                .read_bytes()
                .splitlines(keepends=True)[:9]
            ),
            (data_folder / "sync-pool-gctrace" / "sync-pool.log").read_bytes(),
        ),
        "benchmarks": tuple(
            (data_folder / "zstd" / side / "bench.txt").read_bytes()
            for side in ("new", "base")
        ),
    }


NAMES = ("go1.26 log", "go1.16 log", "benchmarks")


def damaged(random, text):
    """Return a text with some of it changed, moved, repeated or left out."""
    data = bytearray(text)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 1, 3, 30, 300)))
        match random.randrange(6):
            case 0:
                data[at:end] = b""
            case 1:
                data[at:at] = random.choice(PIECES)
            case 2:
                data[at:end] = random.choice(PIECES)
            case 3:
                data[at:at] = data[at:end]
            case 4 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case _:
                digits = [m.span() for m in re.finditer(rb"\d+", data)]
                if digits:
                    start, stop = random.choice(digits)
                    data[start:stop] = random.choice(
                        (b"0", b"1", b"%d" % random.randrange(10**6), b"9" * 19)
                    )
    return bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_the_texts_themselves_are_fine(attempt, kinds, name):
    assert attempt(*kinds[name]) is None


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_cut_off_anywhere(attempt, kinds, name):
    text, other = kinds[name]
    said = {attempt(text[:i], other) is None for i in range(0, len(text), 29)}
    assert said == {True, False}
    assert {attempt(other, text[i:]) is None for i in range(0, len(text), 97)} <= {
        True, False,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", daily(range(3), [0]))
@pytest.mark.parametrize("name", NAMES)
def test_damaged(attempt, kinds, name, seed):
    random = Random(f"{name} {seed}")
    text, other = kinds[name]
    said = set()
    for _ in range(30):
        words = random.choice(
            ((), (), ("--rps=3:4",), ("--window=5:",), ("--window=:1e9",))
        )
        sides = [damaged(random, text), random.choice((other, text))]
        random.shuffle(sides)
        said.add(attempt(*sides, *words) is None)
    assert True in said


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_both_sides_damaged_and_mixed(attempt, kinds, seed):
    random = Random(f"mixed {seed}")
    texts = [text for pair in kinds.values() for text in pair]
    for _ in range(30):
        sides = [
            b"".join(damaged(random, t[:3000]) for t in random.sample(texts, 2))
            for _ in range(2)
        ]
        attempt(*sides)


@pytest.mark.parametrize("seed", range(2))
def test_bytes_at_random(attempt, kinds, seed):
    random = Random(f"bytes {seed}")
    for _ in range(30):
        length = random.choice((0, 1, 7, 400))
        noise = random.choice(
            (
                random.randbytes(length),
                b"".join(random.choices(PIECES, k=length)),
                b"gc 1 @" + random.randbytes(length),
            )
        )
        sides = [noise, kinds[random.choice(NAMES)][1]]
        random.shuffle(sides)
        attempt(*sides)


def cycles(heap, *, every=0.5, count=20, cpu=20, wall="0.10+20+0.20"):
    """Return a log of equal collections, of (start, end, live, goal) MB."""
    start, end, live, goal = heap
    return "".join(
        f"gc {i} @{i * every + i % 3 * every / 50:.3f}s 5%: {wall} ms clock, 0.40+1.0/"
        f"{cpu + i % 3}/0+0.80 ms cpu, {start}->{end}->{live} MB, {goal} MB goal, 4 P\n"
        for i in range(1, count + 1)
    ).encode()


PLAIN = cycles((200, 204, 100, 200))
ODD = {
    "less at the next start than was live": cycles((20, 20, 100, 200), every=0.1),
    "nothing allocated": cycles((4, 4, 4, 4), every=0.1),
    "no heap": cycles((0, 0, 0, 0), every=0.1),
    "no live heap": cycles((9, 9, 0, 4), every=0.1, cpu=90),
    "a goal below the live heap": cycles((200, 204, 100, 50), every=0.1),
    "all at once": cycles((200, 204, 100, 200), every=0.0),
    "no time": cycles((200, 204, 100, 200), cpu=0, wall="0+0+0"),
    "huge": cycles((10**12 - 1,) * 4, every=1e5, cpu=10**11),
    "one": cycles((200, 204, 100, 200), count=1),
    "two": cycles((200, 204, 100, 200), count=2, every=0.001),
}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--rps=1e18:1e-9",), ("--work=1:1",)])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_collections_that_cannot_be(attempt, odd, words):
    for sides in ((odd, PLAIN), (PLAIN, odd), (odd, odd)):
        assert attempt(*sides, *words) is None


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("odd", daily(ODD, list(ODD)[::3]))
def test_collections_that_cannot_be_next_to_profiles(attempt, folders, odd):
    sides = folders("cpu", "allocs", "mutex")
    text = ODD[odd]
    for logs in ((text, PLAIN), (PLAIN, text)):
        for folder, log in zip(sides, logs, strict=True):
            (folder / "gctrace.log").write_bytes(log)
        assert attempt(*sides) is None


@pytest.mark.parametrize(
    "value",
    ["+Inf", "NaN", "1e999", "0", "-5", "5e-324", "1e308", "9" * 400, "9" * 5000],
    ids=lambda value: value[:8] + f" of {len(value)}",
)
def test_figures_that_no_benchmark_has(attempt, value):
    text = "".join(
        f"BenchmarkX-2 \t 1 \t {v} ns/op\n" for v in (value, 3, value, value)
    )
    for sides in ((text, text), (text, "BenchmarkX-2 1 5 ns/op\n")):
        attempt(*(side.encode() for side in sides))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize(
    ("tool", "number"),
    [
        ("hey", rb"Requests/sec:\t([\d.]+)"),
        ("hey", rb"\[200\]\t(\d+)"),
        ("hey", rb"99%+ in ([\d.]+)"),
        ("wrk", rb"(\d+) requests in"),
        ("wrk", rb"Requests/sec: +([\d.]+)"),
        ("wrk", rb"99% +([\d.]+)"),
    ],
)
def test_numbers_too_long_in_a_summary_next_to_profiles(
    attempt, data_folder, folders, tool, number, digits
):
    text = (data_folder / "load" / f"{tool}.txt").read_bytes()
    start, end = re.search(number, text).span(1)
    sides = folders("cpu")
    for folder in sides:
        long = text[:start] + b"9" * digits + text[end:]
        (folder / f"{tool}.txt").write_bytes(long)
    assert attempt(*sides) is None
