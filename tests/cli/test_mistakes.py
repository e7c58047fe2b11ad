"""What is reported of plausible mistakes: which word or file, what is wrong, what to do."""

import pytest

CPU = ("syncpool/base/cpu.pb.gz", "syncpool/new/cpu.pb.gz")
TRACES = ("health-check/base/trace.out", "health-check/new/trace.out")
MISTAKES = {
    "a command misspelt": (
        ["meassure", "main"],
        "meassure: no such file; did you mean pprofdiff measure?",
    ),
    "profiles of two kinds": (
        [CPU[0], "syncpool/new/heap.pb.gz"],
        (
            f"{CPU[0]} has no inuse_space/bytes as the other side has; it has: "
            "samples/count, cpu/nanoseconds; give two profiles of one kind"
        ),
    ),
    "a trace as a profile": (
        ["-top", TRACES[0]],
        (
            f"{TRACES[0]}: there is no pprof profile in it; --state running makes one of "
            "a trace: running, runnable, …"
        ),
    ),
    "a state misspelt": (
        [*TRACES, "--state", "runing"],
        "-state=runing: must be one of running, runnable, blocked, syscall, cpu",
    ),
    "a missing folder": (
        [*CPU, "-q", "-o", "nowhere/x.json"],
        "nowhere/x.json: cannot be written: there is no folder nowhere; make it first",
    ),
    "traces that are not there": (
        [*CPU, "-q", "-o", "x.perfetto.json"],
        ("x.perfetto.json: a .perfetto.json needs execution traces on both sides"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_said(cli, data_folder, monkeypatch, mistake):
    monkeypatch.chdir(data_folder)
    words, said = MISTAKES[mistake]
    done = cli(*words)
    assert (done.status, done.err) == (2, f"pprofdiff: {said}\n")


def test_what_is_there_is_no_misspelt_command(cli, syncpool, tmp_path, monkeypatch):
    (tmp_path / "measures").symlink_to(syncpool.base)
    monkeypatch.chdir(tmp_path)
    assert cli("measures", "measures", "-q").status == 0
