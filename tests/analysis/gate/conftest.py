"""The gate through the command line: rules in, their rows of the JSON report out."""

import json

import pytest


@pytest.fixture
def judged(cli, tmp_path, monkeypatch):
    """Return a function: two places, rules and other words in; status and rows out."""
    monkeypatch.chdir(tmp_path)

    def run(base, new, *rules, words=()):
        flags = [f"--fail-on={rule}" for rule in rules]
        done = cli(base, new, *flags, *words, "-q", "-o", "x.json")
        assert (done.out, done.status == 2) == ("", False), done.err
        verdict = json.loads((tmp_path / "x.json").read_text("utf-8"))["verdict"]
        assert [row["rule"] for row in verdict["rules"]] == list(rules)
        assert (done.status == 1) == (verdict["outcome"] == "fail")
        return verdict["outcome"], {row["rule"]: row for row in verdict["rules"]}

    return run
