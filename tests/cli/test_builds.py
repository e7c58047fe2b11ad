"""One source built in several ways (`tests/workloads/checks`): said first, in one line."""

import re
from itertools import pairwise

import pytest
from msgspec.structs import replace

from pprofdiff.inputs.buildinfo import build_settings
from pprofdiff.model.profiles.profile import Mapping
from tests.conftest import DATA
from tests.traces.toolchains import cached, run_go

BUILDS = DATA / "builds"

SAID = {
    "race": "only new is built with -race, which takes 2 to 20 times the time",
    "unoptimized": "new has no inlined frames, as built with -gcflags=-l or -N",
    # Its counters are written every 0.1 s.
    "cover": "only new is built with -cover",
    "go1.27": (
        r"go1\.26 → go1\.27\+; samples show the same functions of the program; of the "
        r"runtime and the standard library, only base has \S*mallocgc.* and only new has "
        r"\S*mallocgc"
    ),
}


def second_sentence(got):
    """Return what follows the headline, up to the end of its paragraph."""
    return " ".join(got.partition("\n\n")[0].split()).partition(". ")[2]


@pytest.mark.parametrize("name", SAID)
def test_another_build_is_said_first(cli, name):
    got = cli(BUILDS / "base.pb.gz", BUILDS / f"{name}.pb.gz").out
    assert re.match(f"The builds differ: {SAID[name]}", second_sentence(got))
    # What a release or a detector brings along is no work of the program.
    assert not re.search(r"\b(OnceFunc|racecall|__tsan)\S* is (gone|new)", got)


@pytest.mark.parametrize("swapped", [False, True])
def test_assembly_shows_another_goamd64_where_samples_are_in_both_parts(cli, swapped):
    """Without a check for AVX2, what follows in cmpbody lies 13 bytes earlier."""
    pair = BUILDS / "v1.pb.gz", BUILDS / "v3.pb.gz"
    said = (
        "The builds differ: cmpbody is assembly, and its machine code differs: another"
    )
    got = second_sentence(cli(*pair[:: -1 if swapped else 1]).out)
    assert got.startswith(f"{said} GOAMD64 or Go release. ")


@pytest.mark.parametrize("name", ["base", *SAID])
def test_of_one_build_nothing_is_said(cli, name):
    profile = BUILDS / f"{name}.pb.gz"
    assert "builds differ" not in cli(profile, profile).out


def test_programs_of_one_release_do_not_differ_as_builds_and_share_its_assembly(cli):
    folders = ("syncpool", "zstd", "rss-search", "health-check", "node-pool")
    for folder in folders:
        sides = (DATA / folder / side / "cpu.pb.gz" for side in ("base", "new"))
        assert "builds differ" not in cli(*sides).out, folder
    for one, other in pairwise(folders):
        sides = (DATA / folder / "new" / "cpu.pb.gz" for folder in (one, other))
        assert "assembly" not in cli(*sides).out, (one, other)


@pytest.mark.parametrize("name", ["race", "cover", "unoptimized"])
@pytest.mark.parametrize("swapped", [False, True])
def test_shares_next_to_what_makes_all_code_cost_more_are_no_causes(cli, name, swapped):
    pair = BUILDS / "base.pb.gz", BUILDS / f"{name}.pb.gz"
    out = cli(*pair[:: -1 if swapped else 1]).out
    assert "The builds differ: " in out
    assert "\nWhy\n" not in out


@pytest.mark.parametrize("swapped", [False, True])
def test_what_a_slower_machine_does_to_all_code_is_no_cause(cli, swapped):
    """All of one source takes a sixth longer per op while v3 is measured."""
    order = -1 if swapped else 1
    pair = (BUILDS / "v1.pb.gz", BUILDS / "v3.pb.gz")[::order]
    work = ("19807", "14651")[::order]
    out = cli("--work", ":".join(work), *pair).out
    assert "against the code that did not change" in out
    assert "\nWhy\n" not in out


def test_flags_that_nothing_shows_are_called_unknown(cli):
    """The pair differs in GOAMD64 alone; its programs are not kept."""
    v1, v3 = BUILDS / "v1.pb.gz", BUILDS / "v3.pb.gz"
    assert "! whether -cover, GOAMD64 or -gcflags differ is unknown" in cli(v1, v3).out
    assert "GOAMD64" not in cli(v1, v1).out


@pytest.mark.go
def test_settings_are_those_that_go_version_prints():
    folder = cached("buildinfo", "package main; func main() {}")
    source, program = folder / "main.go", folder / "program"
    source.write_text("package main\n\nfunc main() {}\n")
    run_go("build", "-gcflags=-N -l", "-o", program, source)
    printed = run_go("version", "-m", program)
    build_id = re.search(rb"GNU\0(.{20})", program.read_bytes()[:4096], re.DOTALL)[1]
    mapping = Mapping(file=str(program), build_id=build_id.hex())
    found = dict(build_settings(mapping))
    assert printed.splitlines()[0].endswith(f": go{found.pop('go')}")
    assert found == {
        name: value.strip('"')
        for line in printed.splitlines()
        if line.startswith("\tbuild\t")
        for name, _, value in [line.removeprefix("\tbuild\t").partition("=")]
    }
    # A copy in the folder of a profile is found too.
    assert build_settings(replace(mapping, file="/gone/program"), f"{folder}/cpu.pb")
    # Another program at the same place is another build.
    assert not build_settings(replace(mapping, build_id="00" * 20))
