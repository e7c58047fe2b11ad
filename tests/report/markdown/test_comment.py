"""The comment: as it was last looked at, and what holds for every one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import compare_paths
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.markdown.comment import MOST, render
from pprofdiff.report.model import report_of
from tests.analysis.benchmarks.benchtext import printed
from tests.building import CPU, MS, Frame, Place, Sample, built
from tests.examples import daily, examples
from tests.field.capture import PAIRS
from tests.report.golden import FOLDER, check
from tests.report.reading import HOSTILE, sound, tables, tokens

CASES = {
    "syncpool.work": (
        "main=syncpool/base",
        "pr=syncpool/new",
        "--work=10088400:8579600",
    ),
    "zstd.fail-on": (
        "zstd/base",
        "zstd/new",
        "--fail-on=group:gc:+5%",
        "--fail-on=group:user:+5pp",
    ),
    "pair": ("zstd/new/bench.txt", "--pair=suffix=Old"),
    "unchanged.cpu": ("unchanged/run1/cpu.pb.gz", "unchanged/run2/cpu.pb.gz"),
    "heap": ("syncpool/base/heap.pb.gz", "syncpool/new/heap.pb.gz"),
}
GOLDEN = ("syncpool.work", "zstd.fail-on", "pair")


@pytest.fixture
def comment(cli, data_folder, monkeypatch, tmp_path):
    """Return a function: words in, (the comment, the report that was printed) out."""
    monkeypatch.chdir(data_folder)

    def run(*words):
        done = cli(*words, "-o", tmp_path / "x.md", "--full")
        assert done.status == (1 if any("fail-on" in str(w) for w in words) else 0)
        assert done.err == ""
        return (tmp_path / "x.md").read_text("utf-8"), done.out

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", GOLDEN)
def test_as_it_was_last_looked_at(comment, name):
    check(f"markdown.{name}", comment(*CASES[name])[0])


def test_the_readme_shows_it_as_it_is():
    readme = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    (example,) = re.findall(
        r"^```markdown\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL
    )
    page = (FOLDER / "markdown.syncpool.work.txt").read_text("utf-8")
    for piece in filter(None, example.split("…\n")):
        _, found, page = page.partition(piece)
        assert found, piece


def words_of(cells):
    """Return a row's words, one space between them."""
    return " ".join(" ".join(cells).split())


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_its_figures_match_the_report(comment, name):
    page, printed_out = comment(*CASES[name])
    lines = {" ".join(line.split()) for line in printed_out.splitlines()}
    *shown, inputs = tables(page)
    assert inputs[0][:3] == ["side", "file", "kind"]
    rows = [row for table in shown for row in table if any(row)]
    assert len(rows) > 5
    assert {words_of(row) for row in rows} <= lines
    # In the report the table of inputs has no headings, and names a folder once.
    for side, file, *rest in inputs[1:]:
        folder, _, own = file.rpartition("/")
        below = {words_of([own, *rest]), words_of([side, f"{folder}/"])}
        assert words_of([side, file, *rest]) in lines or below <= lines
    sound(page)


def unfolded(page):
    """Return what shows while everything is folded."""
    return re.sub(r"<details>.*?</details>\n", "", page, flags=re.DOTALL)


def test_nothing_beyond_noise_is_said_first(comment):
    """Without work there is no telling that it is the same: what would is in sight."""
    page = comment(*CASES["unchanged.cpu"])[0]
    _, outcome = unfolded(page).rstrip().split("\n\n")
    assert outcome.startswith(
        "base → new: **No outcome: shares of CPU are compared, not costs.** "
        "Pass `--work BASE:NEW` "
    )
    assert page.count("<summary>") == 1
    assert "<summary>Nothing changed beyond noise: cpu.</summary>" in page
    assert page.count("No group changed beyond noise on its own.") == 1
    assert page.count("No function's cum changed significantly.") == 1
    # Why shares are compared is said by what to give instead.
    assert page.count("--work BASE:NEW") == 1
    # Shares have no total that could be within it.
    assert "within noise." not in page
    assert {"cpu, in %", "Inputs"} <= set(
        re.findall(r"^\*\*(.+)\*\*$", page, re.MULTILINE)
    )
    sound(page)


