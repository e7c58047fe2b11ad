"""The command line on inputs: logs, benchmarks and load figures, and their flags."""

import gzip
import json
import re
import shutil
from itertools import chain
from pathlib import Path

import pytest

from tests.cli.test_whole import complaint

LOGS = ("none-pool.log", "sync-pool.log")


@pytest.fixture
def here(data_folder, tmp_path, monkeypatch):
    """Stand in a folder with logs, benchmarks, a profile, and what is torn or mixed."""
    for name in LOGS:
        shutil.copy(data_folder / "sync-pool-gctrace" / name, tmp_path)
    for side in ("base", "new"):
        shutil.copy(data_folder / "zstd" / side / "bench.txt", tmp_path / f"{side}.txt")
        shutil.copy(
            data_folder / "syncpool" / side / "cpu.pb.gz", tmp_path / f"{side}.pb.gz"
        )
    lines = [(tmp_path / name).read_bytes().splitlines(keepends=True) for name in LOGS]
    turns = chain.from_iterable(zip(*lines, strict=False))
    files = {
        "torn.log": b"gc 12 @30.250s 3",
        "mixed.log": b"".join(turns),
        "both.log": b"".join(lines[0] + lines[1]),
        "empty.log": b"",
        "other.log": b"12:00:01 listening on :8080\n",
        "none-pool.log.gz": gzip.compress(b"".join(lines[0])),
        "torn.txt": b"BenchmarkX-4\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def comparison(name, *files):
    """Make a folder of copies of these files, and return its name."""
    Path(name).mkdir()
    for file in files:
        shutil.copy(file, name)
    return name


def written(cli, *words):
    """Return the JSON report and the text one."""
    done = cli(*words, "-o=x.json")
    assert (done.status, done.err) == (0, "")
    return json.loads(Path("x.json").read_text("utf-8")), done.out


def gctrace(report):
    return next(c for c in report["comparisons"] if c["kind"] == "gctrace")


# What is said of each wrong way to write a flag, typed with two dashes as in the help.
WRONG = {
    "window": [
        "", "10", "a:b", "10:20:30", "::", ",", "10:20,", "1:2,3:4,5:6", "10s:20s",
        "none-pool.log",
    ],
    "rps": ["", "1", "1:2:3", "a:b", "1,000:2,000", "1k:2k", "none-pool.log"],
    "pair": ["", "Old", "suffix=", "prefix=Old", "base.txt"],
}  # fmt: skip
FORMS = {
    "window": "FROM:TO, seconds since the start",
    "rps": r"two numbers.* such as 8000:9500",
    "pair": "suffix=WORD",
}


@pytest.mark.parametrize(
    ("flag", "value"), [(flag, value) for flag, values in WRONG.items() for value in values]
)  # fmt: skip
def test_a_value_that_is_none_is_answered_with_the_form(cli, here, flag, value):
    said = complaint(cli(f"--{flag}={value}", *LOGS))
    assert re.match(rf"-{flag}={re.escape(value)}: must be {FORMS[flag]}", said)


@pytest.mark.parametrize("value", ["0:1", "1:0", "-1:2", "nan:1", "inf:1", "1:1e20"])
def test_rates_that_nothing_can_be_divided_by(cli, here, value):
    said = complaint(cli(f"--rps={value}", *LOGS))
    assert re.match(
        r"--rps \S+: give the operations that each side did in a second", said
    )


@pytest.mark.parametrize("value", ["90:", ":1", "90:95,:", ":,90:", "1e9:1e10"])
def test_a_window_without_a_collection_says_when_they_started(cli, here, value):
    said = complaint(cli(f"--window={value}", *LOGS))
    spans = {
        "none-pool.log": "2.900 to 35.119",
        "sync-pool.log": r"\d+\.\d+ to 44.5\d+",
    }
    assert any(
        re.fullmatch(
            rf"{name}: no collection started within --window; they started at {span} s",
            said,
        )
        for name, span in spans.items()
    )


@pytest.mark.parametrize("value", ["40:10", "20:20", "nan:", ":nan", "10:40,20:15"])
def test_a_window_that_ends_before_it_begins_is_none(cli, here, value):
    assert complaint(cli(f"--window={value}", *LOGS)).startswith(
        f"-window={value}: must be "
    )


@pytest.mark.parametrize(
    ("value", "spans"),
    [
        ("10:20", [(10, 20), (10, 20)]),
        (":20", [(0, 20), (0, 20)]),
        ("10:20,15:", [(10, 20), (15, 1e9)]),
        ("10.5:20,:", [(10.5, 20), (0, 1e9)]),
        (":", [(0, 1e9), (0, 1e9)]),
    ],
)
@pytest.mark.parametrize("spelling", ["--window={}", "-window={}", "-window {}"])
def test_windows_are_of_both_sides_or_of_each(cli, here, value, spans, spelling):
    gc = gctrace(written(cli, *spelling.format(value).split(), *LOGS)[0])
    for name, span, side in zip(LOGS, spans, ("base", "new"), strict=True):
        starts = [
            float(s) for s in re.findall(r"^gc \d+ @([\d.]+)s", Path(name).read_text(), re.MULTILINE)
        ]  # fmt: skip
        held = [s for s in starts if span[0] <= s < span[1]]
        window = gc[side]["window"]
        assert (window["start_s"], window["end_s"]) == (held[0], held[-1])
        assert gc[side]["cycles"] == len(held)
        assert window["reason"].startswith("--window: gc ")


@pytest.mark.parametrize("other", ["--work=1:2", "-normalize"])
@pytest.mark.parametrize("files", [("base.pb.gz", "new.pb.gz"), LOGS])
def test_two_ways_to_scale_contradict_each_other(cli, here, other, files):
    said = complaint(cli("--rps=1:2", other, *files))
    assert "give one" in said
    assert "--rps" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["base.txt"], r"base\.txt: compared with what\?.*--pair suffix=Old"),
        (["none-pool.log"], r"none-pool\.log: compared with what\? pprofdiff BASE NEW$"),
        (["--pair=suffix=Old", "none-pool.log"], "benchmarks: there are none in"),
        (["--pair=suffix=Old", "new.pb.gz"], "benchmarks: there are none in"),
        (["--pair=suffix=New", "new.txt"], "BenchmarkXNew.*BenchmarkCompressOld"),
        (["--pair=suffix=Old", "base.txt", "new.txt"], "--pair .* one file"),
        (["--pair=suffix=Old", "-base=base.txt", "new.txt"], "--pair .* one file"),
        (["empty.log", "none-pool.log"], r"empty\.log: empty"),
        (["none-pool.log", "other.log"], r"other\.log: neither .*gctrace.*12:00:01"),
        (["torn.txt", "new.txt"], r"torn\.txt: neither .*benchmark.*BenchmarkX-4"),
        (["torn.log", "none-pool.log"], r"^torn\.log: none of 1 .*a file of its own$"),
        (["none-pool.log", "torn.log"], r"^torn\.log: none of 1 "),
        (["none-pool.log", "mixed.log"], r"^mixed\.log: lines of several processes"),
        (["none-pool.log", "base.txt"], "base has gctrace.*new has benchmark"),
        (["base.pb.gz", "none-pool.log"], "base has cpu.*new has gctrace"),
        (["-top", *LOGS], r"none-pool\.log: there is no pprof profile"),
        ([*LOGS, "--explain=gc"], "--explain needs a CPU profile"),
        (["-", "-"], "standard input can be read only once"),
    ],
    ids=range(18),
)  # fmt: skip
def test_one_line_says_what_is_wrong(cli, here, words, said):
    assert re.search(said, complaint(cli(*words)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*LOGS, "-o=x.csv"], r"\.csv .*\.json"),
        ([*LOGS, "-o=x.pb.gz"], r"\.pb\.gz "),
        (["base.txt", "new.txt", "-o=x.csv"], r"\.csv .*\.json"),
    ],
    ids=range(3),
)
def test_an_output_of_another_kind_is_one_line_next_to_the_report(
    cli, here, words, said
):
    plainly = cli(*words[:2])
    done = cli(*words)
    assert re.search(said, complaint(done._replace(out="")))
    assert (plainly.status, done.out) == (0, plainly.out)


