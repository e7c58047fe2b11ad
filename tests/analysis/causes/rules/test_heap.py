"""Heap growth: told of sites that hold more; silent of what comes and goes."""

from __future__ import annotations

import re

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
    told = grown(BASE, BASE | {CACHE: (40, 40)})
    assert told.title == "inuse_space grew 39.0 → 69.0 MiB: s.Store holds 30.0 MiB more"
    assert (
        "s.Store at main.go:1 10.0 → 40.0 MiB in 10,240 → 40,960 objects" in told.text
    )
    assert "100% of what it allocated" in told.text
    assert "freed next to nothing" in told.text
    assert (told.severity, told.direction) == ("major", "worse")
    facts = {fact.what: (fact.base, fact.new) for fact in told.evidence}
    assert facts["live heap"] == (39 * MB, 69 * MB)
    assert facts["in use, of a.com/s.Store"] == (10 * MB, 40 * MB)
    assert "capture" in told.advice.lower()


def test_and_backwards_the_opposite():
    told = grown(BASE | {CACHE: (40, 40)}, BASE)
    assert told.title == (
        "inuse_space shrank 69.0 → 39.0 MiB: s.Store holds 30.0 MiB less"
    )
    # Memory that is no longer held costs nobody anything.
    assert (told.severity, told.direction) == ("minor", "better")
    assert told.advice == ""
    assert "freed" not in told.text


def test_the_library_is_not_blamed_for_what_the_program_keeps():
    told = grown(BASE, BASE | {TABLE: (60, 60)})
    assert "s.Load holds 40.0 MiB more" in told.title


def test_an_allocs_profile_tells_it_too():
    sites = BASE, BASE | {CACHE: (40, 40)}
    told = grown(*sites, default="alloc_space")
    assert told.title == grown(*sites).title
    assert told.text == grown(*sites).text


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
    told = grown(BASE | {WORK: (9000, 10)}, BASE | {WORK: (9000, 90)})
    assert "s.Parse holds 80.0 MiB more" in told.title
    assert "it turns over" in told.text


def test_all_sites_alike_are_the_load():
    twice = {stack: (made, 3 * live) for stack, (made, live) in BASE.items()}
    told = grown(BASE, twice)
    assert told.title == ("inuse_space grew 39 → 117 MiB, at all call sites alike")
    assert told.text.startswith("Sites that changed did so by about 3.00×. ")
    assert (told.severity, told.direction) == ("info", "neutral")


def test_an_older_process_has_leaked_more_by_the_same_code():
    # Five functions at least tell what most of them have in common.
    others = WORK, TABLE, MORE, *((f"a.com/t.F{i}", MAIN) for i in range(3))
    young, old = (
        {CACHE: (10 * by, 10 * by), **dict.fromkeys(others, (100 * by, 2))}
        for by in (1, 6)
    )
    assert grown(young, old).severity == "info"
    assert grown(young, old | {CACHE: (400, 400)}).severity == "major"


def test_memory_of_connections_alone_is_not_major():
    told = grown(BASE, BASE | {CONNECTION: (900, 200)})
    assert told.severity == "minor"
    assert "as many as clients keep open" in told.text
    assert grown(BASE, BASE | {CONNECTION: (900, 40)}).severity == "info"


def test_before_the_first_collection_garbage_counts():
    told = grown({CACHE: (10, 10), WORK: (9, 9)}, {CACHE: (60, 60), WORK: (9, 9)})
    assert told.severity == "minor"
    assert "no collection had run yet" in told.text


def test_shares_of_heaps_say_nothing_of_their_size():
    from pprofdiff.analysis.settings import Settings

    sides = heap(BASE), heap(BASE | {CACHE: (40, 40)})
    assert "heap-growth" not in findings(*sides, settings=Settings(normalize=True))


def test_a_heap_that_was_empty_grew():
    told = grown({CACHE: (0, 0)}, {CACHE: (40, 40), WORK: (500, 2)})
    assert told.title == "inuse_space grew 0.0 → 42.0 MiB: s.Store holds 40.0 MiB more"
    assert (told.severity, told.direction) == ("major", "worse")
    assert "Nothing at all" not in told.text
    assert comparison(heap({}), heap({})) is not None


@pytest.mark.parametrize("words", ["folder", "heap.pb.gz", "allocs.pb.gz"])
def test_a_server_that_keeps_sessions(load_capture, words):
    files = ("heap.pb.gz", "goroutine.pb.gz") if words == "folder" else (words,)

    def told(base, new):
        sides = (
            tuple(load_capture(served(side) / file) for file in files)
            for side in (base, new)
        )
        return findings(*sides).get("heap-growth")

    grew = told("none", "heap")
    assert re.search(
        r"main\.\(\*server\)\.open( and \S+)? holds? \S+ MiB more", grew.title
    )
    assert "main.(*server).open at main.go:" in grew.text
    assert "it has freed next to nothing" in grew.text
    assert (grew.severity, grew.direction) == ("major", "worse")
    back = told("heap", "none")
    assert (back.severity, back.direction) == ("minor", "better")
    for base, new in (("none", "again"), ("again", "none"), ("none", "idle")):
        assert told(base, new) is None


@pytest.mark.parametrize(("base", "new"), [((90, 0), (90, 12)), ((90, 12), (90, 36))])
def test_a_few_large_buffers_come_and_go(base, new):
    # Objects of 12 MB: one of them is not as sure as 24 samples.
    for old, now in ((base, new), (new, base)):
        told = grown(BASE | {WORK: old}, BASE | {WORK: now}, size=12 * MB)
        assert told is None or told.severity == "info"
        assert told is None or "another snapshot may differ as much" in told.text


def test_a_site_of_many_objects_stands_before_one_of_few():
    new = BASE | {WORK: (900, 60), CACHE: (40, 40)}
    told = grown(BASE, new, size={WORK: 20 * MB})
    assert told.severity == "major"
    assert "s.Store holds" in told.title
    assert "s.Parse" not in told.title


def test_a_table_that_was_made_larger_is_kept():
    # It was made once in each build, and stays.
    base, new = (
        heap(BASE | {CACHE: (size, size)}, size={CACHE: size * MB})
        for size in (100, 200)
    )
    assert findings(base, new)["heap-growth"].severity == "major"
