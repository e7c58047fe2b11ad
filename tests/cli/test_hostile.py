"""Hostile bytes on the command line: a result, or one line that names the file.

Every run writes every kind of report, so that no writer meets what the others do not.
"""

import gzip
import json
import re
import subprocess
from itertools import product
from random import Random

import pytest

from tests.examples import daily
from tests.loaders.profiles.spelling import CANONICAL

pytestmark = pytest.mark.slow

LEAST, MOST = -(1 << 63), (1 << 63) - 1
PARTS = (LEAST, -1, 0, 1, MOST)
ENDS = [*product(PARTS, PARTS)]
SEED = Random(0)
WORDS = (
    "",
    "samples",
    "count",
    "cpu",
    "nanoseconds",
    "runtime.mallocgc",
    "main.main",
    "main.go",
    "main.f",
)
STRINGS = [(6, word.encode()) for word in WORDS]
SAMPLES, CPU = (1, [(1, 1), (2, 2)]), (1, [(1, 3), (2, 4)])
FUNCTIONS = [(5, [(1, i), (2, name), (4, 7)]) for i, name in ((1, 5), (2, 6), (3, 8))]
PLACES = [(4, [(1, i), (4, [(1, i), (2, 10 * i)])]) for i in (1, 2, 3)]
PERIOD = [(11, [(1, 3), (2, 4)]), (12, 10_000_000)]
HEAD = [*PERIOD, (10, 12_000_000_000)]
TABLES = [*FUNCTIONS, *PLACES, *STRINGS]
WHOLE = [SAMPLES, CPU, *TABLES]


def sample(*values, stack=(1, 2)):
    """Return a sample message: the values of each sample type, and locations."""
    return (2, [(1, stack), (2, values)])


def profile(*fields):
    """Return a gzip profile of these fields."""
    return gzip.compress(CANONICAL.write([*fields], SEED), 1)


def heavy(*named, file=7):
    """Return the fields of a profile most of whose time is in one more function.

    `named` are its fields next to that, of which string 9 is its name.
    """
    place = [(5, [(1, 9), (2, 9), (4, file)]), (4, [(1, 9), (4, [(1, 9)])])]
    return [*WHOLE, *HEAD, *named, *place, sample(600, 6_000_000_000, stack=(9, 2))]


SOUND = profile(
    *WHOLE, *HEAD, sample(600, 6_000_000_000), sample(3, 30_000_000, stack=(3, 2))
)


@pytest.fixture
def attempt(cli, tmp_path):
    """Return a function: base and new bytes in, the complaint (None: a result) out."""
    base, new, sound = (tmp_path / f"{word}.pb.gz" for word in ("base", "new", "sound"))
    outputs = [tmp_path / f"out.{ending}" for ending in ("json", "md", "csv", "pb.gz")]
    sound.write_bytes(SOUND)

    def run(base_bytes, new_bytes=SOUND, *words):
        base.write_bytes(base_bytes)
        new.write_bytes(new_bytes)
        for path in outputs:
            path.unlink(missing_ok=True)
        done = cli(*words, base, new, *(f"-o={path}" for path in outputs))
        assert "internal error" not in done.err
        if done.status == 0:
            assert done.out
            assert done.err == ""
            json.loads(outputs[0].read_text("utf-8"), parse_constant=pytest.fail)
            return None
        assert done.status == 2
        assert done.err.startswith("pprofdiff: ")
        assert done.err.endswith("\n")
        assert done.err[:-1].isprintable()
        assert str(base) in done.err or str(new) in done.err
        written = [path for path in outputs if path.exists()]
        # Either nothing is compared, or one output alone could not be made.
        assert len(written) == (len(outputs) - 1 if done.out else 0)
        return done.err

    return run


def each_way(attempt, odd, *words):
    """Compare a profile with itself and with a sound one; return what is said."""
    pairs = (odd, odd), (odd, SOUND), (SOUND, odd)
    return [attempt(*pair, *words) for pair in pairs]