def test_of_several_processes_the_longest_is_compared_and_that_is_said(cli, here):
    report, out = written(cli, "both.log", "none-pool.log")
    assert gctrace(report)["base"]["cycles"] == 64
    assert "! base: 2 processes in the GC logs; compared is the one with most" in out
    assert [w["id"] for w in report["warnings"]] == ["gctrace-runs"]


def test_several_files_of_a_side(cli, here):
    words = ["-diff_base=none-pool.log", "-diff_base=base.txt", "-diff_base=base.pb.gz"]
    report, out = written(
        cli, *words, comparison("n", "sync-pool.log", "new.txt", "new.pb.gz")
    )
    kinds = [c["kind"] for c in report["comparisons"]]
    assert kinds == ["profile", "gctrace", "benchmark"]
    assert {i["path"] for i in report["inputs"]["base"]} == {
        "none-pool.log", "base.txt", "base.pb.gz",
    }  # fmt: skip
    assert report["unpaired"] == []
    assert "Only " not in out


def test_benchmarks_of_several_files_are_one_set(cli, here):
    report, _ = written(cli, "-base=base.txt", "-base=base.txt", "new.txt")
    rows = report["comparisons"][0]["rows"]
    assert {(row["n_base"], row["n_new"]) for row in rows} == {(20, 10)}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("none-pool.log", "gctrace log"),
        ("base.txt", "benchmark output"),
        ("hey.txt", "load summary"),
        ("trace.out", "trace"),
    ],
)
@pytest.mark.parametrize("side", ["main", "pr"])
def test_what_only_one_side_has_is_said(cli, here, data_folder, file, said, side):
    shutil.copy(data_folder / "load" / "hey.txt", "hey.txt")
    shutil.copy(data_folder / "zstd" / "base" / "trace.out", "trace.out")
    more = {"main": [], "pr": []} | {side: [file]}
    sides = [
        f"{label}={comparison(label, f'{word}.pb.gz', *more[label])}"
        for label, word in (("main", "base"), ("pr", "new"))
    ]
    report, out = written(cli, *sides)
    assert f"Only {side} has a {said}: not compared." in out.splitlines()
    assert report["unpaired"] == [{"kind": said.split()[0], "side": side}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "id_"), [("torn.log", "gctrace-torn"), ("mixed.log", "gctrace-mixed")]
)
def test_a_log_that_is_of_no_use_does_not_stop_the_rest(cli, here, file, id_):
    sides = (
        comparison("b", "base.pb.gz", file),
        comparison("n", "new.pb.gz", "sync-pool.log"),
    )
    report, out = written(cli, *sides)
    assert [c["kind"] for c in report["comparisons"]] == ["profile"]
    assert id_ in {w["id"] for w in report["warnings"]}
    assert re.search(rf"^! b/{re.escape(file)}: ", out, re.MULTILINE)


