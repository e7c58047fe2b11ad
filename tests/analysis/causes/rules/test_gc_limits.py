"""What GC logs show of live heaps, memory limits and busy machines."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.gclogs.compare import compare_logs
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.side import Capture
from tests.analysis.causes.test_table import cpu, findings


def log(
    live, *, limit=None, gogc=(100, 100), every=0.5, mark=20.0, stop=0.2, during=1,
    cycles=40,
):  # fmt: skip
    """Return a process's log: sizes in MiB as printed, times in ms.

    The live heap varies from cycle to cycle. GOGC is the first of `gogc` when the
    process begins and the second from the fourth collection on.
    """
    lines = []
    goal = 4 * gogc[0] / 100
    for number in range(1, cycles + 1):
        grown = min(live, 3 * 2**number)
        heap = grown + (number % 5 - 2 if grown == live else 0)
        lines.append(
            f"gc {number} @{number * every + number % 3 / 1000:.3f}s 5%: "
            f"{stop}+20+{stop} ms clock, {2 * stop}+1.0/{mark + number % 3}/0+{2 * stop} "
            f"ms cpu, {int(goal) - during}->{int(goal)}->{heap} MB, {int(goal)} MB goal, "
            f"0 MB stacks, 0 MB globals, 2 P\n"
        )
        goal = heap * (1 + gogc[number > 3] / 100)
        goal = goal if limit is None else min(goal, limit)
    return "".join(lines)


def of_logs(base, new):
    return findings(None, None, logs=(base, new))


def restored(base, new):
    sides = [
        (label, (Capture("log", "gctrace", parse(text.encode(), "log")),))
        for label, text in (("base", base), ("new", new))
    ]
    return compare_logs(tuple(sides)).restored


def test_a_limit_that_the_live_heap_grew_up_to():
    base, new = log(40, limit=110), log(80, limit=110, mark=60.0, every=0.4)
    found = of_logs(base, new)
    limit = found["gc-limit"]
    assert limit.title.startswith(
        "The memory limit (GOMEMLIMIT) binds in new: the live heap grew "
    )
    assert " of the CPU capacity" in limit.title
    assert "GOGC alone makes the goal about 160 MiB" in limit.text
    assert limit.advice.startswith("Raise GOMEMLIMIT, by about ")
    assert (limit.parent, limit.direction) == (None, "worse")
    assert found["gc-cycle-cost"].parent == "gc-limit"
    assert "heap-growth" not in found
    # No GOGC brings back what a limit takes.
    assert restored(base, new) is None
    assert restored(base, log(80)) is not None


def test_a_limit_makes_gc_run_more_often_never_less():
    base = log(40, limit=110)
    rarer = of_logs(base, log(80, limit=135, every=0.7))["gc-frequency"]
    assert ": the mean live heap is 2.00× as large" in rarer.title
    assert rarer.title.endswith("so the heap goal is higher, up to a memory limit")
    oftener = of_logs(log(40), log(40, limit=55, every=0.2))["gc-frequency"]
    assert ": a memory limit (GOMEMLIMIT) binds in new" in oftener.title
    facts = {fact.what: fact.new for fact in oftener.evidence}
    # What the sentence says is what its figures have.
    assert f"its goal is {facts['goal, median']:.1f} MiB" in oftener.title
    assert f"live heap of {facts['live heap, median']:.1f} MiB" in oftener.title


def test_a_program_that_sets_gogc_itself_has_no_limit():
    found = of_logs(log(40), log(80, gogc=(100, 30)))
    assert "gc-limit" not in found
    assert not any("memory limit (" in finding.title for finding in found.values())


def test_where_gogc_is_off_nothing_is_said_of_gogc():
    """The first goal is the limit's then, as later ones are."""
    limit = of_logs(
        log(40, limit=110, gogc=(2750, 2750)), log(80, limit=110, gogc=(2750, 2750))
    )["gc-limit"]
    assert "GOGC alone" not in limit.text
    assert limit.advice.startswith("Raise GOMEMLIMIT or keep less")


def test_the_log_shows_of_a_larger_live_heap():
    found = of_logs(log(40), log(64))
    growth = found["heap-growth"]
    assert growth.title.startswith("The live heap grew ")
    assert growth.title.endswith(" by the GC log (1.60×)")
    assert (growth.severity, growth.direction) == ("minor", "worse")
    back = of_logs(log(64), log(40))["heap-growth"]
    assert (back.direction, back.advice) == ("better", "")


@pytest.mark.parametrize(
    ("base", "new"),
    [
        (log(40), log(42)),
        # Of a few collections, and of a heap of a few MiB.
        (log(40, cycles=4), log(64, cycles=4)),
        (log(2, cycles=30), log(3, cycles=30)),
        # What is allocated while GC marks counts as live.
        (log(40), log(60, during=24)),
    ],
)
def test_a_live_heap_that_is_no_larger_by_itself(base, new):
    assert "heap-growth" not in of_logs(base, new)


def test_an_older_process_may_have_filled_its_heap():
    growth = of_logs(log(40), log(64, cycles=90))["heap-growth"]
    assert growth.severity == "info"
    assert " s old." in growth.text


def test_stops_that_wait_for_a_processor_are_no_cost_of_marking():
    """They are counted as wall time × processors."""
    stopped = log(40, stop=9.0)
    for base, new in ((log(40), stopped), (stopped, log(40))):
        found = of_logs(base, new)
        assert "gc-cycle-cost" not in found
    often = of_logs(stopped, log(40, every=0.2))["gc-frequency"]
    assert "each taking" not in often.text
    assert "GC CPU" not in often.text
    assert "each taking" in of_logs(log(40), log(40, every=0.2))["gc-frequency"].text
    # There is hardly anything left to mark.
    lighter = of_logs(log(40, mark=900.0, stop=2.0), log(40, mark=3.0, stop=2.0))
    assert lighter["gc-cycle-cost"].title.startswith("CPU per GC cycle is 0.0")


@pytest.mark.parametrize(
    ("mark", "samples", "got", "number"),
    [(10.0, 2, False, False), (800.0, 2, True, False), (800.0, 30, True, True)],
)
def test_a_busy_machine_is_news_from_a_tenth_of_a_core_on(mark, samples, got, number):
    sides = cpu(work=800, mark=samples), cpu(work=800, mark=samples)
    logs = log(40, mark=mark), log(40, mark=mark, every=0.2)
    found = findings(*sides, logs=logs)
    assert ("machine-busy" in found) == got
    text = found["gc-frequency"].text
    assert ("by the CPU profile, as the machine was busy" in text) == number
    if got:
        causes = [finding.id for finding in found.values() if finding.parent is None]
        assert causes[-1] == "machine-busy"
