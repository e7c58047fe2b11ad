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
def test_writers_give_text_or_write_files(cpu, tmp_path, cli, paths):
    for name, method in (
        ("x.json", cpu.to_json),
        ("x.csv", cpu.to_csv),
        ("x.md", cpu.to_markdown),
        ("x.html", cpu.to_html),
        ("x.pb.gz", cpu.to_pprof),
        ("x.txt", cpu.to_text),
    ):
        data = method()
        path = tmp_path / name
        assert method(path) is None
        held = path.read_bytes()
        assert held == (data if isinstance(data, bytes) else data.encode())
    assert cpu.to_text() == cli(*paths).out
    assert cli(*paths, "-q", f"-o={tmp_path / 'y.json'}").status == 0
    assert json.loads((tmp_path / "y.json").read_text("utf-8")) == json.loads(
        cpu.to_json()
    )


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".md", ".html", ".csv"])
def test_what_is_written_is_what_the_command_line_writes(
    cpu, cli, paths, tmp_path, ending
):
    written = tmp_path / f"y{ending}"
    assert cli(*paths, "-q", "-o", written).status == 0
    write = {".md": cpu.to_markdown, ".html": cpu.to_html, ".csv": cpu.to_csv}[ending]
    assert write() == written.read_text("utf-8")


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