@pytest.mark.slow
def test_load_on_both_sides_makes_it_by_operation(cli, here, data_folder):
    sides = []
    for word, rate in (("base", "17840.3801"), ("new", "8920.19")):
        sides.append(comparison(f"{word}-side", f"{word}.pb.gz"))
        text = (data_folder / "load" / "hey.txt").read_text("utf-8")
        path = Path(f"{word}-side/hey.txt")
        # The profiles are of 12 s: a load of another time is not their work.
        text = text.replace("17840.3801", rate).replace("0.1121 secs", "12.0 secs")
        path.write_text(text, "utf-8")
    report, out = written(cli, *sides)
    by = report["comparisons"][0]["normalization"]
    assert by["mode"] == "per_work"
    assert by["base_factor"] != by["new_factor"]
    assert "hey: 17,840 and 8,920 operations per second" in " ".join(out.split())
    rates = {
        i["per_second"] for s in ("base", "new") for i in report["inputs"][s] if i["per_second"]
    }  # fmt: skip
    assert rates == {17840.3801, 8920.19}
    typed, _ = written(cli, *sides, "--rps=17840.3801:8920.19")
    assert typed["comparisons"][0]["functions"] == report["comparisons"][0]["functions"]
    shares, _ = written(cli, *sides, "-normalize")
    assert shares["comparisons"][0]["normalization"]["mode"] == "share"


def test_a_pair_is_taken_from_a_folder_as_well(cli, here):
    folder = comparison("both", "new.txt", "new.pb.gz", "none-pool.log")
    from_folder, _ = written(cli, "--pair=suffix=Old", folder)
    from_file, _ = written(cli, "--pair=suffix=Old", "new.txt")
    assert from_folder["comparisons"] == from_file["comparisons"]
    (row,) = {row["name"] for row in from_file["comparisons"][0]["rows"]}
    assert row == "Compress"
