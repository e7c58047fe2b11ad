"""The composite action: what it may do, and what it does when it is run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.measure.shop import state
from tests.recipes import EXPRESSION, environment, missing, repository, run_job

PLACE = Path(__file__).parents[1] / ".github" / "actions" / "compare" / "action.yml"
ACTION = yaml.safe_load(PLACE.read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
MARKER = "<!-- pprofdiff base new -->"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
OUTER = {"login": "somebody", "type": "User"}
runs = pytest.mark.skipif(missing() != "", reason=f"not here: {missing()}")


def test_no_text_of_a_stranger_is_code():
    """Expressions stand in environments alone, and in the shell all that is quoted."""
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        assert ("run" in step) == ("shell" in step)
        tokens = {k for k, v in step.get("env", {}).items() if "token" in v}
        assert tokens <= ({"GH_TOKEN"} if step.get("name") == "Comment" else set())
    used = set(EXPRESSION.findall(json.dumps(STEPS)))
    inputs = {f"inputs.{name}" for name in ACTION["inputs"]}
    assert used - inputs == {
        "github.event.pull_request.base.sha",
        "github.event.pull_request.number",
        "steps.report.outputs.artifact-url",
        "steps.compare.outputs.status",
    }
    assert inputs - used == {"inputs.comment", "inputs.bisect"}


@pytest.fixture
def workspace(tmp_path):
    """Return a repository, a job's environment, and what expressions stand for."""
    comments = tmp_path / "state.json"
    env = environment(
        tmp_path,
        GITHUB_REPOSITORY="owner/app",
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
        GH_STATE=str(comments),
    )
    here, main, head = repository(tmp_path, env)
    foreign = {"id": 1, "user": OUTER, "body": f"{MARKER}\nmine"}
    comments.write_text(
        json.dumps({"comments": {"7": [foreign]}, "pulls": {"7": head}}), "utf-8"
    )
    search, comment = (step["if"] for step in STEPS if "if" in step)
    values = {
        **{f"inputs.{name}": one["default"] for name, one in ACTION["inputs"].items()},
        "inputs.rounds": "4",
        "inputs.packages": ".",
        "inputs.flags": "-benchmem -benchtime=3000x",
        "inputs.fail-on": "bench:allocs/op:+0%\n\nbench:B/op:+0%\n",
        "inputs.token": "token",
        "github.event.pull_request.base.sha": main,
        "github.event.pull_request.number": "7",
        "steps.report.outputs.artifact-url": "https://github.example/artifacts/1",
        search: "false",
        comment: "true",
    }
    return here, env, values, search


def comments(env):
    return json.loads(Path(env["GH_STATE"]).read_text("utf-8"))["comments"]["7"]


@pytest.mark.whole
@runs
@pytest.mark.go
def test_it_measures_names_the_commit_comments_and_fails(workspace):
    here, env, values, search = workspace
    git = state(here / ".git")
    done = run_job({"steps": STEPS}, here, env, values | {search: "true"})
    assert (done.steps[-2:], done.status) == (["Comment", "Gate"], 1), done.output
    assert state(here / ".git") == git
    foreign, made = comments(env)
    assert (foreign["id"], made["user"]) == (1, BOT)
    first, *_, last = made["body"].splitlines()
    assert first == MARKER
    assert "**Verdict** fail: 2 of 2 rules tripped" in made["body"]
    assert last == "[The whole report](https://github.example/artifacts/1)"
    _, _, named = made["body"].partition("### Which commit")
    head = json.loads(Path(env["GH_STATE"]).read_text("utf-8"))["pulls"]["7"]
    assert f"`{head[:9]}` changed what" in named
    assert MARKER in Path(env["GITHUB_STEP_SUMMARY"]).read_text("utf-8")
    assert (here / "report.html").stat().st_size > 10_000
    # The folders that it was measured in are nobody's business.
    assert "pprofdiff-" not in made["body"]
    assert str(here.parent) not in made["body"]


@runs
@pytest.mark.go
def test_what_does_not_compile_is_no_comment(workspace):
    here, env, values, _ = workspace
    (here / "join.go").write_text("package app\n\nbroken\n", "utf-8")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    words = ("git", *who, "commit", "-qam", "break")
    job = {"steps": [{"run": " ".join(words)}, *STEPS]}
    done = run_job(job, here, env, values)
    assert (done.steps[-1], done.status) == ("Measure and compare", 1)
    assert re.search(r"does not compile with go\S+: ", done.output)
    assert len(comments(env)) == 1
