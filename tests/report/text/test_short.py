"""The report that fits a screen: short whatever there is, and no number cut."""

from __future__ import annotations

import re
import shutil
from itertools import product
from pathlib import Path

import pytest

from pprofdiff import demo
from pprofdiff.cli.arguments import parse
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.run import _gate as gate_of
from pprofdiff.cli.run import compared
from pprofdiff.cli.screen import Screen
from pprofdiff.report.text.fitting import columns
from pprofdiff.report.text.lines import Page
from pprofdiff.report.text.report import MOST, report_parts
from pprofdiff.report.text.terminal import render
from tests.conftest import DATA
from tests.examples import daily
from tests.report.golden import check
from tests.report.reading import unstyled

WIDTHS = (60, 80, 100, 200)
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
# One of each kind of first section, and all of them in one.
CASES = {
    "demo": demo.arguments(),
    "rss-search.work": ["rss-search/base", "rss-search/new", "--work=42490:77125"],
    "zstd": ["main=zstd/base", "pr=zstd/new", "--fail-on=total:+5%"],
    "trace": ["health-check/base/trace.out", "health-check/new/trace.out"],
    "gctrace": ["pauses/base", "pauses/new"],
    "allocs": ["syncpool/base/allocs.pb.gz", "syncpool/new/allocs.pb.gz"],
}
RULES = [
    "--fail-on=total:+5%",
    "--fail-on=group:gc:+2pp",
    "--fail-on=cum:.:+1pp",
    "--fail-on=bench:allocs/op:+0%",
    "--fail-on=figure:p99_pause_us:1ms",
    "--fail-on=finding:minor",
    "--fail-on=package:json:+20%",
    "--fail-on=total@allocs:+5%",
]


@pytest.fixture(autouse=True)
def there(monkeypatch):
    """Stand in the folder of captures."""
    monkeypatch.chdir(DATA)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Return the name of a case, and its report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(DATA)
        options = parse(CASES[request.param])
        if request.param == "demo":
            options = options._replace(within=demo.installed_in())
        with Waiting(None, enabled=False) as waiting:
            screen = Screen(None, None)
            return request.param, compared(options, screen, waiting, gate_of(options))


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_as_it_was_last_looked_at(case, width):
    name, report = case
    page = Page(width, fit=True)
    parts = report_parts(report, page=page)
    text = unstyled(render(parts, color=False, page=page))
    # Narrower, some reports have nothing left to leave out.
    assert text.count("\n") <= MOST or width < 80
    assert max(map(columns, text.splitlines())) <= width
    check(f"short.{name}.{width}", text)


def pairs():
    """Yield what may be compared of the captures: folders, and each of their files."""
    for story in STORIES:
        yield f"{story}/base", f"{story}/new"
        for path in sorted((DATA / story / "base").iterdir()):
            if path.suffix != ".json":
                yield f"{story}/base/{path.name}", f"{story}/new/{path.name}"
    yield "versions/go1.19", "versions/go1.27"
    yield "unchanged/run1", "unchanged/run2"
    yield "control/records", "control/records-distance"
    yield "control/records", "control/requests"
    yield "pauses/base", "pauses/new"
    yield "sync-pool-gctrace/none-pool.log", "sync-pool-gctrace/sync-pool.log"
    yield "node/base.pb.gz", "node/new.pb.gz"


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    "pair",
    [
        # Of files that are alike in all stories, every third.
        pytest.param(pair, id=pair[0], marks=[pytest.mark.whole] if number % 3 else [])
        for number, pair in enumerate(pairs())
    ],
)
def test_no_folder_has_more_than_a_screen(cli, pair):
    done = cli(*pair)
    assert (done.status, done.err) == (0, "")
    assert len(done.out.splitlines()) <= MOST
    assert "pprofdiff … --full" in done.out


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    """Stand where base and new hold three runs of every kind, and many benchmarks."""
    for side, run in product(("base", "new"), (1, 2, 3)):
        into = tmp_path / side / f"run{run}"
        shutil.copytree(DATA / "health-check" / side, into)
        shutil.copy(DATA / "load" / "hey.txt", into)
        results = [
            f"Benchmark{name}{i}-2 100 {(i + 1) * (run + 3 * (side == 'new'))} ns/op "
            f"{i} widgets{i}/op\n"
            for i in range(40)
            for name in ("Compress", "InAVeryLongNameOfABenchmark")
        ]
        (into / "bench.txt").write_text("goos: linux\n" + "".join(results))
        (into / "notes.txt").write_text("nothing")
    (tmp_path / "new" / "run3" / "heap.pb.gz").unlink()
    monkeypatch.chdir(tmp_path)


