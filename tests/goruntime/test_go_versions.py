"""Go releases read from names: against real captures and Go's own sources."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from pprofdiff.goruntime.rules import rules
from pprofdiff.goruntime.versions import (
    format_go_version,
    infer_go_version,
    parse_go_version,
)
from pprofdiff.loaders.profiles.pprof import decode
from tests.repository import go_env

CAPTURES = sorted((Path(__file__).parent.parent / "data" / "versions").glob("go1.*"))
FUNCTION = re.compile(
    r"^func (?:\(\s*(?:\w+\s+)?(\*?)\s*(\w+)(?:\[[^\]]*\])?\s*\) )?(\w+)[\[(]",
    re.MULTILINE,
)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_the_interval_of_a_capture_holds_the_release_that_made_it(capture):
    profile = decode(gzip.decompress((capture / "cpu.pb.gz").read_bytes()))
    releases = rules().releases
    made_by = releases.index(capture.name.removeprefix("go"))
    first, last = infer_go_version(profile.function_names())
    assert releases.index(first) == made_by
    assert last is None or releases.index(last) == made_by


def test_captures_of_every_release_are_there():
    assert [path.name for path in CAPTURES] == [f"go1.{n}" for n in range(19, 28)]


@pytest.mark.parametrize(
    ("names", "interval", "text"),
    [
        (["main.main"], (None, None), ""),
        (["runtime.gcDrainMarkWorkerIdle"], ("1.22", None), "go1.22+"),
        (
            ["runtime.gcDrainMarkWorkerIdle", "runtime.checkTimers"],
            ("1.22", "1.22"),
            "go1.22",
        ),
        (
            ["runtime.(*unwinder).next", "runtime.checkTimers"],
            ("1.21", "1.22"),
            "go1.21-1.22",
        ),
        (["runtime.findrunnable"], (None, "1.18"), "go1.18 or older"),
        (
            ["internal/runtime/maps.(*Map).Get", "runtime.scanobject"],
            ("1.24", "1.25"),
            "go1.24-1.25",
        ),
        (["runtime.mallocgcSmallScanNoHeader"], ("1.24", None), "go1.24+"),
        (["runtime.scanObject", "main.main"], ("1.26", None), "go1.26+"),
        (["runtime.tryDeferToSpanScan"], ("1.25", None), "go1.25+"),
        (
            ["runtime.mallocgcSmallScanNoHeaderSC7", "runtime.mallocgcTinySC2"],
            ("1.27", None),
            "go1.27+",
        ),
        # Two builds merged into one profile.
        (
            ["runtime.findrunnable", "internal/runtime/maps.(*Map).Get"],
            (None, None),
            "",
        ),
        ([], (None, None), ""),
    ],
)
def test_intervals(names, interval, text):
    assert infer_go_version(names) == interval
    assert format_go_version(*interval) == text
    assert parse_go_version(text) == interval


def _functions(root, package):
    for source in (root / package).glob("*.go"):
        if source.name.endswith("_test.go"):
            continue
        for star, receiver, name in FUNCTION.findall(source.read_text("utf-8")):
            owner = f"(*{receiver})." if star else f"{receiver}." if receiver else ""
            yield f"{package}.{owner}{name}"


@pytest.mark.go
@pytest.mark.skipif(shutil.which("go") is None, reason="needs the Go toolchain")
def test_no_marker_contradicts_the_sources_of_the_installed_go():
    root = Path(go_env("GOROOT")) / "src"
    release = re.match(r"go(\d+\.\d+)", go_env("GOVERSION"))[1]
    table = rules()
    if release not in table.releases:
        pytest.skip(f"no rules yet for Go {release}")
    here = table.releases.index(release)
    packages = [
        "runtime",
        "sync",
        "time",
        "internal/sync",
        "internal/poll",
        "internal/bytealg",
        "sync/atomic",
    ]
    packages += sorted(
        {
            str(p.parent.relative_to(root))
            for p in (root / "internal/runtime").rglob("*.go")
        }
    )
    names = {name for package in packages for name in _functions(root, package)}
    assert len(names) > 3000
    assert {n for n in names if table.first_release.find(n) > here} == set()
    assert {n for n in names if 0 <= table.last_release.find(n) < here} == set()
