"""The README's job for GitLab, run against an API on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.recipes import environment, gitlab, missing, recipes, repository

JOB = recipes()[4]["pprofdiff"]
MARKER = "<!-- pprofdiff main mr -->"
NOTES = "/api/v4/projects/42/merge_requests/3/notes"
KEY, ME, OTHER = "glpat-x", {"id": 77}, {"id": 5}

runs = pytest.mark.skipif(missing() != "", reason=f"not here: {missing()}")


class Api(BaseHTTPRequestHandler):
    """The notes of a merge request; any token of the project may edit all of them."""

    def handle_any(self):
        """Answer one request."""
        url = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        body = parse_qs(self.rfile.read(size).decode()).get("body", [""])[0]
        notes = self.server.notes
        if self.headers.get("PRIVATE-TOKEN") != KEY:
            return self.answer(401, {})
        if (self.command, url.path) == ("GET", "/api/v4/user"):
            return self.answer(200, ME)
        if (self.command, url.path) == ("GET", NOTES):
            asked = {key: int(values[0]) for key, values in parse_qs(url.query).items()}
            first = (asked["page"] - 1) * asked["per_page"]
            return self.answer(200, notes[first : first + asked["per_page"]])
        if (self.command, url.path) == ("POST", NOTES):
            notes.append({"id": len(notes) + 1, "author": ME, "body": body})
            return self.answer(201, notes[-1])
        for note in notes:
            if (self.command, url.path) == ("PUT", f"{NOTES}/{note['id']}"):
                note["body"] = body
                return self.answer(200, note)
        return self.answer(404, {})

    do_GET = do_POST = do_PUT = handle_any  # noqa: N815 - the names http.server calls

    def answer(self, status, data):
        """Send JSON."""
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(data).encode())

    def log_message(self, *args):
        """Keep quiet."""


@pytest.fixture
def api():
    """Return a server that holds notes of others."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        server.notes = [
            {"id": i, "author": OTHER, "body": f"{MARKER}\nmine"} for i in range(1, 150)
        ]
        server.notes.append({"id": 150, "author": ME, "body": "Coverage is 80 %"})
        Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


@pytest.fixture
def pipeline(tmp_path, api):
    """Return a checkout, and the environment of its job."""
    env = environment(
        tmp_path,
        CI_API_V4_URL=f"http://127.0.0.1:{api.server_port}/api/v4",
        CI_MERGE_REQUEST_PROJECT_ID="42",
        CI_MERGE_REQUEST_IID="3",
        PPROFDIFF_TOKEN=KEY,
    )
    here, main, head = repository(tmp_path, env)
    left = subprocess.run(
        ["git", "merge-base", main, head], cwd=here, capture_output=True, check=True
    ).stdout.decode().strip()  # fmt: skip
    return here, {**env, "CI_MERGE_REQUEST_DIFF_BASE_SHA": left}


@runs
@pytest.mark.go
@pytest.mark.whole
def test_one_note_is_made_and_edited(pipeline, api):
    here, env = pipeline
    before = [dict(note) for note in api.notes]
    done = gitlab(JOB, here, env)
    # The gate fails the job after the note is there.
    assert done.status == 1, done.output
    *others, made = api.notes
    assert others == before
    assert made["body"] == (here / "comment.md").read_text("utf-8")
    assert made["body"].startswith(f"{MARKER}\n")
    assert "- fail: `bench:allocs/op:+0%`: " in made["body"]
    for path in JOB["artifacts"]["paths"]:
        assert (here / path).exists()
    # The next push is as good as base: the same note says so.
    runs = here.parent / "runs"
    shutil.rmtree(runs / "new")
    shutil.copytree(runs / "base", runs / "new")
    done = gitlab(JOB, here, env, since=1)
    assert done.status == 0, done.output
    *others, edited = api.notes
    assert others == before
    assert edited["id"] == made["id"]
    assert ": 0 of 2 rules tripped" in edited["body"]
    # A fork has no token: no note, and the gate as it was.
    del env["PPROFDIFF_TOKEN"]
    held = [dict(note) for note in api.notes]
    assert gitlab(JOB, here, env, since=1).status == 0
    assert api.notes == held
    # A wrong token is no silent success, nor is what cannot be compared.
    assert gitlab(JOB, here, {**env, "PPROFDIFF_TOKEN": "x"}, since=1).status not in (
        0,
        1,
    )
    shutil.rmtree(here.parent / "runs" / "new")
    done = gitlab(JOB, here, {**env, "PPROFDIFF_TOKEN": KEY}, since=1)
    assert (done.status, "no such file" in done.output) == (1, True)
    assert api.notes == held


def test_it_runs_for_merge_requests_and_keeps_the_report():
    assert JOB["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert JOB["variables"]["GIT_DEPTH"] == "0"
    assert JOB["artifacts"]["when"] == "always"
    assert JOB["artifacts"]["paths"] == ["report.html"]