REFERENCES = {
    "a sample's location": [*WHOLE, sample(1, 2, stack=(9,))],
    "a line's function": [*WHOLE, (4, [(1, 9), (4, [(1, 99)])]), sample(1, 2, stack=(9, 2))],
    "a line's function, of no sample": [*WHOLE, (4, [(1, 9), (4, [(1, 99), (2, 7)])]), sample(1, 2)],
    "a line without a function": [*WHOLE, (4, [(1, 9), (4, [(2, 7)])]), sample(1, 2, stack=(9, 2))],
    "a function's name": [*WHOLE, (5, [(1, 9), (2, 99)]), sample(1, 2)],
    "a sample type's unit": [(1, [(1, 1), (2, 99)]), *STRINGS, sample(1)],
    "a label's key": [*WHOLE, (2, [(1, (1,)), (2, (1, 2)), (3, [(1, 99), (2, 1)])])],
    "the period's type": [*WHOLE, (11, [(1, 99), (2, 99)]), sample(1, 2)],
    "the default type": [*WHOLE, (14, 99), sample(1, 2)],
    "a comment": [*WHOLE, (13, (99,)), sample(1, 2)],
}  # fmt: skip


@pytest.mark.parametrize("fields", REFERENCES.values(), ids=REFERENCES)
def test_ids_out_of_range(attempt, fields):
    assert attempt(profile(*fields))
    assert attempt(SOUND, profile(*fields))


# Locations by how go tool pprof takes them: what it does not know, or refuses.
UNKNOWN = {"mapping": [(2, 99), (4, [(1, 1)])], "line": []}
REFUSED = {
    "function": [(4, [(1, 99)])],
    "function, with a line": [(4, [(1, 99), (2, 7)])],
    "function 0": [(4, [(1, 0), (2, 7)])],
    "function, inlined": [(4, [(1, 1)]), (4, [(1, 1 << 40)])],
    "no function": [(4, [])],
}


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize("place", [*UNKNOWN, *REFUSED])
def test_a_location_of_nothing_is_what_it_is_to_pprof(attempt, tmp_path, place):
    fields = (UNKNOWN | REFUSED)[place]
    odd = profile(*HEAD, *WHOLE, (4, [(1, 9), *fields]), sample(1, 2, stack=(9, 2)))
    path = tmp_path / "odd.pb.gz"
    path.write_bytes(odd)
    said = attempt(odd, SOUND)
    assert refused_by_go(path) == (place in REFUSED)
    if place in REFUSED:
        assert re.search(r"a location refers to function \d+, which it does not", said)
    else:
        assert said is None
        assert not refused_by_go(tmp_path / "out.pb.gz")


