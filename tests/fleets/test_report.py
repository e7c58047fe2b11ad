"""What is said of fleets: profiles and hosts in one row a side, never a row a file."""

from __future__ import annotations

import json
import re

import pytest

import pprofdiff
from pprofdiff.cli.main import main
from pprofdiff.errors import UsageError
from tests.conftest import DATA
from tests.examples import daily
from tests.fleets import making


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("got")
    making.write(folder / "build=1", range(14), count=2, samples=400)
    making.write(folder / "build=2", range(20, 35), count=2, samples=400, planted=0.2)
    for number in range(14):
        data = (DATA / "unchanged/run1/allocs.pb.gz").read_bytes()
        for build, host in ((1, number), (2, number + 20)):
            place = folder / f"build={build}/host=h{host:05}/allocs.pb.gz"
            place.write_bytes(data)
    return folder


def both(folder, *more):
    """Return the words that compare two builds in a folder, and more."""
    return [*(f"{folder}/build={n}/**/*.gz" for n in (1, 2)), *more]


@pytest.fixture(scope="module")
def compared(fleet):
    return pprofdiff.fleet(f"{fleet}/build=1/**", f"{fleet}/build=2/**")


@pytest.mark.whole
@pytest.mark.slow
def test_one_row_a_side_and_kind(fleet, capsys):
    words = [f"old={fleet}/build=1/**/*.gz", f"now={fleet}/build=2/**/*.gz"]
    assert main([*words, "--full"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = [" ".join(line.split()) for line in out.splitlines()]
    # Two profiles of the CPU of each host last 10 s each.
    got = [row for row in rows if row.startswith(("old /", "now /"))]
    assert len(got) == 4
    assert (
        f"old {fleet}/build=1/**/*.gz cpu go1.26 280.0 s 28 profiles of 14 hosts, "
        in got[0]
    )
    assert got[1].startswith(f"old {fleet}/build=1/**/*.gz allocs ")
    assert got[1].endswith("14 profiles of 14 hosts")
    assert "30 profiles of 15 hosts" in got[2]
    assert making.PLANTED.rpartition("/")[2] in out
    text = " ".join(rows)
    assert "run" not in {word.strip(".,;:") for word in text.split()}
    assert "added up" not in text


@pytest.mark.slow
def test_a_line_a_side_says_how_much_it_holds(fleet, capsys):
    assert main([f"old={fleet}/build=1/**/*.gz", f"now={fleet}/build=2/**/*.gz"]) == 0
    out, _ = capsys.readouterr()
    rows = [line for line in out.splitlines() if line.startswith(("old  ", "now  "))]
    assert [row.partition(" hosts")[0] for row in rows] == [
        "old  cpu 28 profiles of 14",
        "now  cpu 30 profiles of 15",
    ]


@pytest.mark.slow
def test_the_document_counts_hosts(fleet, tmp_path):
    outputs = "-o", f"{tmp_path}/x.json", "-o", f"{tmp_path}/x.html"
    assert main(both(fleet, "-q", *outputs)) == 0
    document = json.loads((tmp_path / "x.json").read_text("utf-8"))
    (cpu, allocs) = document["inputs"]["base"]
    assert (cpu["profiles"], cpu["hosts"]) == (28, 14)
    assert (allocs["profiles"], allocs["hosts"]) == (14, 14)
    assert cpu["duration_ns"] == 280_000_000_000
    assert cpu["path"] == f"{fleet}/build=1/**/*.gz"
    page = (tmp_path / "x.html").read_text("utf-8")
    assert "28 profiles of 14 hosts" in page


@pytest.mark.slow
def test_hosts_of_both_sides_are_said_to_be_paired(fleet, capsys, tmp_path):
    words = [f"{fleet}/build=1/**/*.gz"] * 2
    assert main([*words, "-o", f"{tmp_path}/x.json"]) == 0
    out = capsys.readouterr().out
    assert "28 profiles of 14 hosts, all paired with themselves in base, " in out
    got = json.loads((tmp_path / "x.json").read_text("utf-8"))["fleet"]
    assert got["paired_hosts"] == 14


@pytest.mark.whole
@pytest.mark.slow
def test_hosts_that_half_of_each_side_are_are_paired(fleet, capsys, tmp_path):
    # h00000 to h00009 of 14, and the other way round.
    words = [f"{fleet}/build=1/**/*.gz", f"{fleet}/build=1/host=h0000*/*.gz"]
    for base, new, which in ((*words, "all"), (*words[::-1], "10")):
        assert main([base, new, "--no-paths", "-o", f"{tmp_path}/x.json"]) == 0
        out = capsys.readouterr().out
        assert f"hosts, {which} paired with themselves in base, " in out
        got = json.loads((tmp_path / "x.json").read_text("utf-8"))
        assert got["fleet"]["paired_hosts"] == 10


@pytest.mark.slow
def test_a_fleet_is_not_reported_to_give_what_is_refused(tmp_path, capsys):
    """Twice the load on the same hosts moves all functions alike."""
    for build, samples in ((1, 3000), (2, 6000)):
        making.write(tmp_path / f"build={build}", range(12), samples=samples)
    words = [f"{tmp_path}/build=1/**", f"{tmp_path}/build=2/**"]
    assert main(words) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Most functions use 2" in out
    assert "--rps" not in out
    assert "Pass --work BASE:NEW (operations of all hosts while profiled)" in out
    assert main([*words, "--work=1000:2000"]) == 0


@pytest.mark.slow
def test_hosts_are_judged_by_a_gate(fleet, capsys):
    gate = f"--fail-on=flat:{re.escape(making.PLANTED)}"
    assert main(both(fleet, "-q", f"{gate}:+1pp")) == 1
    assert main(both(fleet, "-q", f"{gate}:+40pp")) == 0
    capsys.readouterr()


@pytest.mark.slow
def test_frames(compared):
    hosts = compared.hosts
    assert " ".join(hosts.columns) == "side host kind profiles seconds total"
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


@pytest.mark.slow
def test_few_hosts_and_one_host_are_doubts(fleet):
    few = pprofdiff.fleet(f"{fleet}/build=1/host=h0000[12]", f"{fleet}/build=2")
    (got,) = [w for w in few.report().warnings if "host" in w.id]
    assert got.text.startswith("base has 2 hosts, too few to show")
    assert "duration" not in [w.id for w in few.report().warnings]
    one = pprofdiff.fleet(f"{fleet}/build=1/host=h00001", f"{fleet}/build=2")
    assert "one-host" in [w.id for w in one.report().warnings]
    both = pprofdiff.fleet(*[f"{fleet}/build=1/host=h00001"] * 2)
    (got,) = [w for w in both.report().warnings if "host" in w.id]
    assert got.text.startswith("either side is one host: how far")


@pytest.mark.slow
def test_without_paths_nothing_names_a_host(fleet, capsys, tmp_path):
    assert main(both(fleet, "--no-paths", "-o", f"{tmp_path}/x.json")) == 0
    out, _ = capsys.readouterr()
    text = out + (tmp_path / "x.json").read_text("utf-8")
    assert "h000" not in text
    assert str(fleet) not in text


@pytest.fixture(scope="module")
def regions(tmp_path_factory):
    """One function costs more in region us alone; new has a region more."""
    folder = tmp_path_factory.mktemp("regions")
    for region, first, planted in (("eu", 0, 0.0), ("us", 100, 0.05)):
        for build, more, extra in ((1, 0, 0.0), (2, 20, planted)):
            place = folder / f"build={build}/region={region}"
            hosts = range(first + more, first + more + 12)
            making.write(place, hosts, samples=1500, planted=extra)
    making.write(folder / "build=2/region=ap", range(300, 302), samples=100)
    return folder


@pytest.mark.slow
def test_groups_show_where_a_function_moved(regions, capsys):
    assert main(both(regions, "--group-by=region")) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head, _, table = out.partition("By region (flat, % of each group's CPU)")
    assert head
    rows = [line.split() for line in table.splitlines()[1:8]]
    first = next(i for i, row in enumerate(rows) if row and row[-1].endswith(".Write"))
    whole, ap, eu, us = rows[first : first + 4]
    assert whole[-3:-1] == ["24,", "26"]
    assert ap == ["0,", "2", "ap"]
    assert eu[2] == "~"
    assert us[2] == "▲"
    assert [row[-1] for row in (eu, us)] == ["eu", "us"]
    assert 3 < float(us[3]) < 7


@pytest.mark.slow
def test_groups_in_the_document(regions, tmp_path):
    words = "--group-by=region", "-q", "-o", f"{tmp_path}/x.json"
    assert main(both(regions, *words)) == 0
    document = json.loads((tmp_path / "x.json").read_text("utf-8"))
    got = document["fleet"]
    assert (got["grouped_by"], got["paired_hosts"]) == ("region", 0)
    assert got["skipped"] == {"base": {}, "new": {}}
    groups = {group["group"]: group for group in got["groups"]}
    assert list(groups) == ["", "ap", "eu", "us"]
    assert groups["ap"] == {
        "group": "ap", "hosts": {"base": 0, "new": 2}, "total": None, "functions": [],
    }  # fmt: skip
    rows = {
        name: {row["name"]: row for row in group["functions"]}
        for name, group in groups.items()
    }
    assert rows["us"][making.PLANTED]["noise"] is False
    assert rows["eu"][making.PLANTED]["noise"] is True
    assert 3 < rows["us"][making.PLANTED]["delta_scaled"] < 7
    (cpu,) = document["comparisons"]
    assert groups[""]["total"] == {k: cpu["total"][k] for k in ("base", "new")}
    parts = (groups[name]["total"]["base"] for name in ("eu", "us"))
    assert sum(parts) == cpu["total"]["base"]


@pytest.mark.slow
@pytest.mark.parametrize("by", daily(("region", "region=([^/]+)"), ["region=([^/]+)"]))
def test_groups_as_a_frame_add_up(regions, by):
    got = pprofdiff.fleet(f"{regions}/build=1/**", f"{regions}/build=2/**", group_by=by)
    frame = got.groups[got.groups["function"] == making.PLANTED].set_index("group")
    assert frame.index.tolist() == ["", "ap", "eu", "us"]
    assert frame.loc["us", "noise"] is False
    assert frame.loc["eu", "noise"] is True
    assert frame["base"].isna().tolist() == [False, True, False, False]
    assert frame.loc["us", ["base_hosts", "new_hosts"]].tolist() == [12, 12]
    fleet = got.data.new.fleet
    whole = got["cpu"].data.totals[1]
    parts = [
        c.content.values[:, 1].sum() for g in fleet.groups.values() for c in g.captures
    ]
    assert sum(parts) == whole


@pytest.mark.slow
def test_too_many_groups_are_refused(regions, capsys, monkeypatch):
    monkeypatch.setattr("pprofdiff.fleets.partial.MOST_GROUPS", 9)
    assert main(both(regions, "--group-by=host=(.*)")) == 2
    assert capsys.readouterr().err == (
        "pprofdiff: --group-by makes more than 8 groups: name what has fewer values, "
        "such as a region or a version\n"
    )


@pytest.mark.whole
@pytest.mark.slow
def test_without_groups_there_is_no_table(fleet, compared, capsys):
    assert compared.groups.empty
    assert main(both(fleet, "--group-by=region")) == 2
    assert capsys.readouterr().err == (
        "pprofdiff: --group-by region: no path contains it, and no label of samples has "
        "this name\n"
    )
    assert main(both(fleet, "--group-by=host=(h0000[12])")) == 0
    assert "(none)" in capsys.readouterr().out


@pytest.mark.slow
def test_more_hosts_of_the_same_are_no_change(tmp_path):
    """Live memory of twice as many hosts is twice as large, which says nothing."""
    for build, hosts in (("1", 12), ("2", 24)):
        for host in range(hosts):
            place = tmp_path / build / f"host={host}"
            place.mkdir(parents=True)
            for kind in ("heap", "mutex", "goroutine"):
                file = DATA / f"syncpool/base/{kind}.pb.gz"
                (place / file.name).write_bytes(file.read_bytes())
    got = pprofdiff.fleet(f"{tmp_path}/1", f"{tmp_path}/2")
    assert {"heap", "mutex", "goroutine"} <= got.profiles.keys()
    for diff in got.profiles.values():
        assert diff.functions["delta_flat_scaled"].abs().max() < 1e-9
    assert got.findings.empty


@pytest.mark.slow
def test_what_is_of_fleets_alone_makes_a_fleet_of_folders(fleet, capsys):
    words = [f"{fleet}/build=1", f"{fleet}/build=2", "--max-skipped=2%"]
    assert main(words) == 0
    assert "28 profiles of 14 hosts" in capsys.readouterr().out
