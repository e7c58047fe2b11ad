"""The page as text: sizes, policy, hostile names; tests/browser opens it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.html.page import render
from pprofdiff.report.model import report_of
from pprofdiff.units import printable
from tests.analysis import measuring
from tests.analysis.measuring import path
from tests.building import CPU, MS, Frame, Place, Sample, built
from tests.conftest import STORIES
from tests.examples import daily
from tests.report.reading import HOSTILE

from .pages import Page, hashed
from .unpacking import names_of

KIB = 1024
DATA = re.compile(r'class="flame-data">(.*?)</script>', re.DOTALL)
SHELL, TYPICAL, ANY = 72 * KIB, 500 * KIB, 5 * KIB * KIB


@pytest.fixture
def page(cli, data_folder, monkeypatch, tmp_path):
    """Return a function: words of a command line in, the page's text out."""
    monkeypatch.chdir(data_folder)

    def run(*words):
        done = cli(*words, "-q", "-o", tmp_path / "x.html")
        assert done.status in (0, 1), done.err
        return (tmp_path / "x.html").read_text("utf-8")

    return run


def compared(names, labels=("base", "new")):
    """Return the report on two profiles whose functions have these names."""
    sides = []
    for step, label in enumerate(labels, 1):
        samples = []
        for i, name in enumerate(names):
            stack = Place((Frame(name),), 100 + i), Place((Frame("main.main"),), 1)
            count = step * (i % 7 + 1) * 50
            samples.append(Sample(stack, (count, 10 * MS * count)))
        profile = built(samples, CPU, duration_ns=10**10)
        sides.append(Side(label, (Capture(f"{label}.pb.gz", "profile", profile),)))
    # Of known work: what moved alike has moved, and is named.
    return report_of(compare_sides(*sides, Settings(work=counted((1, 1)))))


def test_a_cause_of_a_benchmark_is_in_its_own_flame_graph():
    """Frames have the amounts of the sentences; all benchmarks together come last."""

    def side(cost):
        return [
            measuring.Unit(
                {path("F", bench=name): n, path("Rest", bench=name): 300}, name=name
            )
            for name, n in (("A", cost), ("B", 300))
        ]

    text = render(report_of(measuring.compared(side(300), side(900))))
    graphs = [json.loads(data) for data in DATA.findall(text)]
    assert [graph["id"] for graph in graphs][:2] == ["A/cpu", "cpu"]
    assert graphs[0]["title"] == "cpu of A"
    assert graphs[0]["causes"][0][0] == 1
    assert 'data-view="A/cpu"' in text


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("zstd",)))
def test_a_typical_report_is_small(page, story):
    assert len(page(f"{story}/base", f"{story}/new").encode()) <= TYPICAL


@pytest.mark.slow
def test_what_every_page_has_is_small(page):
    text = page("unchanged/run1/cpu.pb.gz", "unchanged/run2/cpu.pb.gz")
    whole = Page(text)
    tables = re.sub(r"(?s)<main>.*</main>", "", text)
    assert whole.scripts[0] in tables
    assert len(tables.encode()) <= SHELL


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search",)))
def test_nothing_but_our_own_can_run_or_load(page, story):
    whole = Page(page(f"{story}/base", f"{story}/new"))
    (script,), (style,) = whole.scripts, whole.styles
    assert whole.policy == {
        "default-src": ["'none'"],
        "script-src": [hashed(script)],
        "style-src": [hashed(style)],
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    for tag, attributes in whole.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "src", "srcset", "action", "ping"), (tag, name)
            if name.endswith("href"):
                assert value.startswith("#") or value == "data:,", (tag, value)
    unsafe = r"(inner|outer|insertAdjacent)HTML|document\.write|\beval\b|Function\("
    assert not re.search(unsafe, script)
    assert not re.search(r"url\(|@import", style)


def test_every_hostile_name_is_only_a_name():
    names = [f"{name}main.f" for name in HOSTILE]
    whole = Page(render(compared(names)))
    plain = Page(render(compared(["main.f"] * len(names))))
    assert {tag for tag, _ in whole.tags} == {tag for tag, _ in plain.tags}
    assert len(whole.scripts) == 1
    held = {name for data in whole.data for name in names_of(json.loads(data))}
    assert set(names) <= held
    seen = [name for name in names if " ".join(printable(name).split()) in whole.text]
    assert len(seen) > len(names) / 2


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("name", daily(HOSTILE, HOSTILE[::5]))
def test_a_hostile_label_is_only_a_label(name):
    whole = Page(render(compared(["main.f"], labels=("base", name or "new"))))
    assert len(whole.scripts) == 1
    assert " ".join(printable(name).split()) in whole.text


def test_a_long_name_is_there_in_full_and_in_sight_in_part():
    name = "main." + "x" * 10_000
    whole = Page(render(compared([name])))
    assert name in whole.text
    assert len(render(compared([name])).encode()) < TYPICAL


@pytest.mark.whole
@pytest.mark.slow
def test_many_long_names_stay_within_the_largest_size():
    names = [f"main.f{i}." + chr(97 + i % 26) * 9_990 for i in range(3_000)]
    assert len(render(compared(names)).encode()) <= ANY


@pytest.mark.whole
@pytest.mark.slow
def test_the_verdict_names_each_rule(page):
    whole = Page(
        page("zstd/base", "zstd/new", "--fail-on=total:+5%", "--fail-on=bench:nope:+1%")
    )
    assert "total:+5%" in whole.text
    assert "limit +5%" in whole.text
    assert "no data" in whole.text


@pytest.mark.slow
def test_the_next_causes_are_named_above_the_flame_graph(page):
    """All three planted regressions of the service, not only the largest."""
    top = page("service/base", "service/new").partition('<section id="flame"')[0]
    for where in ("main.price.func1", "cart_new.go:7", "main.pattern"):
        assert where in " ".join(Page(top).words)


@pytest.mark.whole
@pytest.mark.slow
def test_a_page_of_very_many_benchmarks_is_made(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, slower in (("base", 0), ("new", 7)):
        lines = (
            f"BenchmarkName{i:05} 100 {100 + slower * (i % 1000 == 1) + n} ns/op\n"
            for i in range(5_000)
            for n in range(4)
        )
        Path(f"{side}.txt").write_text("".join(lines), "utf-8")
    done = cli("base.txt", "new.txt", "-q", "-o=x.html", "-o=x.json")
    assert (done.status, done.err) == (0, "")
    text = Path("x.html").read_text("utf-8")
    assert len(text.encode()) < 500_000
    seen = Page(text).text
    assert "(4,900 more) 0 worse, 0 better" in seen
    assert all(f"Name{i:05}" in seen for i in range(1, 5_000, 1000))
    assert "geomean" in seen
    (got,) = json.loads(Path("x.json").read_text("utf-8"))["comparisons"]
    assert len(got["rows"]) == 5_000
