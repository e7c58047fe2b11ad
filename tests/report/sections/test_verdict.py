"""The verdict in the text report: as it was last looked at."""

from __future__ import annotations

import re

import pytest

import pprofdiff
from pprofdiff.report.sections.outcome import outcome_text
from tests.report.golden import check

CASES = {
    "gate.fail": (
        "syncpool/{}/cpu.pb.gz",
        ["group:gc:+2pp", "total:+5%", "category:gc.mark.assist:+1pp", r"cum:ingest\.:+5%", "finding:minor", "figure:p99_pause_us:+10%"],
    ),
    "gate.pass": ("syncpool/{}/cpu.pb.gz", ["group:alloc:+4pp", "group:alloc:+60%"]),
    "gate.cannot-tell": ("syncpool/{}/cpu.pb.gz", ["group:alloc:+5%", "cum:ingest:+5%", "group:alloc:+60%"]),
    "gate.no-data": ("syncpool/{}/block.pb.gz", ["cum:http:+5%", "cum:nosuch:+5%", "bench:ns/op:+5%"]),
    "gate.benchmarks": ("zstd/{}/bench.txt", ["bench:allocs/op:+0%", "bench:ns/op:Old:+5%", "bench:MB/s:-5%"]),
    "gate.pauses": ("pauses/{}", ["figure:p99_pause_us:+10%", "figure:p99_pause_us:20ms", "figure:worst_pause_us:+1000000%"]),
    "gate.one-run": ("syncpool/{}/gctrace.log", ["figure:p99_pause_us:+10%", "figure:p99_pause_us:1ms", "figure:worst_pause_us:+0%"]),
}  # fmt: skip


def verdict(out):
    """Return the block of the verdict, and the warnings."""
    lines = out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("Verdict"))
    last = next(i for i, line in enumerate(lines[first + 2 :], first + 2) if not line)
    assert lines[first + 1] == ""
    warned = [line for line in lines if re.match("! .*(judged|tell)", line)]
    return "\n".join([*lines[first:last], *warned])


def words_of(name):
    """Return what is typed in a case: the sides, and the rules."""
    place, rules = CASES[name]
    sides = [f"main={place.format('base')}", f"pr={place.format('new')}"]
    return sides, [f"--fail-on={rule}" for rule in rules]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_as_it_was_last_looked_at(cli, data_folder, monkeypatch, name):
    monkeypatch.chdir(data_folder)
    sides, rules = words_of(name)
    done = cli(*sides, *rules, "--full")
    assert (done.status, done.err) == (int("fail" in name or "pauses" in name), "")
    check(name, verdict(done.out))
    # Above it stands the outcome of what was compared: nothing else.
    above = done.out.partition("\nVerdict")[0]
    assert above.startswith("main → pr   ")
    sentences = above.removeprefix("main → pr   ").rstrip("\n").split("\n\n")
    compared = pprofdiff.compare(*sides)
    got = outcome_text(compared.report().outcome)
    words = [got.headline, *(sentence.text for sentence in got.below)]
    assert [" ".join(some.split()) for some in sentences] == words
    # The rules change nothing of that.
    assert cli(*sides, "--full").out.startswith(above)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_answer_has_it_too_and_what_tripped_comes_first(
    cli, data_folder, monkeypatch, name
):
    monkeypatch.chdir(data_folder)
    sides, rules = words_of(name)
    short = cli(*sides, *rules).out.partition("\nVerdict")[2].partition("\n\n")[0]
    full = verdict(cli(*sides, *rules, "--full").out).splitlines()
    outcomes = ("fail", "cannot tell", "no data", "pass")

    def begun(lines):
        begins = (re.match("|".join(outcomes), line) for line in lines)
        return [begin[0] for begin in begins if begin]

    got = begun(short.splitlines()[1:])
    assert got == sorted(begun(full[1:]), key=outcomes.index)


@pytest.mark.slow
def test_a_hostile_rule_does_not_move_the_cursor(cli, syncpool):
    sides = [side / "cpu.pb.gz" for side in (syncpool.base, syncpool.new)]
    for words in ((), ("-q",)):
        done = cli(*sides, "--fail-on=cum:\x1b\r\n2J:+5%", *words)
        assert done.status == 0
        text = done.out + done.err
        assert "\\x1b\\r\\n2J" in text
        assert all(line.isprintable() for line in text.splitlines())
