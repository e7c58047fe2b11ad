"""Several profiles of one process are one run: what an agent uploaded, and runs."""

import re

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.side import measure
from pprofdiff.analysis.windows import joined
from pprofdiff.model.side import Capture, Side
from tests.conftest import DATA, capture


def side(folder, label="base"):
    """Return the profiles of a folder as the captures of one side."""
    paths = sorted((DATA / folder).rglob("*.p*"))
    return Side(label, tuple(Capture(str(p), "profile", capture(p)) for p in paths))


def uploaded():
    """Return what pyroscope-go uploaded in 16 s: three windows of CPU, three heaps."""
    one = side("agent/base")
    kinds = [measure(capture) for capture in one.captures]
    assert sorted(kinds) == ["cpu"] * 3 + ["heap"] * 3
    return one, dict(zip(kinds, one.captures, strict=True))


def test_windows_are_added_up():
    given, _ = uploaded()
    cpu, heap = sorted(joined(given).captures, key=measure)
    assert (cpu.of_process, heap.of_process) == (3, 3)
    profiles = [one.content for one in given.captures if measure(one) == "cpu"]
    total = sum(int(one.values.sum()) for one in profiles)
    assert int(cpu.content.values.sum()) == total
    assert cpu.content.duration_ns == sum(one.duration_ns for one in profiles)
    assert heap.deltas


@pytest.mark.parametrize("folder", ["agent", "datadog-go"])
@pytest.mark.parametrize("build", ["base", "new"])
def test_counts_of_deltas_are_added_up_and_in_use_is_the_latest(folder, build):
    given = side(f"{folder}/{build}")
    heaps = [one.content for one in given.captures if measure(one) == "heap"]
    (one,) = (c.content for c in joined(given).captures if measure(c) == "heap")
    latest = max(heaps, key=lambda heap: heap.time_ns)
    for column, value in enumerate(one.sample_types):
        sums = [int(heap.values[:, column].sum()) for heap in heaps]
        in_use = value.type.startswith("inuse_")
        expected = int(latest.values[:, column].sum()) if in_use else sum(sums)
        assert int(one.values[:, column].sum()) == expected
    assert one.time_ns == latest.time_ns


def test_the_latest_of_counts_since_the_process_began_is_kept():
    given, _ = uploaded()
    heaps = [one for one in given.captures if measure(one) == "heap"]
    first = min((one.content for one in heaps), key=lambda one: one.time_ns)
    since = [
        replace(
            one,
            content=replace(
                first, values=first.values * n, time_ns=first.time_ns + n * 10**9
            ),
        )
        for n, one in enumerate(heaps, start=1)
    ]
    (kept,) = joined(replace(given, captures=tuple(since))).captures
    assert kept.content is since[-1].content
    assert (kept.of_process, kept.deltas) == (3, False)


def test_code_of_windows_that_may_differ_by_chance_is_no_cause(cli):
    """`main.label` is another; `main.serve`, which calls it, has not changed."""
    out = cli(
        *(DATA / f"datadog-go/{side}" for side in ("base", "new")),
        *("--work", "964801:570307"),
    ).out
    assert "1. main.label uses" in out
    assert "main.serve uses" not in out


def test_allocation_without_a_profile_of_it_is_of_the_function_that_pays(cli):
    """The windows' start is unknown, so that only CPU samples show allocation."""
    out = cli(
        *(DATA / f"datadog-go/{side}" for side in ("base", "new")),
        *("--work", "964801:570307", "--full"),
    ).out
    found = " ".join(out.partition("\n2. ")[0].split())
    assert "↳ Allocation costs more. major Total 1.21 → 4.10 µs/op" in found
    assert "Mostly in main.label (0.07 → 3.19 µs/op). " in found
    assert "↳ Sweeping and write barriers cost more. major" in found
    assert "Not explained" not in out


def test_what_windows_count_was_not_allocated_since_the_process_started(cli):
    out = cli(DATA / "datadog-go/base", DATA / "datadog-go/new").out
    found = " ".join(out.partition("\nWhy")[2].split())
    assert "25,912 objects, 0.1% of what it allocated while profiled:" in found
    assert "since the process started" not in found


def test_a_process_is_one_run_whatever_its_profiles_are_named():
    comparison = compare_sides(side("agent/base"), side("agent/new", "new"))
    assert {len(one.base.runs) for one in comparison.profiles} == {1}
    assert {one.run for one in comparison.base.captures} == {0}


def test_threads_show_the_process_too(cli):
    """`Ledger.balance` calls deepcopy; a thread's id is no unit of work.

    In base it has too few of the 303 samples to show that it did not call that before.
    """
    found = cli(DATA / "datadog/base", DATA / "datadog/new", "--work", "4618:3705").out
    assert "3 CPU profiles of one process; their windows are added up" in found
    assert "1. Ledger.balance uses more CPU" in found
    assert "cpu 303 samples in 12.1 s" in found
    assert "by thread" not in found


@pytest.mark.parametrize("work", [(), ("--work", "38438:7357")])
def test_windows_that_adjoin_to_the_nanosecond_are_of_one_process(cli, work):
    """Nothing else in Pyroscope's profiles of Python does; `Till.tax` uses Decimal."""
    out = cli(DATA / "pyroscope/base", DATA / "pyroscope/new", *work).out
    assert "2 CPU profiles of one process; their windows are added up" in out
    assert re.search(r"\n1\. Till\.tax\.<locals>\.<genexpr>", out)
    assert "Till.names" not in out.partition("\nWhy")[2].partition("\n\n")[0]


def test_windows_with_a_gap_or_of_two_hosts_stay_runs():
    one = side("pyroscope/base")
    first, second = sorted(one.captures, key=lambda c: c.content.time_ns)
    late = replace(second.content, time_ns=second.content.time_ns + 1)
    for captures in (
        (first, replace(second, content=late)),
        (first, replace(first, path="host-2"), second, replace(second, path="host-2")),
    ):
        given = replace(one, captures=captures)
        assert joined(given) is given


def test_other_processes_stay_runs():
    eight = side("unchanged")
    assert joined(eight) is eight


def test_windows_that_overlap_or_lack_randomized_addresses_stay_runs():
    given, _ = uploaded()
    of_cpu = replace(
        given, captures=tuple(one for one in given.captures if measure(one) == "cpu")
    )

    def changed(**fields):
        contents = [replace(one.content, **fields) for one in of_cpu.captures]
        pairs = zip(of_cpu.captures, contents, strict=True)
        return replace(
            of_cpu, captures=tuple(replace(one, content=c) for one, c in pairs)
        )

    fixed = tuple(
        replace(one, start=0x7FFFF7FC1000) if one.file == "[vdso]" else one
        for one in of_cpu.captures[0].content.mappings
    )
    for apart in (
        changed(time_ns=of_cpu.captures[0].content.time_ns),
        changed(mappings=fixed),
        changed(mappings=()),
    ):
        assert joined(apart) is apart
    assert len(joined(of_cpu).captures) == 1