def still(tmp_path, figures):
    """Write a run of a benchmark for each figure; return the folders of both sides."""
    for name, values in zip(("base", "new"), figures, strict=True):
        for number, value in enumerate(values):
            run = tmp_path / name / f"run{number}"
            run.mkdir(parents=True)
            text = printed({"Work-8": [{"ns/op": value}] * 3})
            (run / "bench.txt").write_text(text, "utf-8")
    return tmp_path / "base", tmp_path / "new"


EVEN = (1000, 1001, 999, 1000, 1002, 998, 1001, 1000)


def test_an_unchanged_pair_is_two_lines(comment, tmp_path):
    page = comment(*still(tmp_path, (EVEN, EVEN[::-1])))[0]
    marker, outcome, fold = page.split("\n\n")[:3]
    assert marker == "<!-- pprofdiff base new -->"
    assert re.fullmatch(r"base → new: \*\*The same within 2%: [^\n]+\.\*\*", outcome)
    assert fold == (
        "<details>\n<summary>Nothing changed beyond noise: benchmarks.</summary>"
    )
    assert page.endswith("\n\n</details>\n")
    assert page.count("<details>") == 1
    # What it rests on is in the fold.
    assert page.index("\nFrom Benchmark") > page.index("<details>")
    sound(page)


def test_a_gate_that_passes_is_said_in_them(cli, tmp_path):
    sides = still(tmp_path, (EVEN, EVEN[::-1]))
    rule = "--fail-on=bench:ns/op:+10%"
    done = cli(*sides, rule, "-q", "-o", tmp_path / "x.md")
    assert done.status == 0, done.err
    page = (tmp_path / "x.md").read_text("utf-8")
    assert "<summary>Gate passed. Nothing changed beyond noise: benchmarks." in page
    assert page.index("Gate passed") < page.index("pass `bench:ns/op:+10%`")


def test_what_moved_is_more_than_two_lines(comment, tmp_path):
    dearer = [value * 2 for value in EVEN]
    page = comment(*still(tmp_path, (EVEN, dearer)))[0]
    assert "### base → new\n\n**Slower: 2.00× the time/op (1.99 to 2.01×).**" in page
    assert "Nothing changed" not in page


LINKED = {
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "o/r",
    "GITHUB_SHA": "c" * 40,
}


def started(factor, name="m/sub.Work"):
    """Return a profile of a function of this module, and one of another."""
    ours = Place((Frame(name, "/build/sub/work.go", 12, 7),), 0x400000)
    other = Place((Frame("x.org/y.F", "/p/x.org/y@v1.2.3/f.go", 4, 3),), 0x400001)
    rows = [
        Sample((place,), (n * factor, 10 * n * MS * factor))
        for place, n in ((ours, 300), (other, 200))
    ]
    rows.append(Sample((Place((Frame("m.rest", ""),), 0x400002),), (900, 9000 * MS)))
    return built(rows, CPU, duration_ns=10**11)


def test_names_lead_to_their_lines(monkeypatch, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "go.mod").write_text("module m\n", "utf-8")
    (tmp_path / "sub" / "work.go").write_text("package sub\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in (*LINKED, "CI_PROJECT_URL", "CI_COMMIT_SHA", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    sides = [
        Side(label, (Capture(label, "profile", started(factor)),))
        for label, factor in (("base", 1), ("new", 4))
    ]
    compared = compare_sides(*sides, Settings(work=counted((1000, 1000))))
    page = render(report_of(compared))
    assert "](http" not in page
    for name, value in LINKED.items():
        monkeypatch.setenv(name, value)
    linked = render(report_of(compared))
    to = f"https://github.com/o/r/blob/{'c' * 40}/sub/work.go#L7"
    # In two tables; code of another module is not in this repository.
    assert linked.count("](http") == linked.count(f"[`sub.Work`]({to})") == 2
    assert linked.replace(f"[`sub.Work`]({to})", "`sub.Work`") == page
    # Where the page will be is known: every name has a place there, by name.
    at = "https://example.com/x.html#cpu;f="
    there = report_of(compared)._replace(page_url="https://example.com/x.html")
    both = render(there)
    assert f"[`sub.Work`]({to}) [stacks]({at}m/sub.Work)" in both
    assert f"[`y.F`]({at}x.org/y.F)" in both
    sound(page)