LABELS = (("base", "new"), ("a" * 60, "b" * 60))


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], marks=pytest.mark.whole),
        pytest.param(["--work=100:100"], marks=pytest.mark.whole),
        RULES,  # the longest
    ],
    ids=["", "work", "gate"],
)
@pytest.mark.parametrize(
    "labels", daily(LABELS, LABELS[1:], rows=False), ids=["", "long"]
)
def test_not_even_of_several_runs_of_all_kinds(cli, crowd, words, labels):
    done = cli(f"{labels[0]}=base", f"{labels[1]}=new", *words)
    assert done.status in (0, 1)
    assert len(done.out.splitlines()) <= MOST


@pytest.mark.slow
def test_what_is_left_out_is_in_the_report_in_full(cli):
    words = "syncpool/base", "syncpool/new", "--work=10088400:8579600"
    short, full = cli(*words).out, cli(*words, "--full").out
    assert len(full.splitlines()) > 5 * MOST
    # Numbers of the answer's tables stand in the report in full too.
    (total,) = re.findall(r"^total .*$", short, re.MULTILINE)
    assert total in full
    for title in ("Got slower (cum)", "Pays for GC", "Scheduling latency"):
        assert title in full
        assert title not in short


def test_the_groups_that_are_one_row_keep_the_sum(cli):
    """Base, new and delta of all rows add up to the total, to a digit's rounding."""
    out = cli(*demo.arguments()).out
    _, _, table = out.partition("share of total\n")
    number = r"[−+]?\d+\.\d+"
    sums = [0.0, 0.0]
    for line in table.partition("\n\n")[0].splitlines():
        match = re.search(rf"({number}) +({number}) +[▲▼~] ", line)
        values = [float(match[i]) for i in (1, 2)]
        if line.startswith("total"):
            assert sums == pytest.approx(values, abs=0.005)
            break
        if not line.startswith("    "):
            sums = [a + b for a, b in zip(sums, values, strict=True)]
    else:
        pytest.fail("there is no total")
    assert "other groups" in table


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("full", [[], ["--full"]], ids=["answer", "full"])
def test_no_path_is_repeated(cli, story, full):
    out = cli(f"{story}/base", f"{story}/new", *full).out
    assert [out.count(f"{story}/{side}") for side in ("base", "new")] == [1, 1]


@pytest.mark.slow
def test_every_cause_has_its_severity_and_few_lines(cli):
    out = cli("syncpool/base", "syncpool/new").out
    why = out.partition("Why\n")[2].partition("\n\n")[0]
    causes = re.split(r"^(?=\d\. )", why, flags=re.MULTILINE)[1:]
    assert len(causes) == 2
    for cause in causes:
        title, *_ = re.split(r"\n {3}", cause.partition("\nAlso:")[0])
        flat = " ".join(cause.split())
        assert re.search(r"\b(info|minor|major)\b", flat), title


@pytest.mark.slow
def test_the_demo_says_nothing_of_its_own_files_and_where_they_are(cli):
    done = cli("demo")
    (typed,) = done.err.splitlines()
    assert re.fullmatch(
        r"\$ pprofdiff --work=\d+:\d+ base=pprofdiff/demo/base new=pprofdiff/demo/new",
        typed,
    )
    assert "work.json" not in done.out
    folder = str(Path(demo.__file__).parents[2])
    for words in ((), ("--full",)):
        assert folder not in cli("demo", *words).out
