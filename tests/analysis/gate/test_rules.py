"""Each kind of rule trips on a story, and not on the story backwards.

That none trips on unchanged runs is `test_unchanged`.
"""

import json
from collections import defaultdict

import pytest

from pprofdiff.analysis.gate.forms import RULES
from tests.field.capture import PAIRS

# Rules that trip on a story forwards (or backwards), by file.
SYNCPOOL = ("syncpool", 1, "cpu.pb.gz", ("--work=10088400:8579600",))
SEARCH = ("rss-search", -1, "cpu.pb.gz", ("--work=77125:42490",))
TOLD = [
    ("total:+5%", *SEARCH),
    ("total@samples:+5%", *SEARCH[:3], (*SEARCH[3], "-sample_index=samples")),
    ("group:gc:+2pp", *SYNCPOOL),
    ("group:gc:+25%", *SYNCPOOL),
    ("group:gc:+100ns", *SYNCPOOL),
    ("category:gc.mark.assist:+1pp", *SYNCPOOL),
    (r"cum:runtime\.gcAssistAlloc$:+5%", *SYNCPOOL),
    ("package:^strings$:+10pp", "rss-search", -1, "cpu.pb.gz", ()),
    (r"cum:^strings\.ToLower$:+0.5pp", "rss-search", -1, "cpu.pb.gz", ()),
    (r"flat:bytealg\.MakeNoZero$:+5%", "rss-search", -1, "allocs.pb.gz", ()),
    (
        r"cum@allocs:ToLower:+20KB",
        "rss-search",
        -1,
        "allocs.pb.gz",
        ("--work=102276:56307",),
    ),
    ("bench:allocs/op:+0%", "zstd", -1, "bench.txt", ()),
    ("bench:allocs/op:+5", "zstd", -1, "bench.txt", ()),
    ("bench:ns/op:^Compress-:+5%", "zstd", -1, "bench.txt", ()),
    ("bench:MB/s:^Compress-:-5%", "zstd", -1, "bench.txt", ()),
    ("unit:^Compress$:+5%", "zstd", -1, "bench.txt", ()),
    ("load:p50:+10%", "load/runs", 1, "", ()),
    ("load:mean:+100us", "load/runs", 1, "", ()),
    ("load:failed:+1pp", "load/runs", 1, "", ()),
    ("figure:p99_pause_us:+10%", "pauses", 1, "", ()),
    ("figure:p99_pause_us:+100us", "pauses", 1, "", ()),
    ("figure@gctrace:worst_pause_us:+10%", "pauses", 1, "", ()),
    ("figure:p99_pause_us:20ms", "pauses", 1, "", ()),
    ("wait:fdatasync:+10%", "bbolt", -1, "", ()),
    ("wait:fdatasync:+100us", "bbolt", -1, "", ()),
    ("wait:syscall:+10%", "bbolt", -1, "", ()),
    ("finding:major", "node-pool", -1, "cpu.pb.gz", ("--work=1:1",)),
    ("finding:minor", *SYNCPOOL),
]

# One report judges all rules of a pair.
RUNS = defaultdict(list)
for _rule, *_run in TOLD:
    RUNS[tuple(_run)].append(_rule)


def sides(data_folder, story, direction, file):
    """Return both files, the other way round for -1."""
    folder = PAIRS / "sync-gone-bbolt" if story == "bbolt" else data_folder / story
    base, new = (folder / side / file for side in ("base", "new"))
    return (base, new)[::direction]


def test_there_is_a_story_for_every_kind():
    kinds = {rule.partition(":")[0].partition("@")[0] for rule, *_ in TOLD}
    assert kinds == {form.kind for form in RULES}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("got", RUNS, ids=str)
def test_a_rule_trips_where_the_story_gets_worse(judged, data_folder, got):
    story, direction, file, words = got
    outcome, rows = judged(
        *sides(data_folder, story, direction, file), *RUNS[got], words=words
    )
    assert outcome == "fail"
    for rule, row in rows.items():
        assert row["outcome"] == "fail", rule
        assert row["tripped"] >= 1
        assert row["noise"] is False
        less = rule.startswith("bench:MB/s:")
        assert (row["base_scaled"] < row["new_scaled"]) != less


@pytest.mark.slow
def test_a_rate_within_noise_trips_no_rule(judged, data_folder):
    """Four runs a side overlap: 0.23 times the rate, up to the same rate."""
    folders = sides(data_folder, "load/runs", 1, "")
    outcome, rows = judged(*folders, "load:rate:-5%")
    (row,) = rows.values()
    assert (outcome, row["outcome"], row["noise"]) == (
        "cannot tell",
        "cannot tell",
        True,
    )
    assert judged(*folders[::-1], "load:rate:-5%")[0] == "pass"


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("got", RUNS, ids=str)
def test_and_not_where_it_gets_better(judged, data_folder, got):
    story, direction, file, words = got
    rules, words = RUNS[got], tuple(_turned(word) for word in words)
    base, new = sides(data_folder, story, -direction, file)
    for strict in ((), ("--strict",)):
        outcome, rows = judged(base, new, *rules, words=(*words, *strict))
        assert outcome == "pass", rows
        for row in rows.values():
            assert row["outcome"] == "pass", row
            assert row["matched"] >= 1
            assert row["tripped"] == 0


