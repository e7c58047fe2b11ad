"""``pprofdiff bisect``: real histories, real builds, and the commit that was planted."""

import json

import pytest

import pprofdiff
from tests.cli.test_measure import KEEPING
from tests.measure.shop import FILES, state
from tests.measure.short import ROUND_S
from tests.repository import STORE, repository

SHORT = ("-benchtime=2000x", "-bench=Price", "./store")
# By more than other programs slow down a few short runs.
FAR_SLOWER = STORE.replace("1_250", "20_000")
FEWER = ("--fail-on", "bench:allocs/op:+0%", "--per-run", "0.1s")


def filler(number):
    """Return a file that changes nothing Price needs."""
    return {
        "store/items.go": f"package store\n\n// Items is a count.\nconst Items = {number}\n"
    }


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """Stand in a new repository with the shop's benchmarks."""
    made = repository(tmp_path / "repo")
    made.commit("begin", FILES)
    monkeypatch.chdir(made.folder)
    monkeypatch.setattr("pprofdiff.measure.planning._ROUND_S", ROUND_S)
    # Linking again takes longer than turns; `test_layouts.py` has it.
    monkeypatch.setattr("pprofdiff.measure.layouts.toolchain", lambda _: "go1.21")
    return made


@pytest.mark.slow
@pytest.mark.go
def test_the_planted_commit_of_64_is_found_and_reported(cli, repo, tmp_path):
    planted, broken, culprit = 23, (24, 25, 32), ""
    for number in range(1, 65):
        files = filler(number)
        if number == planted:
            files["store/price.go"] = FAR_SLOWER
        if number in broken:
            files["store/items.go"] += "broken\n"
        made = repo.commit(f"store: item {number}", files)
        if number == planted:
            culprit = made
    before = state(repo.folder)
    kept, page = tmp_path / "kept", tmp_path / "x"
    outputs = [f"-o={page}.{ending}" for ending in ("json", "svg", "html", "md")]
    words = ("--state", kept, *outputs, "HEAD~64", "HEAD", "--", *SHORT)
    done = cli("bisect", *words)
    assert done.status == 0
    assert state(repo.folder) == before
    report = json.loads((tmp_path / "x.json").read_text("utf-8"))
    found = report["bisect"]
    assert [one["id"] for one in found["culprits"]] == [culprit]
    assert found["culprits"][0]["author"] == "A"
    built = [
        path for path in (kept / "commits").iterdir() if (path / "built.json").exists()
    ]
    assert len(built) == found["built"] <= 16
    assert f"{culprit[:9]} made Price slower" in done.out
    assert f"A  store: item {planted}" in done.out
    # The report is of that commit against its parent.
    assert report["outcome"]["ratio"] > 2
    for ending in ("svg", "html", "md"):
        assert culprit[:9] in (tmp_path / f"x.{ending}").read_text("utf-8")
    # The same command goes on where the search ended: nothing is measured again.
    runs = state(kept / "runs")
    again = cli("bisect", *words)
    assert again.status == 0
    assert state(kept / "runs") == runs
    assert f"{culprit[:9]} made Price slower" in again.out
    # Python reads what the command measured.
    searched = pprofdiff.bisect("HEAD~64", "HEAD", *SHORT, state=str(kept))
    assert state(kept / "runs") == runs
    assert searched.steps["commit"].tolist() == [culprit]
    curve = found["curves"][0]
    assert searched.measured["ratio"].tolist() == [
        one["ratio"] for one in curve["measured"]
    ]
    assert searched.plot().get_title(loc="left").startswith("Price, ")
    with pytest.raises(pprofdiff.UsageError, match=r"no curve 'x': there is Price"):
        searched.plot(name="x")
    assert f"store: item {planted}" in searched._repr_mimebundle_()["text/html"]


@pytest.mark.slow
@pytest.mark.go
def test_a_rule_is_a_question_and_a_merge_one_commit_if_asked(cli, repo, tmp_path):
    begin = repo.run("rev-parse", "HEAD").strip()
    for number in range(1, 4):
        repo.commit(f"main {number}", filler(number))
    repo.run("checkout", "-q", "-b", "side", "HEAD~1")
    for number in range(3):
        repo.commit(f"side {number}", {f"side{number}.txt": "x"})
    culprit = repo.commit("store: keep", {"store/price.go": KEEPING})
    repo.commit("side last", {"last.txt": "x"})
    repo.run("checkout", "-q", "main")
    repo.run("merge", "-q", "--no-ff", "-m", "merge side", "side")
    merge = repo.run("rev-parse", "HEAD").strip()
    for number in range(4, 7):
        repo.commit(f"main {number}", filler(number))
    for flags, wanted in (((), culprit), (("--first-parent",), merge)):
        page = tmp_path / f"{len(flags)}.json"
        words = (*FEWER, *flags, "-q", "-o", page, begin, "HEAD", "--", *SHORT)
        assert cli("bisect", *words).status == 0
        found = json.loads(page.read_text("utf-8"))["bisect"]
        assert [one["id"] for one in found["culprits"]] == [wanted]
        (curve,) = found["curves"]
        assert {one["rounds"] for one in curve["measured"]} == {1}


@pytest.mark.slow
@pytest.mark.go
def test_where_nothing_happened_that_is_said(cli, repo):
    for number in range(3):
        repo.commit(f"item {number}", filler(number))
    done = cli("bisect", *FEWER, "--rounds", 2, "HEAD~3", "HEAD", "--", *SHORT)
    assert done.status == 0
    assert "No commit to find: bench:allocs/op:+0% does not trip" in done.out


def test_what_cannot_be_searched_is_one_line(cli, repo, tmp_path):
    repo.commit("more", filler(1))
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("x", "utf-8")
    for words, said in (
        (("HEAD",), "give two refs"),
        (("HEAD", "HEAD~1"), "give the older one first, pprofdiff bisect HEAD~1 HEAD"),
        (("HEAD", "main"), "are the same commit"),
        (("HEAD~1", "nowhere"), "no commit nowhere"),
        (("--faster", "--fail-on", "total:+5%", "HEAD~1", "HEAD"), "two questions"),
        (("--state", other, "HEAD~1", "HEAD"), "holds other files"),
    ):
        done = cli("bisect", *words)
        assert done.status == 2
        assert said in done.err
        assert len(done.err.splitlines()) == 1


def test_a_folder_is_for_one_search(cli, repo, tmp_path):
    repo.commit("more", filler(1))
    kept = tmp_path / "kept"
    about = ["x"]
    kept.mkdir()
    known = {
        "schema": "pprofdiff-bisect/1",
        "about": about,
        "chosen": None,
        "skipped": {},
    }
    (kept / "bisect.json").write_text(json.dumps(known), "utf-8")
    done = cli("bisect", "--state", kept, "HEAD~1", "HEAD")
    assert (done.status, "holds a search for other commits" in done.err) == (2, True)
    (kept / "bisect.json").write_text("{", "utf-8")
    done = cli("bisect", "--state", kept, "HEAD~1", "HEAD")
    assert (done.status, "is damaged" in done.err) == (2, True)
