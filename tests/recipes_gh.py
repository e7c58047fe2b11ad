"""What ``gh api`` does, on comments kept in a file: the part that the recipes use.

Refuses what it does not know. As GitHub does, it lets a token edit any comment, lists
thirty a page, and takes no body of more than 65,536 characters.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE, LONGEST = 30, 65_536
BOT = {"login": "github-actions[bot]", "type": "Bot"}


def refuse(status, message):
    """Say what is wrong, as gh does, and stop."""
    print(f"gh: {message} (HTTP {status})", file=sys.stderr)
    sys.exit(1)


def parse(words):
    """Return (method, endpoint, body, filter, whether all pages are asked for)."""
    assert words.pop(0) == "api"
    method, body, wanted, paginate, endpoint = "GET", None, ".", False, None
    while words:
        word = words.pop(0)
        if word == "-X":
            method = words.pop(0)
        elif word == "-F":
            name, _, path = words.pop(0).partition("=@")
            assert name == "body"
            body = Path(path).read_text("utf-8")
        elif word == "--jq":
            wanted = words.pop(0)
        elif word == "--paginate":
            paginate = True
        else:
            assert endpoint is None
            assert not word.startswith("-"), word
            endpoint = word
    return method, endpoint, body, wanted, paginate


def answer(state, method, endpoint, body):
    """Return the answer; a list is what has pages."""
    rest = endpoint.removeprefix(f"repos/{os.environ['GITHUB_REPOSITORY']}/")
    if found := re.fullmatch(r"pulls/(\d+)", rest):
        if found[1] not in state["pulls"]:
            refuse(404, "Not Found")
        return {"number": int(found[1]), "head": {"sha": state["pulls"][found[1]]}}
    if body is not None and len(body) > LONGEST:
        refuse(422, "Body is too long")
    if found := re.fullmatch(r"issues/(\d+)/comments", rest):
        comments = state["comments"].setdefault(found[1], [])
        if method == "GET":
            return comments
        assert method == "POST"
        taken = [c["id"] for held in state["comments"].values() for c in held]
        comment = {"id": max(taken, default=0) + 1, "user": BOT, "body": body}
        comments.append(comment)
        return comment
    found = re.fullmatch(r"issues/comments/(\d+)", rest)
    if not found:
        refuse(404, "Not Found")
    assert method == "PATCH"
    for comment in (c for held in state["comments"].values() for c in held):
        if comment["id"] == int(found[1]):
            comment["body"] = body
            return comment
    return refuse(404, "Not Found")


def main():
    """Answer one request."""
    if os.environ.get("GH_TOKEN") != "token":
        refuse(401, "Requires authentication")
    method, endpoint, body, wanted, paginate = parse(sys.argv[1:])
    path = Path(os.environ["GH_STATE"])
    state = json.loads(path.read_text("utf-8"))
    got = answer(state, method, endpoint, body)
    pages = [got]
    if isinstance(got, list):
        pages = [got[i : i + PAGE] for i in range(0, max(len(got), 1), PAGE)]
        pages = pages if paginate else pages[:1]
    for page in pages:
        subprocess.run(
            ["jq", "-r", wanted], input=json.dumps(page), text=True, check=True
        )
    path.write_text(json.dumps(state), "utf-8")


if __name__ == "__main__":
    main()
