"""Heap growth: reported for sites that hold more, not for what comes and goes."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.analysis.growing import MB, comparison, findings, heap, served

MAIN = "main.main"
CACHE = ("a.com/s.Store", "a.com/s.Serve", MAIN)
TABLE = ("fmt.Sprintf", "a.com/s.Load", MAIN)
WORK = ("a.com/s.Parse", "a.com/s.Serve", MAIN)
MORE = ("a.com/s.Index", MAIN)
CONNECTION = ("bufio.NewWriterSize", "net/http.(*conn).serve")

BASE = {TABLE: (20, 20), CACHE: (10, 10), WORK: (900, 8), CONNECTION: (90, 1)}


def grown(base, new, **how):
    return findings(heap(base, **how), heap(new, **how)).get("heap-growth")


def test_a_site_that_never_frees():
    findings_of = grown(BASE, BASE | {CACHE: (40, 40)})
    assert (
        findings_of.title
        == "inuse_space grew 39.0 → 69.0 MiB: s.Store holds 30.0 MiB more"
    )
    assert (
        "s.Store, mostly at main.go:1, 10.0 → 40.0 MiB in 10,240 → 40,960 objects"
        in findings_of.text
    )
    assert "100% of what it allocated" in findings_of.text
    assert "freed next to nothing" in findings_of.text
    assert (findings_of.severity, findings_of.direction) == ("major", "worse")
    facts = {fact.what: (fact.base, fact.new) for fact in findings_of.evidence}
    assert facts["live heap"] == (39 * MB, 69 * MB)
    assert facts["in use, of a.com/s.Store"] == (10 * MB, 40 * MB)
    assert "capture" in findings_of.advice.lower()


def test_and_backwards_the_opposite():
    findings_of = grown(BASE | {CACHE: (40, 40)}, BASE)
    assert findings_of.title == (
        "inuse_space shrank 69.0 → 39.0 MiB: s.Store holds 30.0 MiB less"
    )
    # Memory that is no longer held costs nobody anything.
    assert (findings_of.severity, findings_of.direction) == ("minor", "better")
    assert findings_of.advice == ""
    assert "freed" not in findings_of.text


def test_the_library_is_not_blamed_for_what_the_program_keeps():
    findings_of = grown(BASE, BASE | {TABLE: (60, 60)})
    assert "s.Load holds 40.0 MiB more" in findings_of.title


def test_an_allocs_profile_shows_it_too():
    sites = BASE, BASE | {CACHE: (40, 40)}
    findings_of = grown(*sites, default="alloc_space")
    assert findings_of.title == grown(*sites).title
    assert findings_of.text == grown(*sites).text


@pytest.mark.parametrize("live", [12, 15, 6])
def test_what_sampling_does_is_not_said(live):
    assert grown(BASE, BASE | {CACHE: (live, live)}) is None


def test_what_moved_to_another_function_is_no_growth():
    moved = {stack: sizes for stack, sizes in BASE.items() if stack != TABLE}
    assert grown(BASE, moved | {MORE: (20, 20)}) is None


def test_what_turns_over_must_move_far():
    assert (
        grown(BASE | {WORK: (9000, 20)}, BASE | {WORK: (9000, 60)}).severity == "info"
    )
    findings_of = grown(BASE | {WORK: (9000, 10)}, BASE | {WORK: (9000, 90)})
    assert "s.Parse holds 80.0 MiB more" in findings_of.title
    assert "it turns over" in findings_of.text


def test_all_sites_alike_are_the_load():
    twice = {stack: (made, 3 * live) for stack, (made, live) in BASE.items()}
    findings_of = grown(BASE, twice)
    assert findings_of.title == (
        "inuse_space grew 39 → 117 MiB, at all call sites alike"
    )
    assert findings_of.text.startswith("Sites that changed did so by about 3.00×. ")
    assert (findings_of.severity, findings_of.direction) == ("info", "neutral")


def test_an_older_process_has_leaked_more_by_the_same_code():
    # Five functions at least show what most of them have in common.
    others = WORK, TABLE, MORE, *((f"a.com/t.F{i}", MAIN) for i in range(3))
    young, old = (
        {CACHE: (10 * by, 10 * by), **dict.fromkeys(others, (100 * by, 2))}
        for by in (1, 6)
    )
    assert grown(young, old).severity == "info"
    assert grown(young, old | {CACHE: (400, 400)}).severity == "major"


def test_memory_of_connections_alone_is_not_major():
    findings_of = grown(BASE, BASE | {CONNECTION: (900, 200)})
    assert findings_of.severity == "minor"
    assert "as many as clients keep open" in findings_of.text
    assert grown(BASE, BASE | {CONNECTION: (900, 40)}).severity == "info"


def test_before_the_first_collection_garbage_counts():
    findings_of = grown(
        {CACHE: (10, 10), WORK: (9, 9)}, {CACHE: (60, 60), WORK: (9, 9)}
    )
    assert findings_of.severity == "minor"
    assert "no collection had run yet" in findings_of.text


def test_shares_of_heaps_say_nothing_of_their_size():
    from pprofdiff.analysis.settings import Settings

    sides = heap(BASE), heap(BASE | {CACHE: (40, 40)})
    assert "heap-growth" not in findings(*sides, settings=Settings(normalize=True))


def test_a_heap_that_was_empty_grew():
    findings_of = grown({CACHE: (0, 0)}, {CACHE: (40, 40), WORK: (500, 2)})
    assert (
        findings_of.title
        == "inuse_space grew 0.0 → 42.0 MiB: s.Store holds 40.0 MiB more"
    )
    assert (findings_of.severity, findings_of.direction) == ("major", "worse")
    assert "Nothing at all" not in findings_of.text
    assert comparison(heap({}), heap({})) is not None


@pytest.mark.parametrize("words", ["folder", "heap.pb.gz", "allocs.pb.gz"])
def test_a_server_that_keeps_sessions(load_capture, words):
    files = ("heap.pb.gz", "goroutine.pb.gz") if words == "folder" else (words,)

    def findings_of(base, new):
        sides = (
            tuple(load_capture(served(side) / file) for file in files)
            for side in (base, new)
        )
        return findings(*sides).get("heap-growth")

    grew = findings_of("none", "heap")
    assert re.search(
        r"main\.\(\*server\)\.open( and \S+)? holds? \S+ MiB more", grew.title
    )
    assert "main.(*server).open, mostly at main.go:" in grew.text
    assert "it has freed next to nothing" in grew.text
    assert (grew.severity, grew.direction) == ("major", "worse")
    back = findings_of("heap", "none")
    assert (back.severity, back.direction) == ("minor", "better")
    for base, new in (("none", "again"), ("again", "none"), ("none", "idle")):
        assert findings_of(base, new) is None


@pytest.mark.parametrize(("base", "new"), [((90, 0), (90, 12)), ((90, 12), (90, 36))])
def test_a_few_large_buffers_come_and_go(base, new):
    # Objects of 12 MB: one of them is not as sure as 24 samples.
    for old, now in ((base, new), (new, base)):
        findings_of = grown(BASE | {WORK: old}, BASE | {WORK: now}, size=12 * MB)
        assert findings_of is None or findings_of.severity == "info"
        assert (
            findings_of is None
            or "another snapshot may differ as much" in findings_of.text
        )


def test_a_site_of_many_objects_stands_before_one_of_few():
    new = BASE | {WORK: (900, 60), CACHE: (40, 40)}
    findings_of = grown(BASE, new, size={WORK: 20 * MB})
    assert findings_of.severity == "major"
    assert "s.Store holds" in findings_of.title
    assert "s.Parse" not in findings_of.title


def test_a_table_that_was_made_larger_is_kept():
    # It was made once in each build, and stays.
    base, new = (
        heap(BASE | {CACHE: (size, size)}, size={CACHE: size * MB})
        for size in (100, 200)
    )
    assert findings(base, new)["heap-growth"].severity == "major"


def test_heap_and_allocs_of_a_span_are_one_run_of_two_kinds(cli, data_folder, tmp_path):
    """``?seconds=`` loses the default sample type, by which the two differ."""
    for side in ("base", "new"):
        (tmp_path / side).mkdir()
        for kind, given in (("heap", side), ("allocs", f"{side}.allocs")):
            source = data_folder / f"growth/{given}.pb.gz"
            shutil.copy(source, tmp_path / side / f"{kind}.pb.gz")
    pair = tmp_path / "base", tmp_path / "new"
    out = cli(*pair, "--work", "12000:12000").out
    assert "main.keep grows the live heap by 0.00 → 2.92 MiB in 5.0 s" in out
    assert "Each op allocates 11% fewer bytes" in out
    assert "runs" not in out
    # Its tables are per op.
    assert out.startswith("base → new   No outcome: speed was not measured.\n")


def test_a_site_that_grew_the_heap_meanwhile_is_a_cause(cli, data_folder):
    """`main.keep` keeps each 40th page; ?seconds=5 gives the difference of two heaps."""
    pair = [data_folder / f"growth/{side}.pb.gz" for side in ("base", "new")]
    out = cli(*pair).out
    assert "1. main.keep grows the live heap by 0.00 → 2.92 MiB in 5.0 s. major" in out
    freed = "0 → 728 objects, 100% of what it allocated while profiled"
    assert freed in " ".join(out.split())
    assert "−12 → 0" in out
    # The total of base is negative: nothing is a multiple of it.
    assert "Total −0.063 → 3.051 MiB." in cli(*pair, "--full").out
    assert (
        "grows the live heap by 2.92 → 0.00 MiB in 5.0 s. minor" in cli(*pair[::-1]).out
    )
