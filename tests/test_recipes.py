"""Workflows for CI: what they may do, and what they do when they are run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from pprofdiff.ci import NAMES
from pprofdiff.cli.main import main
from tests.recipes import (
    BASH,
    EXPRESSION,
    environment,
    missing,
    recipes,
    repository,
    run_job,
)
from tests.traces.toolchains import once, session

SHORT, ONE, COMPARE, COMMENT, _ = recipes()
ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "compare" / "action.yml"
MARKER = "<!-- pprofdiff main pr -->"
SAME = "github.event.pull_request.head.repo.full_name == github.repository"
OUTER = {"login": "somebody", "type": "User"}
BOT = {"login": "github-actions[bot]", "type": "Bot"}
WORKFLOWS = {"one": ONE, "compare": COMPARE, "comment": COMMENT}
# What an expression may stand for: nothing that a stranger words.
KNOWN = {
    "github.event.pull_request.base.sha",
    "github.event.pull_request.head.sha",
    "github.event.pull_request.number",
    "github.event.workflow_run.id",
    "github.event.workflow_run.head_sha",
    "github.token",
    "steps.report.outputs.artifact-url",
    "steps.compare.outputs.status",
}
runs = pytest.mark.skipif(missing() != "", reason=f"not here: {missing()}")


def job(workflow):
    """Return a workflow's only job."""
    (only,) = workflow["jobs"].values()
    return only


def step(workflow, name):
    """Return the step of that name."""
    (found,) = (s for s in job(workflow)["steps"] if s.get("name") == name)
    return found


def test_an_unknown_workflow_is_an_error_that_names_those_there_are(capsys):
    assert main(["ci", "jenkins"]) == 2
    said = capsys.readouterr().err
    assert said == "pprofdiff: usage: pprofdiff ci " + "|".join(NAMES) + "\n"