def refused_by_go(path):
    """Return whether go tool pprof calls a profile malformed."""
    done = subprocess.run(
        ["go", "tool", "pprof", "-raw", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == ("malformed profile" in done.stderr), done.stderr
    return done.returncode != 0


SHAPES = {
    "no samples": [*WHOLE, *HEAD],
    "no sample types": [*FUNCTIONS, *PLACES, *STRINGS, sample()],
    "no functions": [SAMPLES, CPU, *STRINGS, (4, [(1, 1), (3, 4096)]), sample(1, 2, stack=(1,))],
    "no locations": [SAMPLES, CPU, *STRINGS, sample(1, 2, stack=())],
    "nothing at all": STRINGS,
    "empty stacks and full ones": [*WHOLE, sample(1, 2, stack=()), sample(3, 4)],
    "nameless functions": [SAMPLES, CPU, *STRINGS, (5, [(1, 1)]), (4, [(1, 1), (4, [(1, 1)])]), sample(1, 2, stack=(1,))],
    "only zeros": [*WHOLE, *HEAD, sample(0, 0), sample(0, 0, stack=(3,))],
    "a stack of one function, deep": [*WHOLE, sample(1, 2, stack=(1,) * 5000)],
    "negative values": [*WHOLE, *HEAD, sample(-5, -50_000_000), sample(2, 20_000_000, stack=(3,))],
    "a total of zero": [*WHOLE, *HEAD, sample(-5, -50_000_000), sample(5, 50_000_000, stack=(3,))],
    "one sample type, not CPU": [(1, [(1, 8), (2, 2)]), *FUNCTIONS, *PLACES, *STRINGS, sample(7)],
    "a sample type twice": [CPU, CPU, *FUNCTIONS, *PLACES, *STRINGS, sample(5, 6)],
    "sample types without names": [(1, []), (1, []), *FUNCTIONS, *PLACES, *STRINGS, sample(5, 6)],
    "a heap profile's types": [
        *((1, [(1, i), (2, u)]) for i, u in ((9, 2), (10, 11), (12, 2), (13, 11))),
        *FUNCTIONS, *PLACES, *STRINGS,
        *((6, w) for w in (b"alloc_objects", b"alloc_space", b"bytes", b"inuse_objects", b"inuse_space")),
        sample(0, 512, 0, -1),
    ],
}  # fmt: skip


@pytest.mark.matrix
# Without and with what an operation is: each divides by what the shape may have as 0.
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--work=3:0.5",),
        *(
            pytest.param(words, marks=pytest.mark.whole)
            for words in (("-normalize",), ("-focus=main",), ("-hide=.",))
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("fields", SHAPES.values(), ids=SHAPES)
def test_shapes_that_no_program_writes(attempt, fields, words):
    odd = profile(*HEAD, *fields)
    each_way(attempt, odd, *words)


def test_a_shape_against_itself_is_a_result(attempt):
    sound = (
        "no samples",
        "no locations",
        "only zeros",
        "no functions",
        "a total of zero",
    )
    for name in sound:
        assert attempt(*[profile(*HEAD, *SHAPES[name])] * 2) is None


HUGE = (LEAST, LEAST + 1, -1, 0, 1, 1 << 62, MOST)


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("other", [LEAST, MOST, 5])
def test_values_at_the_ends_of_int64(attempt, value, other):
    odd = profile(
        *WHOLE, *HEAD, sample(value, other), sample(other, value, stack=(3, 2))
    )
    each_way(attempt, odd)


# The largest sum under 2**63 that is held without rounding.
FITS = (1 << 63) - (1 << 10)


@pytest.mark.parametrize("value", [FITS, -FITS])
def test_one_huge_value_is_a_result(attempt, value):
    odd = profile(*WHOLE, *HEAD, sample(1, value))
    assert attempt(odd, odd) is None


@pytest.mark.parametrize(
    "values", [(LEAST,), (1 << 62, 1 << 62), (-1 << 62, -1 << 62), (MOST, LEAST)]
)
@pytest.mark.parametrize("held", ["samples", "cpu"])
@pytest.mark.parametrize("compared", ["samples", "cpu"])
def test_values_that_no_64_bits_can_add_up_are_refused(attempt, values, held, compared):
    rows = [sample(*((v, 1) if held == "samples" else (1, v))) for v in values]
    odd = profile(*WHOLE, *HEAD, *rows)
    for base, new in ((odd, SOUND), (SOUND, odd)):
        said = attempt(base, new, f"-sample_index={compared}")
        assert ".pb.gz: its values add up to more than 64 bits hold" in said


@pytest.mark.parametrize("words", [("--work=3:5",), ("--rps=3:5",), ("-normalize",)])
def test_a_negative_duration_is_none(attempt, words):
    odd = profile(*WHOLE, *PERIOD, (10, -5), sample(6, 60_000_000))
    each_way(attempt, odd, *words)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("duration", "period"),
    daily(ENDS, [*zip(PARTS, PARTS, strict=True), *ENDS[4:20:5]]),
)
def test_durations_and_periods_that_cannot_be(attempt, duration, period):
    head = [(10, duration), (11, [(1, 3), (2, 4)]), (12, period), (9, LEAST)]
    odd = profile(
        *WHOLE, *head, sample(6, 60_000_000), sample(1, 10_000_000, stack=(3,))
    )
    assert each_way(attempt, odd) == [None] * 3


@pytest.mark.parametrize("line", [LEAST, -1, MOST])
def test_lines_that_cannot_be(attempt, line):
    place = (4, [(1, 9), (3, (1 << 64) - 1), (4, [(1, 1), (2, line), (3, line)])])
    odd = profile(*WHOLE, *HEAD, place, sample(6, 60_000_000, stack=(9, 2)))
    assert attempt(odd, SOUND) is None


NAMES = {
    "nothing but spaces": "  \t ",
    "lines": "main.f\nGC costs 0 s more\r\x1b[2J",
    "a terminal's codes": "\x1b]0;owned\x07main.f",
    "nulls": "main\x00f",
    "right to left": "main.\u202egnp.exe",
    "long": "main." + "f" * 10_000,
    "dots alone": "....",
    "brackets": "main.[[[",
    "closing ones": "main.]]])))",
    "a method of nothing": "main.(*).",
    "numbers": ".1.2.3.func4.5-range6",
    "percent": "%zz%2e%",
    "not UTF-8": b"main.\xff\xfe\xc3",
}


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("prefix", daily(("", "runtime."), ["runtime."]))
def test_names_that_no_program_has(attempt, name, prefix):
    raw = prefix.encode() + (name if isinstance(name, bytes) else name.encode())
    odd = profile(*heavy((6, raw), file=9))
    each_way(attempt, odd)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("-explain=main",),
        ("--color=always",),
        ("--color=always", "-explain=main"),
        ("-top",),
        ("-top", "-lines"),
        ("-peek=main",),
    ],
    ids=" ".join,
)
def test_what_a_name_holds_draws_no_line_of_its_own(cli, tmp_path, words):
    name, file = "main.f\nGC costs nothing\x1b[2J\x9b5m".encode(), b"f\r\x1b[1A.go"
    called = sample(60, 600_000_000, stack=(3, 9))
    odd = profile(*heavy((6, name), (6, file), file=10), called)
    (tmp_path / "odd.pb.gz").write_bytes(odd)
    (tmp_path / "sound.pb.gz").write_bytes(SOUND)
    done = cli(*words, tmp_path / "sound.pb.gz", tmp_path / "odd.pb.gz")
    assert (done.status, done.err) == (0, "")
    assert r"main.f\nGC costs nothing\x1b[2J\x9b5m" in done.out
    # Tabs are pprof's own, in a heading; escapes the colours, if any.
    plain = (
        re.sub(r"\x1b\[[0-9;]*m", "", done.out) if "--color" in str(words) else done.out
    )
    lines = plain.split("\n")
    assert all(line.replace("\t", " ").isprintable() for line in lines)
    assert not any(line.startswith("GC costs nothing") for line in lines)


