"""What is said of fleets: profiles and hosts in one row a side, never a row a file."""

from __future__ import annotations

import json
import re

import pytest

import pprofdiff
from pprofdiff.cli.main import main
from pprofdiff.errors import UsageError
from tests.conftest import DATA
from tests.fleets import making


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("told")
    making.write(folder / "build=1", range(14), count=2, samples=400)
    making.write(folder / "build=2", range(20, 35), count=2, samples=400, planted=0.2)
    for number in range(14):
        data = (DATA / "unchanged/run1/allocs.pb.gz").read_bytes()
        for build, host in ((1, number), (2, number + 20)):
            place = folder / f"build={build}/host=h{host:05}/allocs.pb.gz"
            place.write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def compared(fleet):
    return pprofdiff.fleet(f"{fleet}/build=1/**", f"{fleet}/build=2/**")


def test_one_row_a_side_and_kind(fleet, capsys):
    words = [f"old={fleet}/build=1/**/*.gz", f"now={fleet}/build=2/**/*.gz"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = [" ".join(line.split()) for line in out.splitlines()]
    # Two profiles of the CPU of each host last 10 s each.
    told = [row for row in rows if row.startswith(("old /", "now /"))]
    assert len(told) == 4
    assert (
        f"old {fleet}/build=1/**/*.gz cpu go1.26 280.0 s 28 profiles of 14 hosts, "
        in told[0]
    )
    assert told[1].startswith(f"old {fleet}/build=1/**/*.gz allocs ")
    assert told[1].endswith("14 profiles of 14 hosts")
    assert "30 profiles of 15 hosts" in told[2]
    assert making.PLANTED.rpartition("/")[2] in out
    text = " ".join(rows)
    assert "run" not in {word.strip(".,;:") for word in text.split()}
    assert "added up" not in text


def test_the_document_counts_hosts(fleet, tmp_path):
    words = [f"{fleet}/build=1/**/*.gz", f"{fleet}/build=2/**/*.gz"]
    assert (
        main([*words, "-q", "-o", f"{tmp_path}/x.json", "-o", f"{tmp_path}/x.html"])
        == 0
    )
    document = json.loads((tmp_path / "x.json").read_text("utf-8"))
    (cpu, allocs) = document["inputs"]["base"]
    assert (cpu["profiles"], cpu["hosts"]) == (28, 14)
    assert (allocs["profiles"], allocs["hosts"]) == (14, 14)
    assert cpu["duration_ns"] == 280_000_000_000
    assert cpu["path"] == f"{fleet}/build=1/**/*.gz"
    page = (tmp_path / "x.html").read_text("utf-8")
    assert "28 profiles of 14 hosts" in page


def test_hosts_are_judged_by_a_gate(fleet, capsys):
    words = [f"{fleet}/build=1/**/*.gz", f"{fleet}/build=2/**/*.gz", "-q"]
    assert main([*words, f"--fail-on=flat:{re.escape(making.PLANTED)}:+1pp"]) == 1
    assert main([*words, f"--fail-on=flat:{re.escape(making.PLANTED)}:+40pp"]) == 0
    capsys.readouterr()


def test_frames(compared):
    hosts = compared.hosts
    assert list(hosts.columns) == [
        "side",
        "host",
        "kind",
        "profiles",
        "seconds",
        "total",
    ]
    cpu = hosts[hosts["kind"] == "cpu"]
    assert cpu.groupby("side", observed=True)["host"].count().to_dict() == {
        "base": 14,
        "new": 15,
    }
    assert cpu["profiles"].unique().tolist() == [2]
    assert cpu["seconds"].unique().tolist() == [20.0]
    totals = cpu.groupby("side", observed=True)["total"].sum().to_dict()
    assert (totals["base"], totals["new"]) == compared["cpu"].data.totals
    assert repr(compared) == (
        "<FleetComparison 'base' (14 hosts) → 'new' (15 hosts): "
        "cpu, allocs, allocs/alloc_objects>"
    )
    rows = compared["cpu"].functions
    assert rows["delta_flat_scaled"].idxmax() == making.PLANTED


def test_what_cannot_be_is_refused(fleet):
    for wrong in ({"max_skipped": 1.0}, {"same_within": 0}):
        with pytest.raises(UsageError):
            pprofdiff.fleet(f"{fleet}/build=1", f"{fleet}/build=2", **wrong)


def test_few_hosts_and_one_host_are_doubts(fleet):
    few = pprofdiff.fleet(f"{fleet}/build=1/host=h0000[12]", f"{fleet}/build=2")
    (told,) = [w for w in few.report().warnings if "host" in w.id]
    assert told.text.startswith("base has 2 hosts, which hardly show")
    one = pprofdiff.fleet(f"{fleet}/build=1/host=h00001", f"{fleet}/build=2")
    assert "one-host" in [w.id for w in one.report().warnings]


def test_without_paths_nothing_names_a_host(fleet, capsys, tmp_path):
    words = [f"{fleet}/build=1/**/*.gz", f"{fleet}/build=2/**/*.gz", "--no-paths"]
    assert main([*words, "-o", f"{tmp_path}/x.json"]) == 0
    out, _ = capsys.readouterr()
    text = out + (tmp_path / "x.json").read_text("utf-8")
    assert "h000" not in text
    assert str(fleet) not in text
