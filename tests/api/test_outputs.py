"""What a `Diff` writes and judges: the same as the command line."""

from __future__ import annotations

import json

import pytest

import pprofdiff


@pytest.fixture
def paths(syncpool):
    """Return the two CPU profiles of a story."""
    return syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz"


@pytest.fixture
def cpu(paths):
    """Return what changed between them."""
    return pprofdiff.diff(*paths)


@pytest.mark.slow
def test_writers_give_or_write_what_the_command_line_writes(cpu, tmp_path, cli, paths):
    writers = {
        "json": cpu.to_json,
        "csv": cpu.to_csv,
        "md": cpu.to_markdown,
        "html": cpu.to_html,
        "pb.gz": cpu.to_pprof,
    }
    for method, ending in ((cpu.to_text, "txt"), *((m, e) for e, m in writers.items())):
        data, path = method(), tmp_path / f"x.{ending}"
        assert method(path) is None
        assert path.read_bytes() == (data if isinstance(data, bytes) else data.encode())
    outputs = [f"-o={tmp_path / 'y'}.{ending}" for ending in writers]
    assert cli(*paths, *outputs) == (0, cpu.to_text(), "")
    for ending in writers:
        given, typed = ((tmp_path / f"{n}.{ending}").read_bytes() for n in "xy")
        assert given == typed


def test_rules_from_python_match_the_command_line(cpu, cli, paths, tmp_path):
    rules = ("group:gc:+2pp", "total:+5%", "figure:p99_pause_us:+10%")
    verdict = cpu.check(*rules)
    assert not verdict
    assert [rule.rule for rule in verdict.tripped] == ["group:gc:+2pp"]
    words = [f"--fail-on={rule}" for rule in rules]
    cli(*paths, *words, "-q", "-o", tmp_path / "x.json")
    got = json.loads((tmp_path / "x.json").read_text("utf-8"))["verdict"]
    assert verdict.outcome == got["outcome"] == "fail"
    assert [(r.rule, r.outcome, r.figure, r.base, r.new) for r in verdict.rules] == [
        (r["rule"], r["outcome"], r["figure"], r["base_scaled"], r["new_scaled"])
        for r in got["rules"]
    ]
    assert cpu.check("total:+5%")
    assert cpu.check()
    # What cannot be judged is no failure, unless the gate is strict.
    assert cpu.check("figure:p99_pause_us:+10%").outcome == "none"
    assert not cpu.check("figure:p99_pause_us:+10%", strict=True)
    with pytest.raises(pprofdiff.UsageError, match="there is no rule cpu"):
        cpu.check("cpu:+5%")
