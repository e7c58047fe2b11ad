"""Rules on waits: planted ends, and names that none has."""

from tests.analysis.traces.capture import planted
from tests.field.capture import PAIRS

SYNCED = PAIRS / "sync-gone-bbolt"


def test_a_planted_wait_trips_the_rules_that_name_its_end(judged):
    rules = (
        "wait:sleep:+10%", "wait:timer:+10%", "wait:^main[.]lockSleep:+1ms",
        "wait:fsync:+10%", "wait:syscall:+10%",
    )  # fmt: skip
    _, there = judged(planted("fsync"), planted("sleep"), *rules)
    assert [there[r]["outcome"] for r in rules] == [*["fail"] * 3, *["pass"] * 2]
    _, back = judged(planted("sleep"), planted("fsync"), *rules)
    assert [back[r]["outcome"] for r in rules] == [*["pass"] * 3, *["fail"] * 2]


def test_runs_of_one_program_pass(judged):
    rules = ("wait:time[.]Sleep:+10%", "wait:gc:+10%", "wait:created:+1us")
    outcome, _ = judged(planted("sleep"), planted("sleep"), *rules[1:])
    assert outcome == "pass"
    _, rows = judged(planted("sleep"), planted("sleep"), rules[0])
    assert rows[rules[0]]["outcome"] == "cannot tell"


def test_a_name_that_no_wait_ends_in_is_an_error(cli):
    done = cli(SYNCED / "base", SYNCED / "new", "--fail-on", "wait:fdatsync:+10%")
    assert done.status == 2
    assert done.err.startswith(
        "pprofdiff: --fail-on wait:fdatsync:+10%: no wait ends in fdatsync; the nearest "
        "are syscall.Fdatasync, bbolt.fdatasync; kinds are running, processor, "
    )


def test_without_traces_there_is_no_data(judged, data_folder):
    profiles = (data_folder / "zstd" / side / "cpu.pb.gz" for side in ("base", "new"))
    _, rows = judged(*profiles, "wait:timer:+10%")
    assert rows["wait:timer:+10%"]["outcome"] == "no data"