def test_filters_are_named(comment):
    page, _ = comment(
        "syncpool/base/cpu.pb.gz", "syncpool/new/cpu.pb.gz", "-focus=a|@b|mallocgc"
    )
    assert "- only: `-focus=a`&#124;`@b`&#124;`mallocgc`\n" in page
    sound(page)


def profile(names, factor):
    """Return a CPU profile of these functions, one below the other and each alone."""
    places = [
        Place((Frame(name, "a.go"),), 0x400000 + i) for i, name in enumerate(names)
    ]
    rows = []
    for i, place in enumerate(places):
        count = 90 * factor * (i + 1)
        rows.append(Sample((place, *places[:i]), (count, 10 * MS * count)))
    return built(rows, CPU, duration_ns=10**10)


def report(names, words, *, saved=(None, None)):
    """Return the comparison of two builds in which whatever can has a hostile name.

    `words` are two labels, two paths, a filter and a warning.
    """
    texts = [
        printed({f"X{''.join(n.split())}": [{"ns/op": 9 + i}] * 6 for n in names})
        for i in (0, 5)
    ]
    sides = []
    for label, path, text, factor, copy in zip(
        words[:2], words[2:4], texts, (1, 2), saved, strict=True
    ):
        costs = Capture(path, "profile", profile(names, factor), saved_to=copy)
        times = Capture(path, "benchmark", parse(text.encode(), path))
        sides.append(Side(label, (costs, times)))
    return report_of(
        # Of known work: what moved alike has moved, and is named.
        compare_sides(*sides, Settings(work=counted((1, 1)))),
        filters=words[4:5],
        warnings=[Caveat("x", words[5])],
    )


hostile = st.lists(st.sampled_from(HOSTILE), max_size=6).map("".join)


@pytest.mark.slow
@settings(derandomize=True, max_examples=examples(40))
@given(
    st.lists(hostile.filter(bool), min_size=3, max_size=8, unique=True),
    st.lists(hostile.map("w{}".format), min_size=6, max_size=6),
)
def test_no_name_is_markup(names, words):
    page = render(report(names, words))
    assert len(page) <= MOST
    sound(page)
    columns = [line.count("|") for line in page.splitlines() if line.startswith("| ")]
    widths = [len(table[0]) for table in tables(page) for _ in [*table, "---"]]
    assert columns == [width + 1 for width in widths]
    assert all(len(row) == len(table[0]) for table in tables(page) for row in table)
    blocks = [t.content for t in tokens(page) if t.type == "html_block"]
    opened = sum(block.startswith("<details") for block in blocks)
    assert 3 <= opened == sum(block.startswith("</details>") for block in blocks)


def test_a_name_is_shown_as_it_is():
    names = [
        "main.(*Map[go.shape.string, go.shape.int]).Get",
        "<script>|@all `#1`\u202e",
    ]
    page = render(report(names, ["a", "b", "c", "d", "e", "f"]))
    seen = {row[-1] for table in tables(page) for row in table}
    assert {"main.(*Map[string,int]).Get", "<script>|@all `#1`\\u202e"} <= {
        re.sub("  .*", "", s) for s in seen
    }


def test_names_of_ten_thousand_characters_leave_room_for_the_rest():
    names = [f"main.{letter * 10_000}" for letter in "abcdefgh"]
    page = render(report(names, ["x" * 10_000, "y" * 10_000, *names[:4]]))
    assert len(page) <= MOST
    assert "**Got slower (cum)" in page
    assert "**Costs more (flat)" in page
    assert "Left out" not in page
    sound(page)