def _turned(word):
    """Return ``--work=BASE:NEW`` with its sides exchanged, and any other word."""
    flag, _, pair = word.partition("=")
    return f"{flag}={':'.join(reversed(pair.split(':')))}" if flag == "--work" else word


@pytest.mark.slow
def test_the_figures_match_the_report(judged, data_folder, tmp_path):
    rules = ("group:gc:+2pp", "total:+5%", "figure:p99_pause_us:+10%")
    words = SYNCPOOL[-1]
    judged(*sides(data_folder, "syncpool", 1, ""), *rules, words=words)
    report = json.loads((tmp_path / "x.json").read_text("utf-8"))
    cpu, *_ = (c for c in report["comparisons"] if c.get("name") == "cpu")
    gc = next(c for c in report["comparisons"] if c["kind"] == "gctrace")
    group, total, pause = report["verdict"]["rules"]
    by = cpu["normalization"]
    (raw,) = (g for g in cpu["groups"] if g["id"] == "gc")
    for side in ("base", "new"):
        share = 100 * raw[side] / cpu["total"][side]
        assert group[f"{side}_scaled"] == pytest.approx(share)
        assert total[f"{side}_scaled"] == cpu["total"][side] * by[f"{side}_factor"]
        assert pause[f"{side}_scaled"] == gc[side]["p99_pause_ms"] * 1e6


# Of two profiles whose work nobody knows, shares are judged, and no amounts.
SHARES = {
    "group:gc:+2pp": "fail",
    "group:gc:+25%": "fail",
    "group:gc:+150%": "cannot tell",
    "category:gc.mark.assist:+1pp": "fail",
    r"cum:runtime\.scanSpan$:+1pp": "fail",
    "total:+0%": "no data",
    "total:+500ms": "no data",
    "total@samples:+0%": "no data",
    "group:gc:+1ns": "no data",
    "category:gc.mark.assist:+1ns": "no data",
    r"cum:runtime\.gcDrain$:+1ns": "no data",
    "package:^runtime$:+1ns": "no data",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["", "samples"])
def test_shares_alone_show_shares(judged, data_folder, unit):
    rules = [rule for rule in SHARES if ("@samples" in rule) == bool(unit)]
    words = ["-sample_index=samples"] if unit else []
    files = sides(data_folder, "zstd", -1, "cpu.pb.gz")
    _, rows = judged(*files, *rules, words=words)
    for rule, row in rows.items():
        assert row["outcome"] == SHARES[rule]
        if row["outcome"] == "no data":
            assert "the work is not known: --work BASE:NEW" in row["figure"]
            assert row["base_scaled"] is row["new_scaled"] is row["noise"] is None
            assert row["matched"] == 0
        else:
            assert 0 < row["base_scaled"] < row["new_scaled"] < 100
            assert row["unit"] == ("pp" if rule.endswith("pp") else "%")
    _, rows = judged(*files, *rules, words=[*words, "--strict"])
    assert {row["outcome"] for row in rows.values()} == {"fail"}
    # The same rules have data where the work is known.
    _, rows = judged(*files, *rules, words=[*words, "--work=1:1"])
    assert "no data" not in {row["outcome"] for row in rows.values()}


# Of two profiles whose unchanged code shows the work, amounts are judged as well: a total
# by its ratio, whose interval is the outcome's.
ABOUT = {
    "group:gc:+2pp": "fail",
    "group:gc:+25%": "fail",
    "group:gc:+50%": "cannot tell",
    "group:gc:+500%": "pass",
    r"cum:runtime\.gcDrain$:+5%": "cannot tell",
    "category:gc.mark.assist:+500ms": "fail",
    "total:+0%": "cannot tell",
    "total:+25%": "pass",
    "total@samples:+25%": "pass",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["", "samples"])
def test_amounts_at_about_equal_work_are_judged(judged, data_folder, tmp_path, unit):
    rules = [rule for rule in ABOUT if ("@samples" in rule) == bool(unit)]
    words = ["-sample_index=samples"] if unit else []
    files = sides(data_folder, "syncpool", 1, "cpu.pb.gz")
    _, rows = judged(*files, *rules, words=words)
    assert {rule: row["outcome"] for rule, row in rows.items()} == {
        rule: ABOUT[rule] for rule in rules
    }
    document = json.loads((tmp_path / "x.json").read_text("utf-8"))
    by = document["comparisons"][0]["normalization"]
    assert by["mode"] == "about"
    assert by["new_factor"] == 1 / by["inferred_work"]["ratio"]


def test_a_total_that_is_scaled_to_the_other_shows_nothing(judged, data_folder):
    files = sides(data_folder, "syncpool", 1, "cpu.pb.gz")
    outcome, rows = judged(*files, "total:+0%", words=["-normalize"])
    assert (outcome, rows["total:+0%"]["outcome"]) == ("none", "no data")
    assert "-normalize" in rows["total:+0%"]["figure"]