def test_rights_are_the_least():
    assert ONE["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert COMPARE["permissions"] == {"contents": "read"}
    assert COMMENT["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert ONE[True] == COMPARE[True] == "pull_request"  # YAML 1.1 reads `on` so
    assert COMMENT[True]["workflow_run"]["workflows"] == [COMPARE["name"]]
    assert job(COMMENT)["if"] == "github.event.workflow_run.event == 'pull_request'"
    # What a stranger wrote is not even there where there are rights.
    assert "checkout" not in json.dumps(job(COMMENT))
    for workflow in WORKFLOWS.values():
        assert "permissions" not in job(workflow)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_text_of_a_stranger_is_code(name):
    steps = job(WORKFLOWS[name])["steps"]
    used = [e for s in steps for e in EXPRESSION.findall(json.dumps(s))]
    assert used
    assert set(used) <= KNOWN
    for one in steps:
        assert "${{" not in one.get("run", "")
        tokens = {k for k, v in one.get("env", {}).items() if "token" in v}
        assert tokens <= ({"GH_TOKEN"} if one.get("name") == "Comment" else set())
        if one.get("uses", "").startswith("actions/checkout@"):
            assert one["with"]["persist-credentials"] is False


def test_the_action_is_called_with_what_it_takes():
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    (calls,) = (s for s in job(SHORT)["steps"] if s["uses"].startswith("./"))
    assert (ROOT / calls["uses"] / "action.yml").samefile(ACTION)
    assert calls["with"].keys() <= action["inputs"].keys()
    # It gets what it needs: the commit where the branch left, and a right to comment.
    assert SHORT["permissions"] == ONE["permissions"]
    assert job(SHORT)["steps"][:2] == job(ONE)["steps"][:2]
    rules = calls["with"]["fail-on"].split()
    assert all(f"--fail-on '{rule}'" in step(ONE, "Compare")["run"] for rule in rules)


def test_all_of_them_run_in_the_shell_that_is_tested():
    for workflow in WORKFLOWS.values():
        assert workflow["defaults"] == {"run": {"shell": "bash"}}
        assert all("shell" not in s for s in job(workflow)["steps"])
    assert BASH[1:] == ("--noprofile", "--norc", "-eo", "pipefail")
    assert step(ONE, "Measure base and head") == step(COMPARE, "Measure base and head")


@pytest.fixture(scope="module")
def measured():
    """Return a workspace after the step that measures, and the job's environment.

    One process of a session measures for all.
    """
    place = session() / "recipes"

    def make(draft):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        draft.write_text(json.dumps(measure(place), default=str), "utf-8")

    got = once(session() / "recipes.json", make)
    here, *others = json.loads(got.read_text("utf-8"))
    return Path(here), *others


def measure(place):
    """Run the steps up to the one that measures, in a repository made for it."""
    env = environment(
        place,
        GITHUB_REPOSITORY="owner/app",
        GITHUB_STEP_SUMMARY=str(place / "summary.md"),
        GH_STATE=str(place / "state.json"),
    )
    here, main, head = repository(place, env)
    values = {
        "github.event.pull_request.base.sha": main,
        "github.event.pull_request.number": "7",
        "github.token": "token",
        "steps.report.outputs.artifact-url": "https://github.example/artifacts/1",
        SAME: "true",
    }
    only = {"steps": job(ONE)["steps"][:5]}
    done = run_job(only, here, env, values)
    assert done.status == 0, done.output
    assert done.steps[-1] == "Measure base and head"
    return here, env, values, head


@pytest.fixture
def workspace(measured, tmp_path):
    """Return a copy of the measured workspace with comments of others in it."""
    return copied(measured, tmp_path)


def copied(measured, place):
    """Copy the measured workspace to a folder, and return what `measured` is there."""
    here, env, values, head = measured
    for folder in ("app", "runs"):
        shutil.copytree(here.parent / folder, place / folder, symlinks=True)
    state = place / "state.json"
    foreign = [
        {"id": i, "user": OUTER, "body": f"{MARKER}\nmine {i}"} for i in range(1, 40)
    ]
    other = {"id": 40, "user": BOT, "body": "Coverage is 80 %"}
    state.write_text(
        json.dumps(
            {"comments": {"7": [*foreign, other]}, "pulls": {"7": head, "8": "0" * 40}}
        ),
        "utf-8",
    )
    own = {
        "GH_STATE": str(state),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
        "GITHUB_WORKSPACE": str(place / "app"),
    }
    return place / "app", {**env, **own}, values, head


def comments(env, number="7"):
    """Return a pull request's comments."""
    state = json.loads(Path(env["GH_STATE"]).read_text("utf-8"))
    return state["comments"][number]


def as_good_as_base(here):
    """Let the branch be what its base is."""
    runs = here.parent / "runs"
    shutil.rmtree(runs / "new")
    shutil.copytree(runs / "base", runs / "new")


@pytest.mark.whole  # `test_action.py` makes a comment with the same steps
@runs
@pytest.mark.go
def test_one_comment_is_made_and_edited(workspace):
    here, env, values, _ = workspace
    before = comments(env)
    done = run_job(job(ONE), here, env, values, since="Compare")
    # The gate fails the job after the comment is there.
    assert (done.steps[-2:], done.status) == (["Comment", "Gate"], 1), done.output
    assert "::error title=pprofdiff bench%3Aallocs/op%3A+0%25::" in done.output
    *others, made = comments(env)
    assert others == before
    assert made["user"] == BOT
    first, *_, last = made["body"].splitlines()
    assert first == MARKER
    assert re.search(r"\*\*Verdict\*\* fail: [12] of 2 rules tripped", made["body"])
    assert "- fail: `bench:allocs/op:+0%`: " in made["body"]
    assert last == "[The whole report](https://github.example/artifacts/1)"
    assert (here / "report.html").stat().st_size > 10_000
    assert MARKER in Path(env["GITHUB_STEP_SUMMARY"]).read_text("utf-8")
    # The next push is as good as base: the same comment says so.
    as_good_as_base(here)
    done = run_job(job(ONE), here, env, values, since="Compare")
    assert (done.steps[-1], done.status) == ("Gate", 0), done.output
    *others, edited = comments(env)
    assert others == before
    assert edited["id"] == made["id"]
    assert ": 0 of 2 rules tripped" in edited["body"]


@pytest.mark.whole
@runs
@pytest.mark.go
def test_what_cannot_be_compared_is_no_comment(workspace):
    here, env, values, _ = workspace
    before = comments(env)
    shutil.rmtree(here.parent / "runs" / "new")
    done = run_job(job(ONE), here, env, values, since="Compare")
    assert (done.steps, done.status) == (["Compare"], 1), done.output
    assert "no such file" in done.output
    assert comments(env) == before


@pytest.mark.whole
@runs
@pytest.mark.go
def test_a_fork_has_no_right_to_comment(workspace):
    here, env, values, _ = workspace
    before = comments(env)
    done = run_job(job(ONE), here, env, {**values, SAME: "false"}, since="Compare")
    assert (done.steps[-1], done.status) == ("Gate", 1), done.output
    assert "Comment" not in done.steps
    assert comments(env) == before


@pytest.fixture(scope="module")
def left(measured):
    """Return the folder of what the fork's workflow leaves for the second one."""

    def make(folder):
        folder.mkdir()
        here, env, values, _ = copied(measured, folder)
        without = {k: v for k, v in values.items() if k != "github.token"}
        done = run_job(job(COMPARE), here, env, without, since="Compare")
        assert (done.steps[-1], done.status) == ("Gate", 1), done.output
        uploads = [
            s["with"]["path"]
            for s in job(COMPARE)["steps"]
            if "upload" in s.get("uses", "")
        ]
        assert (here / uploads[0]).exists()
        (folder / "uploaded").mkdir()
        for name in uploads[1].split():
            shutil.copy(here / name, folder / "uploaded")

    return once(session() / "recipes-left", make) / "uploaded"


@pytest.fixture
def artifact(workspace, left, tmp_path):
    """Return what the fork's workflow left, where the second one unpacks it."""
    _, env, _, head = workspace
    folder = tmp_path / "unpacked" / "here"
    shutil.copytree(left, folder)
    return folder, env, {
        "github.event.workflow_run.head_sha": head,
        "github.token": "token",
    }  # fmt: skip


@pytest.mark.whole
@runs
@pytest.mark.go
def test_a_second_workflow_posts_it(artifact):
    folder, env, values = artifact
    before = comments(env)
    for _ in range(2):
        done = run_job(job(COMMENT), folder, env, values)
        assert done.status == 0, done.output
        *others, made = comments(env)
        assert others == before
        assert made["body"] == (folder / "comment.md").read_text("utf-8")
    assert made["user"] == BOT


def replaced(name, text):
    """Return what puts another text into a file."""
    return lambda folder: (folder / name).write_text(text, "utf-8")


def linked(folder):
    """Put a link to what is none of theirs in the comment's place."""
    (folder / "secret").write_text(f"{MARKER}\nsecret", "utf-8")
    (folder / "comment.md").unlink()
    (folder / "comment.md").symlink_to("secret")


REFUSED = {
    "another pull request": (replaced("number", "8"), "another head"),
    "none at all": (replaced("number", "9"), "Not Found"),
    "a command": (replaced("number", "7; touch owned"), "no number"),
    "a substitution": (replaced("number", "$(touch owned)"), "no number"),
    "a path": (replaced("number", "7/../8"), "no number"),
    "two lines": (replaced("number", "7\n8"), "no number"),
    "other digits": (replaced("number", "٧"), "no number"),
    "no number": (replaced("number", ""), "no number"),
    "a long comment": (replaced("comment.md", f"{MARKER}\n" + "▲" * 30_000), "comment is too long"),
    "no marker": (replaced("comment.md", "Coverage is 0 %"), "not ours"),
    "an empty comment": (replaced("comment.md", ""), "not ours"),
    "a link": (linked, "is no file"),
    "no comment": (lambda folder: (folder / "comment.md").unlink(), "is no file"),
}  # fmt: skip


@pytest.mark.whole
@runs
@pytest.mark.go
@pytest.mark.parametrize("what", REFUSED)
def test_what_a_stranger_may_not_make_it_post(artifact, what):
    folder, env, values = artifact
    before = comments(env)
    spoil, said = REFUSED[what]
    spoil(folder)
    done = run_job(job(COMMENT), folder, env, values)
    assert done.status != 0
    assert said in done.output
    assert comments(env) == before
    assert not (folder / "owned").exists()


@pytest.mark.whole
@runs
@pytest.mark.go
def test_nor_on_a_head_that_moved_on(artifact):
    folder, env, values = artifact
    before = comments(env)
    done = run_job(
        job(COMMENT),
        folder,
        env,
        {**values, "github.event.workflow_run.head_sha": "f" * 40},
    )
    assert (done.status, "another head" in done.output) == (1, True)
    assert comments(env) == before
