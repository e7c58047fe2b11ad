"""``--same-within``: how near builds must be to be called the same."""

import json
from pathlib import Path

import pytest

import pprofdiff
from pprofdiff.errors import UsageError
from tests.cli.test_whole import complaint

# Twenty-four runs a side: the figure is +1.0 %, and its interval a tenth of that.
RUNS = range(24)


@pytest.fixture
def sides(tmp_path, monkeypatch):
    """Stand in a folder with ``base`` and ``new``, each with a folder a run."""
    monkeypatch.chdir(tmp_path)
    for side, factor in (("base", 1.0), ("new", 1.01)):
        for run in RUNS:
            folder = tmp_path / side / str(run)
            folder.mkdir(parents=True)
            value = factor * (1000 + run % 3)
            (folder / "bench.txt").write_text(
                f"BenchmarkX-2 \t 100\t {value} ns/op\n", "utf-8"
            )
    return "base", "new"


def outcome(cli, *words):
    """Return the outcome of the JSON report, and the first sentence of the text."""
    done = cli(*words, "-o", "x.json")
    assert (done.status, done.err) == (0, "")
    said = json.loads(Path("x.json").read_text("utf-8"))["outcome"]
    return said, done.out.removeprefix("base → new   ")


@pytest.mark.parametrize(
    ("typed", "verdict", "headline"),
    [
        ((), "same", "The same within 2%: "),
        (("--same-within=2%",), "same", "The same within 2%: "),
        (("--same-within", "1.5"), "same", "The same within 1.5%: "),
        (("--same-within=0.5%",), "slower", "Slower: +1.0% time/op"),
    ],
)
def test_it_decides_what_is_the_same(cli, sides, typed, verdict, headline):
    said, sentence = outcome(cli, *sides, *typed)
    assert said["verdict"] == verdict
    assert sentence.startswith(headline)
    assert said["low"] > 1


@pytest.mark.parametrize("value", ["0.5", '"0.5%"', '"0.5"'])
@pytest.mark.parametrize("name", ["pprofdiff.toml", "pyproject.toml"])
def test_it_may_be_kept(cli, sides, name, value):
    table = "[tool.pprofdiff]\n" if name.startswith("pyproject") else ""
    Path(name).write_text(f"{table}same-within = {value}\n", "utf-8")
    said, _ = outcome(cli, *sides)
    assert (said["verdict"], said["same_within"]) == ("slower", 0.005)
    # What is typed counts instead.
    said, _ = outcome(cli, *sides, "--same-within=2%")
    assert (said["verdict"], said["same_within"]) == ("same", 0.02)


WRONG = ("", "0", "100%", "-1%", "nan", "inf", "2pp", "1e400")


@pytest.mark.parametrize("value", WRONG)
def test_it_is_a_percentage(cli, sides, value):
    said = "must be a percentage between 0 and 100"
    typed = complaint(cli(*sides, f"--same-within={value}"))
    assert typed.startswith(f"-same_within={value}: {said}")


@pytest.mark.parametrize("value", [*map(json.dumps, WRONG), "true", "[2]", "0", "nan"])
def test_what_is_kept_is_a_percentage(cli, sides, value):
    Path("pprofdiff.toml").write_text(f"same-within = {value}", "utf-8")
    refused = complaint(cli(*sides))
    assert refused.startswith(
        "pprofdiff.toml: same-within must be a percentage between 0"
    )


def test_from_python(sides):
    outcomes = [
        pprofdiff.compare(*sides, same_within=within).report().outcome
        for within in (0.005, 0.02)
    ]
    assert [one.verdict for one in outcomes] == ["slower", "same"]
    for wrong in (0.0, 1.0, 2.0, -0.02, float("nan")):
        with pytest.raises(UsageError, match="same_within= must be a fraction of base"):
            pprofdiff.compare(*sides, same_within=wrong)