def test_allocations_since_the_start_are_no_operations_of_a_window(judged, data_folder):
    """Work that is known a second says nothing of a time that nobody knows."""
    files = sides(data_folder, "syncpool", 1, "allocs.pb.gz")
    rule = "total:+0%"
    _, rows = judged(*files, rule, words=["--rps=1:2"])
    assert rows[rule]["outcome"] == "no data"
    assert "since the process began" in rows[rule]["figure"]


NOTHING = {
    "cum:no.such.function:+5%": "no function on either side of cpu matches",
    "package:no/such:+5%": "no package on either side of cpu matches",
    "total@block:+5%": "no block profile is compared; there are: cpu",
    "bench:allocs/op:+0%": "no benchmark output is compared",
    "figure:p99_pause_us:+10%": "no GC log or trace has it on both sides",
    "figure@trace:gc.stw:1ms": "no trace has it on both sides",
}


@pytest.mark.slow
def test_what_matches_nothing_is_no_pass(judged, syncpool):
    base, new = (side / "cpu.pb.gz" for side in (syncpool.base, syncpool.new))
    outcome, rows = judged(base, new, *NOTHING)
    assert outcome == "none"
    for rule, why in NOTHING.items():
        row = rows[rule]
        assert (row["outcome"], row["figure"], row["matched"]) == ("no data", why, 0)
        assert row["base_scaled"] is row["new_scaled"] is row["noise"] is None
    outcome, rows = judged(base, new, *NOTHING, words=["--strict"])
    assert outcome == "fail"
    assert {row["outcome"] for row in rows.values()} == {"fail"}


def test_one_rule_with_data_makes_a_pass_next_to_one_without(judged, syncpool):
    base, new = (side / "cpu.pb.gz" for side in (syncpool.base, syncpool.new))
    rules = "group:alloc:+50%", "cum:no.such:+5%"
    outcome, rows = judged(base, new, *rules)
    assert outcome == "pass"
    assert [row["outcome"] for row in rows.values()] == ["pass", "no data"]


def test_where_chance_has_no_model_only_a_strict_gate_judges(judged, data_folder):
    base, new = sides(data_folder, "syncpool", 1, "block.pb.gz")
    rule = "total:+0%"
    _, rows = judged(base, new, rule)
    assert rows[rule]["outcome"] == "no data"
    assert rows[rule]["noise"] is None
    assert "by chance" in rows[rule]["figure"]
    outcome, rows = judged(base, new, rule, words=["--strict"])
    assert outcome == rows[rule]["outcome"] == "fail"


def bench(path, *values, unit="allocs/op"):
    """Write benchmark output: one line a value."""
    lines = "".join(f"BenchmarkX-2 \t 100\t {value} {unit}\n" for value in values)
    path.write_text(lines, "utf-8")
    return path


# Base, new, the outcome, and a strict gate's.
SAMPLES = {
    "apart": ((3,) * 6, (4,) * 6, "fail", "fail"),
    "one each": ((3,), (4,), "no data", "fail"),
    "two each": ((3,) * 2, (4,) * 2, "no data", "fail"),
    "three each": ((3,) * 3, (4,) * 3, "fail", "fail"),
    "three that differ": ((3, 3, 4), (4, 4, 5), "no data", "fail"),
    "overlapping": ((3, 5, 3, 5, 4, 4), (5, 3, 4, 5, 4, 5), "cannot tell", "fail"),
    "less": ((30, 31, 32, 33, 34, 35), (3, 5, 3, 5, 4, 4), "pass", "pass"),
    "equal": ((3,) * 6, (3,) * 6, "pass", "pass"),
    "from none": ((0,) * 6, (1,) * 6, "fail", "fail"),
    "to none": ((1,) * 6, (0,) * 6, "pass", "pass"),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_benchmarks_are_judged_by_what_the_u_test_leaves(judged, tmp_path, case):
    base, new, got, strict = SAMPLES[case]
    files = bench(tmp_path / "a.txt", *base), bench(tmp_path / "b.txt", *new)
    rule = "bench:allocs/op:+0%"
    _, rows = judged(*files, rule)
    assert rows[rule]["outcome"] == got
    _, rows = judged(*files, rule, words=["--strict"])
    assert rows[rule]["outcome"] == strict


def test_a_limit_in_a_benchmarks_own_unit(judged, tmp_path):
    files = [
        bench(tmp_path / name, *values, unit="ns/op")
        for name, values in (("a.txt", [1000] * 6), ("b.txt", [1060] * 6))
    ]
    outcomes = {
        "bench:ns/op:+50": "fail",
        "bench:ns/op:+60": "pass",
        "bench:sec/op:+0.00000005": "fail",
        "bench:sec/op:+0.00000007": "pass",
        "bench:ns/op:+5%": "fail",
        "bench:ns/op:+6%": "pass",
        "bench:ns/op:Y:+6%": "no data",
        "bench:B/op:+6%": "no data",
    }
    _, rows = judged(*files, *outcomes)
    assert {rule: row["outcome"] for rule, row in rows.items()} == outcomes
