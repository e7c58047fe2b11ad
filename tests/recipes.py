"""Workflows of README and `pprofdiff ci`, run as GitHub and GitLab would run them.

What is not here stands in for what is there: actions (`uses:`) are noted and left out,
`pip install` and `apt-get` too (the program is on PATH), ``gh`` is `recipes_gh.py`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pprofdiff.ci import NAMES
from tests.measure.short import PROGRAM as SHORT

README = Path(__file__).parents[1] / "README.md"
GH = Path(__file__).with_name("recipes_gh.py")
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
# What prepares a machine, which the tests' own is already.
PREPARES = re.compile(r"pip install|apt-get |python3 -m venv")
# GitHub's template for `shell: bash`; GitLab's runner sets the same.
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")

GO = """package app

import "strings"

// Join repeats a word.
func Join(n int) string {
\tvar b strings.Builder
\tb.Grow(4 * n)
\tfor range n {
\t\tb.WriteString("word")
\t}
\treturn b.String()
}
"""
SLOWER = GO.replace("\tb.Grow(4 * n)\n", "")
TEST = """package app

import "testing"

func BenchmarkJoin(b *testing.B) {
\tfor i := 0; i < b.N; i++ {
\t\tJoin(5000)
\t}
}
"""


class Ran(NamedTuple):
    """What became of a job: its steps' names, the last one's status, all output."""

    steps: list[str]
    status: int
    output: str


def missing() -> str:
    """Return which programs that recipes need are not here, "" for none."""
    needed = ["bash", "git", "curl", "jq"]
    absent = [name for name in needed if shutil.which(name) is None]
    here = Path(sys.executable).with_name("pprofdiff")
    return ", ".join([*absent, *([] if here.exists() else ["pprofdiff"])])


def recipes() -> list[dict[Any, Any]]:
    """Return the YAML block of the README, and what ``pprofdiff ci`` prints."""
    text = README.read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    command = [sys.executable, "-m", "pprofdiff", "ci"]
    for name in NAMES:
        done = subprocess.run([*command, name], capture_output=True, check=True)
        blocks.append(done.stdout.decode())
    return [yaml.safe_load(block) for block in blocks]


def environment(place: Path, **more: str) -> dict[str, str]:
    """Return a job's environment: PATH with the programs, and no settings of ours."""
    programs = place / "programs"
    programs.mkdir(exist_ok=True)
    for name, command in (("gh", f'"{sys.executable}" "{GH}"'), ("pprofdiff", shlex.join(SHORT))):  # fmt: skip
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
        path.chmod(0o755)
    kept = (
        "HOME",
        "GOTOOLCHAIN",
        "GOCACHE",
        "GOPATH",
        "GOMODCACHE",
        "GOFLAGS",
        "TMPDIR",
    )
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **more,
    }


def repository(place: Path, env: dict[str, str]) -> tuple[Path, str, str]:
    """Make a repository, at a branch that is slower than where it left `main`.

    Returns its folder and the newest commits of `main`, which does not build, and of
    the branch.
    """
    here = place / "app"
    here.mkdir()

    def git(*words: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        done = subprocess.run(
            ["git", *who, *words], cwd=here, env=env, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(name: str, text: str) -> str:
        (here / name).write_text(text, "utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", name)
        return git("rev-parse", "HEAD")

    git("init", "-q", "-b", "main")
    (here / "go.mod").write_text("module example.com/app\n\ngo 1.22\n", "utf-8")
    (here / "join_test.go").write_text(TEST, "utf-8")
    commit("join.go", GO)
    git("checkout", "-q", "-b", "branch")
    head = commit("join.go", SLOWER)
    git("checkout", "-q", "main")
    main = commit("join.go", "package app\n\nbroken\n")
    git("checkout", "-q", "--detach", "branch")
    return here, main, head


def run_job(
    job: dict[str, Any],
    folder: Path,
    env: dict[str, str],
    values: dict[str, str],
    since: str = "",
) -> Ran:
    """Run a GitHub job's steps from one of a name on; it ends with the first to fail.

    `values` are what expressions stand for, `if` among them; steps add their outputs.
    """
    values = dict(values)
    steps: list[str] = []
    got = ""
    for step in job["steps"]:
        name = step.get("name") or step.get("uses") or step["run"]
        if since and name != since:
            continue
        since = ""
        if "if" in step and values[step["if"]] != "true":
            continue
        steps.append(name)
        if "uses" in step or PREPARES.match(step["run"]):
            continue
        output = folder.parent / "github-output"
        output.write_text("", "utf-8")
        own = {
            key: EXPRESSION.sub(lambda match: values[match[1]], str(value))
            for key, value in step.get("env", {}).items()
        }
        done = _bash(step["run"], folder, {**env, **own, "GITHUB_OUTPUT": str(output)})
        got += done.stdout
        for line in output.read_text("utf-8").splitlines():
            key, _, value = line.partition("=")
            values[f"steps.{step['id']}.outputs.{key}"] = value
        if done.returncode:
            return Ran(steps, done.returncode, got)
    return Ran(steps, 0, got)


def gitlab(
    job: dict[str, Any], folder: Path, env: dict[str, str], since: int = 0
) -> Ran:
    """Run a GitLab job's script, all lines in one shell, from the line `since` on."""
    before = [line for line in job["before_script"] if not PREPARES.search(line)]
    lines = [*before, *job["script"][since:]]
    done = _bash("\n".join(lines), folder, env)
    return Ran(lines, done.returncode, done.stdout)


def _bash(
    script: str, folder: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a script as both services do, its two streams as one."""
    path = folder.parent / "script.sh"
    path.write_text(script, "utf-8")
    return subprocess.run(
        [*BASH, path],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
