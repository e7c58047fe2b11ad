"""Each rule on a pair that fires it, and on pairs next to it that must not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted, rated
from pprofdiff.loaders.gclogs import parse
from pprofdiff.loaders.traces import decode
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture
from tests.analysis import growing
from tests.analysis.building import compared, profile

MAIN = "main.main"
WORK = ("example.com/a.Work", "example.com/a.Serve", MAIN)
SCHEDULE = (
    "runtime.findRunnable",
    "runtime.schedule",
    "runtime.park_m",
    "runtime.mcall",
)
LOCK = ("sync.(*Mutex).Lock", "example.com/a.Cache.Get", MAIN)
COPY = ("runtime.memmove", "example.com/a.Join", MAIN)
CLEAR = ("runtime.memclrNoHeapPointers", "example.com/a.Reset", MAIN)
HASH = ("runtime.memhash64", "runtime.mapaccess1_fast64", "example.com/a.Find", MAIN)
MARK = ("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
BARRIER = ("runtime.gcWriteBarrier", "example.com/a.Set", MAIN)
SWEEP = ("runtime.(*sweepLocked).sweep", "runtime.sweepone", "runtime.bgsweep")
ASSIST = (
    "runtime.scanobject", "runtime.gcDrainN", "runtime.gcAssistAlloc", "runtime.mallocgc",
    "runtime.newobject", "example.com/a.New", MAIN,
)  # fmt: skip


def cpu(**samples):
    """Return a CPU profile: stacks by the names above, with numbers of samples."""
    stacks = {
        name.lower(): stack for name, stack in globals().items() if name.isupper()
    }
    return profile([(stacks[name], count) for name, count in samples.items()])


def findings(base, new, *, logs=(None, None), work=None, others=((), ())):
    """Return what is found, by id, of profiles and GC logs (text), and other captures."""
    sides = []
    for given, text, more in zip((base, new), logs, others, strict=True):
        runs = (given,) if given else ()
        held = (Capture("log", "gctrace", parse(text.encode(), "log")),) if text else ()
        sides.append((*runs, *held, *more))
    return growing.findings(*sides, settings=Settings(work=work))


def gctrace(cycles=40, *, every=0.5, cpu_ms=20, live=100, end="", procs=4, before=""):
    """Return a log of equal collections: the heap doubles, GOGC is 100."""
    # No log is as regular as arithmetic: the last digits differ from line to line.
    return "".join(
        f"{before}gc {i} @{i * every + i % 3 / 1000:.3f}s 5%: 0.10+{cpu_ms}+0.20 ms "
        f"clock, 0.40+1.0/{cpu_ms + i % 3}/0+0.80 ms cpu, {2 * live}->{2 * live + 4}->"
        f"{live} MB, {2 * live} MB goal, 0 MB stacks, 0 MB globals, {procs} P{end}\n"
        for i in range(1, cycles + 1)
    )


# Id, stack, what it is called, and whether its verb is of several.
GROUPS = [
    ("scheduler", "schedule", "Scheduling", False),
    ("locks", "lock", "Locks and channels", True),
    ("leaf-copy", "copy", "Copying", False),
    ("leaf-clear", "clear", "Clearing memory", False),
    ("leaf-hash", "hash", "Hashing", False),
    ("gc-assist", "assist", None, False),
    ("gc-cpu", "mark", "GC", False),
]
EQUAL = counted((1, 1))


def moves(name, *, several, more, known):
    """Return how a title begins: what costs more, or takes more where work is unknown."""
    word = "more" if more else "less"
    if name is None:
        return f"Mark assists cost {word}"
    if known:
        return f"{name} {'cost' if several else 'costs'} {word}"
    return f"{name} {'take' if several else 'takes'} {word} of the CPU"


@pytest.mark.parametrize(
    ("others", "name"),
    [
        ({}, "GC costs"),
        ({"sweep": 9}, "GC costs"),
        ({"sweep": 90}, "GC and sweeping cost"),
        ({"barrier": 90, "sweep": 90}, "GC, sweeping and write barriers cost"),
    ],
)
def test_gc_is_called_by_its_samples(others, name):
    few, many = (cpu(work=2000, mark=samples, **others) for samples in (40, 400))
    assert findings(few, many, work=EQUAL)["gc-cpu"].title == f"{name} more"


@pytest.mark.parametrize(("id_", "stack", "name", "several"), GROUPS)
@pytest.mark.parametrize("more", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_what_costs_more_or_less(id_, stack, name, several, more, known):
    few, many = cpu(work=2000, **{stack: 40}), cpu(work=2000, **{stack: 400})
    sides = (few, many) if more else (many, few)
    found = findings(*sides, work=EQUAL if known else None)
    finding_of = moves(name, several=several, more=more, known=known)
    assert found[id_].title == finding_of
    # A share rises where another falls: that is neither worse nor better.
    way = ("worse" if more else "better") if known else "neutral"
    assert (found[id_].direction, found[id_].severity) == (way, "major")
    amount = 360 * few.period if known else 100 * 400 / 2400 - 100 * 40 / 2040
    assert found[id_].explains == pytest.approx(amount if more else -amount, rel=1e-12)


@pytest.mark.parametrize(("id_", "stack"), [group[:2] for group in GROUPS])
def test_what_chance_moves_is_not_said(id_, stack):
    assert id_ not in findings(
        cpu(work=2000, **{stack: 100}), cpu(work=2000, **{stack: 115})
    )


@pytest.mark.parametrize(("more", "sure"), [(1.4, False), (3.0, True)])
def test_one_run_s_function_that_is_all_is_no_surer_than_the_total(more, sure):
    """The machine may have been slower by 40% while new ran, for all of its code."""
    sides = cpu(work=2000), cpu(work=round(more * 2000))
    found = findings(*sides, work=EQUAL)
    assert (found["place"].severity != "info") == sure
    assert found["place"].title.startswith("Most of the change in ") != sure


@pytest.mark.parametrize(("id_", "stack"), [group[:2] for group in GROUPS[:2]])
def test_what_is_under_a_hundredth_is_not_said(id_, stack):
    base, new = cpu(work=100_000, **{stack: 100}), cpu(work=100_000, **{stack: 900})
    assert id_ not in findings(base, new)


def test_gc_is_not_blamed_blindly_where_logs_show_more():
    base, new = cpu(work=2000, mark=40), cpu(work=2000, mark=400)
    logs = gctrace(), gctrace(every=0.05)
    assert "gc-cpu" not in findings(base, new, logs=logs)
    assert "gc-frequency" in findings(base, new, logs=logs)


def contended(seconds, site="example.com/a.Store.Put"):
    """Return a mutex profile of as many seconds of waiting, over ten seconds."""
    types = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))
    stack = ("sync.(*Mutex).Unlock", site, MAIN)
    delay = int(seconds * 1e9)
    return profile([(stack, (100, delay))], types=types, period=None)


def test_contention_moved():
    found = findings(contended(0.1), contended(5))["contention"]
    assert found.title.startswith("Goroutines wait 50.0× as long for locks")
    assert "a.Store.Put" in found.title
    assert found.direction == "worse"
    assert findings(contended(5), contended(0.1))["contention"].direction == "better"
    assert "contention" not in findings(contended(5), contended(8))
    assert "contention" not in findings(contended(0.01), contended(0.1))


def test_contention_that_follows_the_work_is_none():
    assert "contention" not in findings(
        contended(0.5), contended(5), work=rated((100.0, 1000.0))
    )


def blocking(lock, seconds, idle=0.0):
    """Return a block profile of ten seconds: of a lock, and of idle workers."""
    types = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))
    stacks = [
        ((lock, "example.com/a.Store.Get", MAIN), (100, int(seconds * 1e9))),
        (("runtime.selectgo", "example.com/a.Pool.Run"), (10, int(idle * 1e9))),
    ]
    return profile(stacks, types=types, period=None)


def test_a_lock_that_is_gone_is_named_with_who_waited():
    base = blocking("sync.(*Mutex).Lock", 6.0)
    gone = findings(base, blocking("sync.(*RWMutex).RLock", 0.0))["contention"]
    assert gone.title == (
        "Goroutines no longer wait for locks, most of the change under a.Store.Get "
        "(main.go:1), in sync.Mutex"
    )
    assert (gone.severity, gone.direction) == ("minor", "better")
    other = findings(base, blocking("runtime.chansend1", 0.6))["contention"]
    assert other.title.endswith("in sync.Mutex → channel sends")
    back = findings(blocking("runtime.chansend1", 0.6), base)["contention"]
    assert (back.direction, back.severity) == ("worse", "minor")


def test_idle_workers_in_block_profiles_are_no_contention():
    base, new = (blocking("sync.(*Mutex).Lock", 1.0, idle) for idle in (1.0, 500.0))
    assert "contention" not in findings(base, new)


OLD = ("example.com/a.Old", "example.com/a.Serve", MAIN)
NEW = ("example.com/a.New", "example.com/a.Serve", MAIN)
ELSEWHERE = ("example.com/a.New", "example.com/b.Extra", MAIN)


@pytest.mark.parametrize("work", [EQUAL, None], ids=["known", "unknown"])
def test_code_that_is_new_or_gone(work):
    base, new = profile([(WORK, 2000), (OLD, 200)]), profile([(WORK, 2000)])
    gone = findings(base, new, work=work)["place"]
    assert gone.title.startswith("a.Old no longer takes CPU: ")
    assert (gone.evidence[0].base, gone.evidence[0].new) == (200 * base.period, 0)
    added = findings(new, base, work=work)["place"]
    assert added.title.startswith("a.Old now takes 9.1% of the CPU: ")
    amount = 100 * 200 / 2200 if work is None else 200 * base.period
    assert -gone.explains == added.explains == pytest.approx(amount, rel=1e-12)
    # A share does not show whether code costs more or less.
    ways = ("neutral", "neutral") if work is None else ("better", "worse")
    assert (gone.direction, added.direction) == ways


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ([(WORK, 2000), (OLD, 30)], [(WORK, 2000)]),  # under 2 %
        ([(WORK, 100), (OLD, 5)], [(WORK, 100)]),  # by chance
        ([(WORK, 2000), (SCHEDULE, 200)], [(WORK, 2000)]),  # the runtime's
    ],
)
def test_nothing_vanished(base, new):
    assert "place" not in findings(profile(base), profile(new))


GROWS = ("runtime.copystack", "runtime.newstack", "runtime.morestack")
DEEP = ("example.com/a.Walk", "example.com/a.Render", "example.com/a.Start.func1")


@pytest.mark.parametrize("work", [EQUAL, None], ids=["known", "unknown"])
def test_a_stack_that_grows_is_nobody_s_own_work(work):
    base = profile([(WORK, 2000), (DEEP[1:], 400), ((*GROWS, *DEEP[1:]), 10)])
    more = [(WORK, 2000), (DEEP[1:], 400), ((*GROWS, *DEEP), 900)]
    found = findings(base, profile(more), work=work)
    finding_of = found["stack-growth"]
    assert finding_of.title.startswith(
        "Stack growth takes 0.4% → 27.3% of the CPU: "
        if work is None
        else "Stack growth costs 0.10 → 9.00 s/op: "
    )
    assert finding_of.text == "Most are of goroutines that begin in a.Start.func1."
    assert next(iter(found)) == "stack-growth"
    # No sample of a.Walk itself is there: it has what the growth of its stack costs.
    walk = found["place"]
    assert (walk.functions, walk.parent) == (("example.com/a.Walk",), "stack-growth")
    back = findings(profile(more), base, work=work)["stack-growth"]
    assert (back.advice, back.rises) == ("", False)


@pytest.mark.parametrize("grown", [12, 40])
def test_stacks_that_grow_by_chance_or_little_are_none(grown):
    base = profile([(WORK, 2000), ((*GROWS, *DEEP), 10)])
    new = profile([(WORK, 2000), ((*GROWS, *DEEP), grown)])
    assert "stack-growth" not in findings(base, new, work=EQUAL)


def test_where_stacks_grow_is_not_said_of_those_that_are_cut():
    deep = tuple(f"example.com/a.F{i}" for i in range(70))
    base, new = profile([(WORK, 2000)]), profile([(WORK, 2000), ((*GROWS, *deep), 900)])
    assert findings(base, new, work=EQUAL)["stack-growth"].text == ""


def test_what_the_collector_makes_a_function_do_is_not_its_own():
    helps = ("runtime.gcDrainN", "runtime.gcAssistAlloc", "runtime.mallocgc", *DEEP)
    base, new = profile([(WORK, 2000)]), profile([(WORK, 2000), (helps, 200)])
    found = findings(base, new, work=EQUAL)
    assert [id_ for id_, one in found.items() if not one.parent] == ["gc-cpu"]


SERVED = ("example.com/a.Query", "example.com/a.Handle", MAIN)
STEP = ("example.com/lib.Step", *SERVED)


def test_a_share_that_is_a_multiple_is_reported_where_work_is_unknown():
    rest = ("example.com/lib.Step", "example.com/a.Next", MAIN)
    base = profile([(WORK, 1000), (STEP, 60), (SERVED, 20), (rest, 900)])
    new = profile([(WORK, 1000), (STEP, 700), (SERVED, 20), (rest, 260)])
    more, less = findings(base, new)["place"], findings(new, base)["place"]
    # Either may have changed: the one whose share rose is named.
    assert more.title == "a.Query takes more of the CPU: 4.04 → 36.36% cum"
    assert less.title == "a.Next takes more of the CPU: 13.13 → 45.45% cum"
    assert (more.direction, more.severity) == ("neutral", "major")
    # Where the work is known, a.Step costs what it did, whoever calls it.
    assert "place" not in findings(base, new, work=EQUAL)


def test_a_share_that_falls_because_another_rises_is_not_reported():
    base = profile([(WORK, 1000), (SERVED, 200), (COPY, 100)])
    new = profile([(WORK, 1000), (SERVED, 200), (COPY, 4000)])
    assert not any("a.Query" in one.title for one in findings(base, new).values())


def test_a_share_that_is_twice_as_large_is_no_multiple():
    base = profile([(WORK, 2000), (SERVED, 200)])
    new = profile([(WORK, 2000), (SERVED, 450)])
    assert "place" not in findings(base, new)


def test_what_its_caller_took_along_says_nothing_of_its_own():
    # Where the caller hardly runs, as under less load, its callee is not gone.
    base = profile([(WORK, 200), (OLD, 100), (LOCK, 3000)])
    new = profile([(WORK, 3), (LOCK, 3000)])
    assert not any("a.Old" in one.title for one in findings(base, new).values())


def test_cost_that_moved_under_one_parent_is_no_regression():
    base, new = profile([(WORK, 2000), (OLD, 200)]), profile([(WORK, 2000), (NEW, 205)])
    assert "place" not in findings(base, new, work=EQUAL)


@pytest.mark.parametrize(
    ("new", "title", "first", "direction"),
    [
        (600, "18% more CPU: 22.00 → 26.00 s/op cum", "a.New", "worse"),
        # Lost in the noise of all of a.Serve.
        (
            60,
            "less CPU: 2.00 → 0.60 s/op in calls that one build makes",
            "a.Old",
            "better",
        ),
    ],
)
def test_what_replaces_a_function_at_another_cost_is_one_place(
    new, title, first, direction
):
    """What goes the way of the place is named first."""
    sides = profile([(WORK, 2000), (OLD, 200)]), profile([(WORK, 2000), (NEW, new)])
    found = findings(*sides, work=EQUAL)
    assert list(found) == ["place"]
    place = found["place"]
    assert place.title == f"a.Serve uses {title}"
    assert place.text.startswith(f"In it: {first} ")
    assert "a.Old 2.00 → 0.00 s/op" in place.text
    assert f"a.New 0.00 → {new / 100:.2f}" in place.text
    assert (place.severity, place.direction) == ("major", direction)
    assert place.explains == (new - 200) * sides[0].period


def test_shares_of_what_replaces_a_function_are_two():
    base, new = profile([(WORK, 2000), (OLD, 200)]), profile([(WORK, 2000), (NEW, 600)])
    found = findings(base, new)
    assert found["place"].title == "a.New now takes 23.1% of the CPU: 0.00 → 23.08% cum"
    assert found["place-2"].title == "a.Old no longer takes CPU: 9.09 → 0.00% cum"


def test_what_is_new_in_a_function_that_costs_no_more_is_no_added_work():
    whole, part = ("example.com/a.Serve", MAIN), ("example.com/b.Part", *OLD[1:])
    base, new = (
        profile([(WORK, 2000), (whole, 200)]),
        profile([(WORK, 2000), (part, 190)]),
    )
    for sides in ((base, new), (new, base)):
        assert "place" not in findings(*sides, work=EQUAL)
    # Next to as much as there was, it is.
    more = profile([(WORK, 2000), (whole, 200), (part, 190)])
    assert "place" in findings(base, more, work=EQUAL)


def test_closures_under_other_numbers_are_not_gone():
    closures = [(f"example.com/a.init.run.func{i}", MAIN) for i in (98, 95)]
    base = profile([(WORK, 2000), (closures[0], 200)])
    assert "place" in findings(base, profile([(WORK, 2000)]), work=EQUAL)
    new = profile([(WORK, 2000), (closures[1], 15)])
    assert "place" not in findings(base, new, work=EQUAL)


def test_a_function_that_costs_less_is_named_and_not_who_called_it():
    library = ("example.com/b.Read", "example.com/b.Tsv", MAIN)
    other = ("example.com/b.Read", "example.com/b.Csv", MAIN)
    base = profile([(WORK, 2000), (library, 100), (other, 200)])
    found = findings(base, profile([(WORK, 2000), (other, 4)]), work=EQUAL)
    assert list(found) == ["place"]
    assert found["place"].title == "b.Read uses 99% less CPU: 3.00 → 0.04 s/op"


def test_work_under_another_parent_is_two_findings():
    base = profile([(WORK, 2000), (OLD, 200)])
    new = profile([(WORK, 2000), (ELSEWHERE, 200)])
    assert {"place", "place-2"} <= set(findings(base, new))


def test_gc_runs_more_often_because_the_heap_is_smaller():
    found = findings(None, None, logs=(gctrace(), gctrace(every=0.25, live=50)))
    finding = found["gc-frequency"]
    assert finding.title == (
        "GC runs 2.00× as often: the mean live heap is 0.50× as large, so the heap goal is "
        "lower"
    )
    assert finding.advice.startswith("GOGC=208 restores base's cadence")
    assert (finding.severity, finding.direction) == ("minor", "worse")


def test_gc_runs_more_often_because_more_is_allocated():
    found = findings(None, None, logs=(gctrace(), gctrace(every=0.25)))
    assert found["gc-frequency"].title == (
        "GC runs 2.00× as often: it allocates 2.00× as many bytes per second, by the GC log"
    )
    assert found["gc-frequency"].advice == ""


def test_gc_runs_more_often_because_gogc_differs():
    tight = gctrace(every=0.25).replace(
        "200->204->100 MB, 200 MB", "150->154->100 MB, 150 MB"
    )
    found = findings(None, None, logs=(gctrace(), tight))
    assert "the goal is 100 → 50% above the live heap" in found["gc-frequency"].title


def test_gc_that_costs_more_by_cycle():
    logs = gctrace(cpu_ms=20), gctrace(cpu_ms=40)
    found = findings(None, None, logs=logs)
    assert found["gc-cycle-cost"].title.startswith("CPU per GC cycle is 1.8")
    assert "live heap of 100 MiB" in found["gc-cycle-cost"].title
    assert "gc-frequency" not in found


@pytest.mark.parametrize(
    "new", [gctrace(every=0.48), gctrace(cpu_ms=21), gctrace(cycles=4, every=0.25)]
)
def test_gc_that_hardly_differs(new):
    found = findings(None, None, logs=(gctrace(), new))
    assert not {"gc-frequency", "gc-cycle-cost"} & set(found)


def test_forced_cycles():
    log = gctrace()
    forced = findings(None, None, logs=(log, gctrace(end=" (forced)")))["gc-forced"]
    assert forced.title.startswith("0 of 40 → 40 of 40 GC cycles were forced by")
    assert (forced.severity, forced.direction) == ("minor", "worse")
    both = [gctrace(end=" (forced)")] * 2
    assert "gc-forced" not in findings(None, None, logs=both)
    assert "gc-forced" not in findings(None, None, logs=(log, log))


def test_cycles_of_the_two_minute_timer():
    timed = gctrace(every=120.0, before="GC forced\n")
    found = findings(None, None, logs=(gctrace(), timed))["gc-timer"]
    assert found.title == (
        "0 of 40 → 40 of 40 GC cycles were forced after two minutes without one"
    )
    assert "two minutes" in found.advice
    assert (
        findings(None, None, logs=(timed, gctrace()))["gc-timer"].direction == "better"
    )


def test_gomaxprocs():
    found = findings(None, None, logs=(gctrace(), gctrace(procs=8)))
    assert found["gomaxprocs"].title == "GOMAXPROCS differs: 4 → 8"
    assert "gomaxprocs" not in findings(None, None, logs=(gctrace(), gctrace()))


PACKAGES = [(f"example.com/p{i}.F", MAIN) for i in range(6)]


@pytest.mark.parametrize("times", [3, 6])
def test_another_load_is_reported(times):
    base = profile([(stack, 100) for stack in PACKAGES])
    new = profile([(stack, 100 * times) for stack in PACKAGES])
    found = findings(base, new)["not-comparable"]
    assert found.title == (
        f"Most functions use {times}.00× the CPU per second: new probably did more work"
    )
    assert "--rps BASE:NEW" in found.advice
    assert found.direction == "neutral"
    assert "not-comparable" not in findings(base, new, work=rated((1.0, times)))
    one = profile([(PACKAGES[0], 400), *((stack, 100) for stack in PACKAGES[1:])])
    assert "not-comparable" not in findings(base, one)


def test_a_longer_profile_is_no_other_load():
    base = profile([(stack, 100) for stack in PACKAGES])
    longer = profile([(stack, 300) for stack in PACKAGES], duration_ns=3 * 10**10)
    assert "not-comparable" not in findings(base, longer)


@pytest.mark.parametrize("more", [True, False])
def test_a_smaller_share_is_no_smaller_load(more):
    """One function that costs ten times as much takes share from all others."""
    few, many = (
        profile([*((stack, 300) for stack in PACKAGES), (COPY, count)])
        for count in (300, 3000)
    )
    sides = (few, many) if more else (many, few)
    assert "not-comparable" not in findings(*sides)


def test_a_go_upgrade(load_capture, data_folder):
    base, new = (
        load_capture(data_folder / "versions" / f"go1.{minor}" / "cpu.pb.gz")
        for minor in (25, 26)
    )
    finding_of = findings(base, new)["go-upgrade"]
    assert finding_of.title.startswith("Go 1.25 → 1.26: GC ")
    assert "the Green Tea garbage collector of Go 1.26" in finding_of.title
    assert "go-upgrade" not in findings(base, base)


SPACE = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))


def allocs(make, folder="/src"):
    """Return an allocs profile in which one function made so much, among others."""
    stacks = [
        ((("example.com/a.Make", f"{folder}/make.go", 12), MAIN), make),
        ((("example.com/a.Make of", f"{folder}/other.go", 7), MAIN), 900),
        *(
            (((f"example.com/a.F{i}", f"{folder}/f.go", i), MAIN), 500)
            for i in range(4)
        ),
    ]
    rows = [(stack, (n, n * 524_288)) for stack, n in stacks]
    one = profile(rows, types=SPACE, period=524_288, duration_ns=None)
    return replace(one, period_type=ValueType("space", "bytes"))


@pytest.mark.parametrize("folder", ["/src/a", "/home/me/My Code/a b", "/src/v2:1 x:3"])
def test_the_line_that_allocates_is_named_wherever_the_source_lies(folder):
    finding_of = findings(allocs(300, folder), allocs(3000, folder))["allocation"]
    assert finding_of.title.startswith("a.Make allocates")
    assert ", mostly at make.go:12" in finding_of.text


@pytest.mark.parametrize(("other", "words"), [(0, "of the same work"), (120, "work")])
def test_code_that_is_new_is_not_the_same_work(other, words):
    """All costs half as much; where new runs other functions too, work differs."""
    names = [f"example.com/p{i}.F" for i in range(6)]
    base = profile([((name, MAIN), 400) for name in names] + [(MARK, 600)])
    new = [((name, MAIN), 200 - other // 6) for name in names] + [(MARK, 300)]
    added = [(("example.com/p9.F", MAIN), other)] if other else []
    found = findings(base, profile(new + added), work=EQUAL)["more-of-the-same"]
    assert found.title == f"All code costs 0.50× alike: each op does less {words}"


def test_functions_that_cost_another_part_have_no_factor_of_all():
    """New code does a third of the work: the others cost 0.38 times, all of it 0.50."""
    names = [f"example.com/p{i}.F" for i in range(6)]
    base = profile([((name, MAIN), 400) for name in names] + [(MARK, 600)])
    new = [((name, MAIN), 150) for name in names] + [(MARK, 300)]
    new.append((("example.com/p9.F", MAIN), 300))
    assert "more-of-the-same" not in findings(base, profile(new), work=EQUAL)


@pytest.mark.parametrize("stack", [
    ("example.com/p9.F", MAIN),
    ("example.com/p9.F", "example.com/p8.F", MAIN),
])  # fmt: skip
def test_one_function_is_not_all_code(stack):
    """All costs 1.53 × as much; without one function, that is 1.22 ×."""
    names = [f"example.com/p{i}.F" for i in range(6)]
    base = profile([*(((n, MAIN), 500) for n in names), (MARK, 600), (stack, 1)])
    rest = [*(((n, MAIN), 615) for n in names), (MARK, 720)]
    found = findings(base, profile([*rest, (stack, 1118)]), work=EQUAL)
    assert "more-of-the-same" not in found
    whole = [*(((n, MAIN), 768) for n in names), (MARK, 918), (stack, 1)]
    assert "more-of-the-same" in findings(base, profile(whole), work=EQUAL)


def test_code_that_did_not_change_contradicts_a_factor_of_all():
    """Of eight functions and more, most show how much work was done."""
    names = [f"example.com/p{i}.F" for i in range(12)]
    sides = [
        profile([*(((name, MAIN), own) for name in names), (MARK, mark)])
        for own, mark in ((200, 2400), (265, 4200))
    ]
    by = control(compared(*sides))
    assert by.holds
    assert by.cost.low > 1
    assert "more-of-the-same" not in findings(*sides, work=EQUAL)


def test_few_samples_do_not_show_how_many_times():
    """One sample may as well have been three; what is gone has its own finding."""
    render, write = "example.com/s.Render", ("strings.Join", "example.com/s.Render")
    rest = [((f"example.com/p{i}.F", MAIN), 300) for i in range(6)]

    def finding_of(before, gone=0):
        base = [
            *rest,
            ((render, MAIN), before),
            *([((*write, MAIN), gone)] if gone else []),
        ]
        sides = profile(base), profile([*rest, ((render, MAIN), 600)])
        return findings(*sides, work=EQUAL)["place"]

    assert finding_of(100).title.startswith("s.Render uses 6.00× the CPU: ")
    assert finding_of(1).title == "s.Render uses more CPU: 0.01 → 6.00 s/op"
    gone = finding_of(1, gone=200)
    assert gone.title.startswith("s.Render uses 2.99× the CPU: ")
    assert gone.text == (
        "In it: strings.Join 2.00 → 0.00 s/op, the rest 0.01 → 6.00 s/op."
    )


def test_what_gc_costs_is_not_reported_by_logs_of_a_busy_machine():
    """They count the time that marking threads wait for a CPU."""
    both = [(Capture("allocs", "profile", allocs(n)),) for n in (300, 3000)]
    profiles = cpu(work=800, mark=40), cpu(work=800, mark=80)
    for cpu_ms, busy in ((20, False), (400, True)):
        logs = gctrace(cpu_ms=cpu_ms), gctrace(every=0.25, cpu_ms=cpu_ms)
        found = findings(*profiles, logs=logs, others=both)
        assert ("machine-busy" in found) == busy
        assert ("GC CPU per second is" in found["allocation"].text) != busy
        assert "Total 208 → 416 MiB per second" in found["allocation"].text


def test_advice_asks_for_nothing_that_is_there(data_folder):
    sides = cpu(work=2000, schedule=40, lock=40), cpu(work=2000, schedule=400, lock=400)
    alone = findings(*sides)
    assert "execution trace" in alone["scheduler"].advice
    assert "block profile" in alone["locks"].advice
    trace = Capture(
        "t", "trace", decode((data_folder / "zstd/base/trace.out").read_bytes(), "t")
    )
    mutex = Capture("m", "profile", contended(1))
    block = Capture("b", "profile", blocking("runtime.selectgo", 1))
    finding_of = findings(*sides, others=((trace, mutex, block), (trace, mutex, block)))
    assert finding_of["scheduler"].advice == finding_of["locks"].advice == ""
    half = findings(*sides, others=((mutex,), (mutex,)))
    assert half["locks"].advice == alone["locks"].advice


def test_several_functions_that_are_gone_from_one_are_named_with_it():
    """One of them alone would seem to be all of what changed."""
    first, second = (
        (f"example.com/a.{name}", "example.com/b.Convert", MAIN)
        for name in ("Shift", "Assign")
    )
    own = ("example.com/b.Convert", MAIN)
    base = profile([(WORK, 2000), (first, 400), (second, 300), (own, 50)])
    new = profile([(WORK, 2000), (own, 80)])
    found = findings(base, new, work=EQUAL)
    assert list(found) == ["place"]
    assert found["place"].title == "b.Convert uses 89% less CPU: 7.50 → 0.80 s/op cum"
    assert found["place"].text == (
        "In it: a.Shift 4.00 → 0.00 s/op, a.Assign 3.00 → 0.00 s/op."
    )


def test_what_is_new_in_a_large_function_is_named_itself():
    """Noise in the rest of the function hides it there."""
    guard = ("example.com/a.guard", "example.com/b.Open", MAIN)
    own = ("example.com/b.Open", MAIN)
    base = profile([(WORK, 9000), (own, 8000)])
    new = profile([(WORK, 9000), (own, 7930), (guard, 160)])
    place = findings(base, new, work=EQUAL)["place"]
    assert place.title.startswith("a.guard now takes ")
