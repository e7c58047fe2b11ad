"""Where changed lines and commits are on the web, as a CI job's variables show."""

from __future__ import annotations

from hashlib import sha256

import pytest

from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.model.source import Commit
from pprofdiff.report.markdown.links import commit_url, lines_url

BUILD, COMMIT = "b" * 40, Commit("a" * 40, "store: price")
LINES = ChangedLines(
    "m.F", "a b/f.go", 3, 5, gone=False, base=0, new=1, commits=(COMMIT,), build=BUILD
)
GITHUB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "o/r"}
PULL = {**GITHUB, "GITHUB_REF": "refs/pull/12/merge"}
GITLAB = {"CI_PROJECT_URL": "https://gitlab.com/g/p"}
HUB, LAB = "https://github.com/o/r", "https://gitlab.com/g/p"
ANCHOR = f"{HUB}/pull/12/files#diff-{sha256(b'a b/f.go').hexdigest()}"


@pytest.fixture(autouse=True)
def _no_job(monkeypatch):
    for name in (*PULL, *GITLAB):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "change", "url"),
    [
        ({}, {}, ""),
        (GITHUB, {}, f"{HUB}/blob/{BUILD}/a%20b/f.go#L3-L5"),
        (GITHUB, {"end": 3}, f"{HUB}/blob/{BUILD}/a%20b/f.go#L3"),
        (PULL, {}, f"{ANCHOR}R3-R5"),
        (PULL, {"end": 3}, f"{ANCHOR}R3"),
        (PULL, {"gone": True}, f"{ANCHOR}L3-L5"),
        (GITLAB, {}, f"{LAB}/-/blob/{BUILD}/a%20b/f.go#L3-5"),
        # Folders are of no commit.
        (PULL, {"build": ""}, ""),
        # What would end a link in Markdown, or is none.
        ({**GITHUB, "GITHUB_REPOSITORY": "o/r) [x](y"}, {}, ""),
        ({**GITHUB, "GITHUB_SERVER_URL": "javascript:x"}, {}, ""),
        ({"CI_PROJECT_URL": "https://x\n"}, {}, ""),
    ],
)
def test_where_lines_are(monkeypatch, variables, change, url):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert lines_url(LINES._replace(**change)) == url


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({}, ""),
        (PULL, f"{HUB}/commit/{COMMIT.id}"),
        (GITLAB, f"{LAB}/-/commit/{COMMIT.id}"),
    ],
)
def test_where_a_commit_is(monkeypatch, variables, url):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert commit_url(COMMIT) == url