@pytest.mark.parametrize(
    "work", ["1e308:1e-308", "1e-300:1e300", "5e-324:1", "1:5e-324"]
)
def test_work_that_cannot_be(cli, tmp_path, work):
    path, out = tmp_path / "sound.pb.gz", tmp_path / "x.json"
    path.write_bytes(SOUND)
    done = cli(path, path, f"--work={work}", f"-o={out}")
    assert "internal error" not in done.err
    assert (done.status, done.out) == (2, "")
    assert re.fullmatch(r"pprofdiff: --work .*from 1e-09 to 1e\+18\n", done.err)
    assert not out.exists()


@pytest.mark.parametrize("work", ["1e-9:1e18", "1e18:1e-9"])
def test_work_at_its_ends_gives_numbers(cli, tmp_path, work):
    path, out = tmp_path / "sound.pb.gz", tmp_path / "x.json"
    path.write_bytes(SOUND)
    assert cli(path, path, f"--work={work}", f"-o={out}").status == 0
    json.loads(out.read_text("utf-8"), parse_constant=pytest.fail)


SLOW = "(?:a|aa)+[!#]$"  # in a name of many a: 2**60 ways


@pytest.mark.parametrize(
    "word",
    ["-focus=", "-ignore=", "-hide=", "-show=", "-show_from=", "-explain=", "-list=",
     "-top -focus=", "--fail-on=cum:", "--fail-on=package:"],
)  # fmt: skip
def test_a_pattern_that_would_be_searched_for_for_ever(
    cli, tmp_path, brief_searches, word
):
    odd = profile(*heavy((6, b"a" * 120 + b".f")))
    path = tmp_path / "odd.pb.gz"
    path.write_bytes(odd)
    limit = ":+5%" if word.startswith("--fail-on") else ""
    done = cli(*f"{word}{SLOW}{limit}".split(), path, path)
    assert (done.status, done.out) == (2, "")
    named = word.split()[-1].lstrip("-").partition("=")[0]
    assert re.fullmatch(
        rf"pprofdiff: -*{named}.*takes too long to search for; give .*\n", done.err
    )


def test_frames_that_a_profile_drops_are_not_searched_for_for_ever(
    cli, tmp_path, brief_searches
):
    odd = profile(*heavy((6, b"a" * 120), (6, SLOW.encode()), (7, 10)))
    path = tmp_path / "odd.pb.gz"
    path.write_bytes(odd)
    done = cli(path, path)
    assert done.status == 2
    assert done.err.startswith("pprofdiff: drop_frames of a profile: ")
