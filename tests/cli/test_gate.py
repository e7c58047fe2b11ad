"""The gate on the command line: exit status, what is printed, files of rules."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.test_whole import complaint

TRIPS, PASSES, NO_DATA = "group:gc:+2pp", "group:alloc:+100%", "bench:allocs/op:+0%"
UNSURE = "group:alloc:+5%"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cpu(syncpool, here):
    """Return the CPU profiles of a story that gets worse."""
    return [side / "cpu.pb.gz" for side in (syncpool.base, syncpool.new)]


@pytest.fixture
def unchanged(data_folder, here):
    """Return CPU profiles of two runs of one build."""
    return [data_folder / "unchanged" / run / "cpu.pb.gz" for run in ("run1", "run2")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ((), 0),
        ((PASSES,), 0),
        ((NO_DATA,), 0),
        ((UNSURE,), 0),
        ((UNSURE, PASSES, NO_DATA), 0),
        ((UNSURE, TRIPS), 1),
        ((TRIPS,), 1),
        ((PASSES, TRIPS, NO_DATA), 1),
    ],
)
def test_the_status_is_one_only_for_a_rule_that_trips(cli, cpu, rules, status):
    words = [word for rule in rules for word in ("--fail-on", rule)]
    done = cli(*cpu, *words)
    assert (done.status, done.err) == (status, "")
    assert ("\nVerdict" in done.out) == bool(rules)
    assert all(f"{rule}:" in done.out for rule in rules)
    warned = f"! {NO_DATA} judged nothing: no benchmark output" in done.out
    assert warned == (NO_DATA in rules)
    assert (f"! {UNSURE} cannot tell: " in done.out) == (UNSURE in rules)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-on=cum"], "--fail-on cum: "),
        (["--fail-on=group:gc:+2pp", "--fail-on=x"], "--fail-on x: there is no rule x"),
        (["--fail-on=total:+50MB"], "--fail-on total:+50MB: cpu is in nanoseconds"),
        (["--fail-on=total:+5"], "--fail-on total:+5: cpu is in nanoseconds"),
        (["--fail-on=total:+5%", "-top"], "--fail-on is for the report"),
        (["--fail-on=total:+5%", "--explain=gc"], "--fail-on is for the report"),
        (["--full", "-top"], "--full is for the report"),
        (["--same-within=1%", "-top"], "--same-within is for the report"),
        (["--only-if-changed", "-proto"], "--only-if-changed is for the report"),
    ],
)
def test_a_mistake_is_two_and_one_line(cli, cpu, words, said):
    assert complaint(cli(*cpu, *words)).startswith(said)


def test_a_mistake_is_said_before_anything_is_read(cli, here):
    said = complaint(cli("no.such.file", "nor.this", "--fail-on=group:gcc:+1%"))
    assert said.startswith("--fail-on group:gcc:+1%: there is no group gcc")


def test_quiet_says_what_tripped_and_what_had_no_data(cli, cpu):
    words = [f"--fail-on={rule}" for rule in (PASSES, TRIPS, NO_DATA)]
    done = cli(*cpu, *words, "-q")
    assert (done.status, done.out) == (1, "")
    failed, silent = done.err.splitlines()
    assert failed.startswith(f"fail: {TRIPS}: gc 11.0 → 21.1% of the total, ")
    assert failed.endswith("; limit +2pp")
    assert silent.startswith(f"no data: {NO_DATA}: no benchmark output is compared")


def test_only_if_changed_is_silent_within_noise(cli, unchanged, here):
    done = cli(*unchanged, "--only-if-changed", "-o", "x.json", "--fail-on", PASSES)
    assert done == (0, "", "")
    assert not (here / "x.json").exists()


@pytest.mark.parametrize(
    ("rule", "said"), [(NO_DATA, "no data"), (UNSURE, "cannot tell")]
)
def test_but_says_what_was_not_judged(cli, unchanged, rule, said):
    done = cli(*unchanged, "--only-if-changed", "--fail-on", rule)
    assert (done.status, done.out) == (0, "")
    assert done.err.startswith(f"{said}: {rule}: ")


@pytest.mark.slow
def test_one_run_a_side_is_reported_what_to_do_in_one_line(cli, cpu, here):
    """Whatever the limits, one sentence; and what is not sure is no strict pass."""
    words = ["--work=10088400:8579600", "--fail-on=total:+5%", "--fail-on=total:+60%"]
    done = cli(*cpu, *words)
    assert (done.status, done.err) == (0, "")
    said = " ".join(done.out.split())
    assert "Verdict cannot tell: 0 of 2 rules tripped, 2 cannot tell" in said
    assert "+15.3% (−23.9% to +74.8%); limit +5%." in said
    assert said.count("one run per side does not show how far runs differ") == 1
    assert (
        "! total:+5%, total:+60% cannot tell: one run per side does not show how far runs "
        "differ: measure several, in turns (pprofdiff measure, or a folder per run)"
    ) in said
    done = cli(*cpu, *words, "-q", "-o", "x.md", "-o", "x.html")
    first, second = done.err.splitlines()
    for line, limit in ((first, "+5%"), (second, "+60%")):
        assert line.startswith(f"cannot tell: total:{limit}: all of cpu 2.319 → 2.674 ")
        assert line.endswith("(pprofdiff measure, or a folder per run)")
    assert "**Verdict** cannot tell: " in Path("x.md").read_text("utf-8")
    assert "- cannot tell: `total:+5%`: " in Path("x.md").read_text("utf-8")
    page = Path("x.html").read_text("utf-8")
    assert '<li class="cannot-tell"><b>cannot tell</b> <code>total:+5%</code>' in page
    assert cli(*cpu, *words, "-q", "--strict").status == 1
    # Beyond what runs of one build differ by, one run is enough.
    wide = [words[0], "--fail-on=total:+80%", "--strict", "-q"]
    assert cli(*cpu, *wide) == (0, "", "")


def test_and_reports_a_rule_that_trips_though_nothing_moved(cli, unchanged, here):
    unchanged.sort(key=lambda p: len(p.read_bytes()))
    words = ["--only-if-changed", "--strict", "--fail-on=flat:.:+0%", "-o", "x.json"]
    done = cli(*unchanged, *words)
    assert done.status == 1
    assert "\nVerdict   fail: 1 of 1 rule tripped\n" in done.out
    assert (here / "x.json").exists()


def test_and_benchmarks_tell_too(cli, data_folder, here):
    base, new = (data_folder / "zstd" / side / "bench.txt" for side in ("base", "new"))
    assert "Compress" in cli(base, new, "--only-if-changed").out
    assert cli(base, base, "--only-if-changed") == (0, "", "")


@pytest.mark.slow
def test_and_reports_what_moved_for_better_or_worse(cli, cpu, here):
    for pair in (cpu, cpu[::-1]):
        done = cli(*pair, "--only-if-changed", "-o", "x.json")
        assert (done.status, done.err) == (0, "")
        assert re.search(r"^GC .* [▲▼] ", done.out, re.MULTILINE)
        (here / "x.json").unlink()


FILES = {
    "pprofdiff.toml": "{}",
    "pyproject.toml": '[project]\nname = "x"\n\n[tool.pprofdiff]\n{}',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_rules_are_kept_in_a_file(cli, cpu, here, name):
    kept = f'fail-on = ["{PASSES}", "{TRIPS}"]\n'
    (here / name).write_text(FILES[name].format(kept), "utf-8")
    assert cli(*cpu).status == 1
    # What is typed counts instead.
    done = cli(*cpu, "--fail-on", PASSES)
    assert (done.status, TRIPS in done.out) == (0, False)
    # Other views have no verdict.
    assert cli(*cpu, "-top").status == 0
    assert cli(*cpu, "--explain=gc.mark").status == 0


def test_a_kept_gate_may_be_strict(cli, cpu, here):
    (here / "pprofdiff.toml").write_text(f'fail-on = ["{NO_DATA}"]', "utf-8")
    assert cli(*cpu).status == 0
    with (here / "pprofdiff.toml").open("a") as file:
        file.write("\nstrict = true\n")
    assert cli(*cpu).status == 1


def test_the_file_of_ones_own_comes_first(cli, cpu, here):
    for name, rule in zip(FILES, (PASSES, TRIPS), strict=True):
        text = FILES[name].format(f'fail-on = ["{rule}"]\n')
        (here / name).write_text(text, "utf-8")
    assert cli(*cpu).status == 0


def test_a_project_that_never_names_us_may_be_broken(cli, cpu, here):
    (here / "pyproject.toml").write_text("[tool.other\n", "utf-8")
    assert cli(*cpu).status == 0
    (here / "pyproject.toml").write_text("[tool.other]\nuses = 'pprofdiff'\n", "utf-8")
    assert cli(*cpu).status == 0


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ('fail_on = ["total:+5%"]', "unknown setting fail_on; known settings: fail-on"),
        ('fail-on = "total:+5%"', "fail-on is a list of rules, such as"),
        ("fail-on = [5]", "fail-on is a list of rules, such as"),
        ("strict = 1", "strict is true or false"),
        ("fail-on = [", "is not TOML: "),
    ],
)
def test_a_mistake_in_a_file_names_the_file(cli, cpu, here, name, kept, said):
    (here / name).write_text(FILES[name].format(kept), "utf-8")
    assert complaint(cli(*cpu)).startswith(f"{name}: {said}")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"x" * 100_000, b"[" * 50_000, b'a = "\x00"']
)
def test_whatever_bytes_a_file_holds(cli, cpu, here, content):
    (here / "pprofdiff.toml").write_bytes(content)
    assert complaint(cli(*cpu)).startswith("pprofdiff.toml: ")


def test_a_folder_of_that_name_is_said(cli, cpu, here):
    (here / "pprofdiff.toml").mkdir()
    assert complaint(cli(*cpu)).startswith("pprofdiff.toml: cannot be read: ")


def test_a_wrong_rule_in_a_file_is_a_mistake(cli, cpu, here):
    (here / "pprofdiff.toml").write_text('fail-on = ["cum:main"]', "utf-8")
    assert complaint(cli(*cpu)).startswith("pprofdiff.toml: fail-on cum:main: ")
    # What is typed is not the file's.
    said = complaint(cli(*cpu, "--fail-on", "cum:main"))
    assert said.startswith("--fail-on cum:main: ")


@pytest.mark.slow
def test_a_pattern_in_a_file_is_not_searched_for_for_ever(
    cli, cpu, here, brief_searches
):
    (here / "pprofdiff.toml").write_text("fail-on = ['cum:(.|..)+[!#]$:+5%']", "utf-8")
    said = complaint(cli(*cpu))
    assert said.startswith("pprofdiff.toml: fail-on cum:")
    assert "takes too long to search for" in said


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_of_settings_is_not_read(cli, cpu, here, name):
    path = here / name
    os.mkfifo(path)  # nobody writes to it
    assert complaint(cli(*cpu)).startswith(f"{name}: not a settings file")
    path.unlink()
    path.symlink_to("/dev/zero")
    assert complaint(cli(*cpu)).startswith(f"{name}: not a settings file")
    path.unlink()
    path.write_text("# " + "pprofdiff " * 200_000, "utf-8")
    assert complaint(cli(*cpu)).startswith(f"{name}: not a settings file")


def test_json_has_the_verdict(cli, cpu, here):
    rules = (TRIPS, PASSES, NO_DATA, "finding:major", UNSURE)
    cli(*cpu, *(f"--fail-on={rule}" for rule in rules), "-o", "x.json", "-q")
    report = json.loads(Path("x.json").read_text("utf-8"))
    verdict = report["verdict"]
    assert verdict["outcome"] == "fail"
    assert [row["rule"] for row in verdict["rules"]] == list(rules)
    fields = {"rule", "outcome", "what", "figure", "limit", "unit", "noise", "matched"}
    fields |= {"tripped", "base_scaled", "new_scaled", "delta_scaled", "needs"}
    fields |= {"low_scaled", "high_scaled", "limit_scaled"}
    for row in verdict["rules"]:
        assert set(row) == fields
        assert row["outcome"] in ("pass", "fail", "cannot tell", "no data")
        assert (row["needs"] is None) == (row["outcome"] != "cannot tell")
    tripped, passed, silent, finding, unsure = verdict["rules"]
    assert tripped["low_scaled"] > tripped["limit_scaled"] == 2
    assert passed["high_scaled"] <= passed["limit_scaled"]
    assert unsure["low_scaled"] <= unsure["limit_scaled"] < unsure["high_scaled"]
    assert unsure["limit_scaled"] == 0.05 * unsure["base_scaled"]
    for row in (silent, finding):
        assert row["low_scaled"] is row["high_scaled"] is row["limit_scaled"] is None
    assert (tripped["unit"], tripped["limit"]) == ("pp", "+2pp")
    assert tripped["delta_scaled"] == tripped["new_scaled"] - tripped["base_scaled"] > 2
    assert passed["noise"] is True
    assert silent["what"] is silent["delta_scaled"] is None
    assert finding["limit"] is None
    assert [w["id"] for w in report["warnings"]].count("gate-no-data") == 1