@pytest.mark.slow
@pytest.mark.parametrize("count", daily((300, 3_000), (300,)))
def test_what_does_not_fit_is_left_out_whole_and_named(cli, tmp_path, count):
    for name, figure in (("base", 90), ("new", 130)):
        results = {
            f"Work/case={i}-8": [{"ns/op": figure + i, "B/op": i, "allocs/op": 2}]
            for i in range(count)
        }
        (tmp_path / name).write_text(printed(results), "utf-8")
    done = cli(tmp_path / "base", tmp_path / "new", "-q", "-o", tmp_path / "x.md")
    assert (done.status, done.err) == (0, "")
    page = (tmp_path / "x.md").read_text("utf-8")
    assert len(page) <= MOST
    sound(page)
    # A table is there with all its rows, geomean and heading among them, or not at all.
    held = [table for table in tables(page) if any("Work" in row[0] for row in table)]
    assert {len(table) for table in held} <= {count + 2}
    assert len(held) == (2 if count == 300 else 0)
    _, _, note = page.partition("\nLeft out")
    assert "\n- benchmarks, medians ± 95% interval: allocs/op\n" in note
    assert note.count("\n- benchmarks") == 3 - len(held)
    assert note.endswith("`pprofdiff … -o report.json` has all of it.\n")


@pytest.mark.slow
def test_the_marker_is_of_the_labels_alone(comment):
    first = comment(*CASES["syncpool.work"])[0].splitlines()[0]
    other = comment("main=zstd/base", "pr=zstd/new")[0].splitlines()[0]
    assert first == other == "<!-- pprofdiff main pr -->"
    assert comment(*CASES["heap"])[0].startswith("<!-- pprofdiff base new -->\n")
    page = render(report(["main.f"], ["--> x", "a\nb", "p", "q", "r", "s"]))
    assert page.startswith("<!-- pprofdiff --%3E%20x a%5Cnb -->\n\n### ")


def test_copies_on_this_machine_are_not_named():
    words = ["a", "b", "http://host/x", "http://host/y", "r", "s"]
    page = render(report(["main.f"], words, saved=("/home/me/x", "/home/me/y")))
    assert "http://host/x" in page
    assert "/home/me" not in page


def test_the_summary_of_a_step_is_added_to(comment, cli, monkeypatch, tmp_path):
    place = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    page, _ = comment(*CASES["heap"], "--github-summary")
    assert place.read_text("utf-8") == page
    place.write_text("# Before", "utf-8")
    comment(*CASES["heap"], "--github-summary")
    assert place.read_text("utf-8") == f"# Before\n{page}"
    refused = cli(*CASES["heap"], "-top", "--github-summary")
    assert (refused.status, refused.out) == (2, "")
    assert "--github-summary is for the report" in refused.err


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_step_there_is_no_summary(cli, data_folder, monkeypatch, value):
    monkeypatch.chdir(data_folder)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    if value is not None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", value)
    done = cli(*CASES["heap"], "--github-summary")
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "GITHUB_STEP_SUMMARY is not set" in done.err


def test_a_summary_that_cannot_be_written_is_said(
    cli, data_folder, monkeypatch, tmp_path
):
    monkeypatch.chdir(data_folder)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "summary"))
    done = cli(*CASES["heap"], "--github-summary")
    assert (done.status, done.out) == (2, cli(*CASES["heap"]).out)
    assert re.fullmatch(r"pprofdiff: \S+: cannot be written: [^\n]+\n", done.err)


def test_what_is_no_address_of_a_page_is_refused(cli, data_folder, monkeypatch):
    monkeypatch.chdir(data_folder)
    done = cli(*CASES["heap"], "-q", "--page-url=x) y")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(
        "pprofdiff: --page-url x) y: must be the address of the page"
    )
    assert done.err.count("\n") == 1


def test_what_cannot_be_compared_is_said_before_all():
    # Nearly all code is beneath one function: its calls may be no operations.
    sides = (PAIRS / "paced-unknown" / side / "cpu.pb.gz" for side in ("base", "new"))
    page = render(compare_paths(*sides).report())
    _, _, first, second, *_ = page.split("\n\n")
    assert first.startswith("**!** Most functions use more CPU per second")
    assert "did more work. Pass `--rps" in first
    assert second.startswith("**")
    assert page.count("probably did") == 1
