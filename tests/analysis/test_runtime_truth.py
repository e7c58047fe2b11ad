"""What the diff says of the runtime, against the runtime's own books of the same run.

`metrics.json` holds the change of `runtime/metrics` while the profile was taken. The
CPU classes are estimates of wall time, so shares of busy time are compared, without
idle marking, which only some versions can name (golang/go#19497).
"""

import json
from pathlib import Path

import pytest

from pprofdiff.analysis.profiles.caveats import go_version
from pprofdiff.goruntime.rules import rules

from .building import compared, groups_of

DATA = Path(__file__).parents[1] / "data"
CAPTURES = sorted(path.parent for path in DATA.glob("**/cpu.pb.gz"))
BOOKS = [path for path in CAPTURES if (path / "metrics.json").exists()]
VERSIONS = [path for path in CAPTURES if path.parent.name == "versions"]


def named(path):
    """Return how a capture is called in test names."""
    return str(path.relative_to(DATA))


@pytest.fixture
def sums(load_capture):
    """Return a function: a capture in, (sums by category, total) of it as base out."""

    def read(path):
        one = load_capture(path / "cpu.pb.gz")
        diff = compared(one, one)
        found = diff.ledger.every("category")
        base, new = found.base.tolist(), found.new.tolist()
        assert base == new
        assert sum(base) == diff.totals[0]
        groups = {name: amount for name, amount, _ in groups_of(diff)}
        return dict(zip(rules().categories, base, strict=True)) | groups, diff.totals[0]

    return read


@pytest.mark.parametrize("path", BOOKS, ids=named)
def test_the_share_of_gc_is_the_runtimes(path, sums):
    metrics = json.loads((path / "metrics.json").read_text("utf-8"))["delta"]
    stated = {
        k.removeprefix("/cpu/classes/").removesuffix(":cpu-seconds"): v
        for k, v in metrics.items()
        if "/cpu/" in k
    }
    if stated["total"] is None:
        pytest.skip("runtime/metrics has no CPU classes before Go 1.20")
    found, total = sums(path)
    share = (found["gc"] - found["gc.mark.idle"]) / total
    truth = (stated["gc/total"] - stated["gc/mark/idle"]) / (
        stated["total"] - stated["idle"]
    )
    samples = total / 10_000_000
    assert abs(share - truth) <= max(0.015, 3 * (share * (1 - share) / samples) ** 0.5)


def test_every_version_is_there():
    assert [p.name for p in VERSIONS] == [f"go1.{n}" for n in range(19, 28)]


@pytest.mark.slow
@pytest.mark.parametrize("path", CAPTURES, ids=named)
def test_hardly_any_sample_is_unknown(path, sums):
    found, total = sums(path)
    assert found["rt.other"] + found["gc.unknown"] <= 0.01 * total


@pytest.mark.parametrize("path", VERSIONS, ids=lambda path: path.name)
def test_the_version_in_the_report_is_the_one_that_built_it(path, load_capture):
    said = go_version(load_capture(path / "cpu.pb.gz"))
    newest = path == VERSIONS[-1]
    assert said in ((path.name, f"{path.name}+") if newest else (path.name,))


@pytest.mark.parametrize("older", VERSIONS[:-1], ids=lambda path: path.name)
def test_two_versions_are_distinguished(older, load_capture):
    base, new = (load_capture(p / "cpu.pb.gz") for p in (older, VERSIONS[-1]))
    for diff in (compared(base, new), compared(new, base)):
        assert "go-version" in [caveat.id for caveat in diff.warnings]
    assert "go-version" not in [caveat.id for caveat in compared(base, base).warnings]
