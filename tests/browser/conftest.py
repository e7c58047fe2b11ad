"""A real Chromium, offline, that notes every request and every complaint of a page."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from pprofdiff.cli.main import main

# Without these Chromium calls home at every start.
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium():
    """Return a running browser; skip where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install '.[test]'"
    )
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Debian's chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory, data_folder):
    """Return a function: words of a command line in, the page that it writes out."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}

    def write(*words):
        if words not in made:
            path = folder / f"{len(made)}.html"
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(data_folder)
                assert main([*map(str, words), "-q", "-o", str(path)]) in (0, 1)
            made[words] = path
        return made[words]

    return write


@pytest.fixture
def opened(chromium):
    """Return a context manager: a page's path in, the page out, open and at rest.

    It fails where the page asks for anything, breaks its policy, or complains.
    """

    @contextmanager
    def visit(path, *, fragment="", width=1280, height=800, theme="light", **more):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            offline=True,
            **more,
        )
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        own = Path(path).as_uri()
        page.goto(own + fragment)
        yield page
        context.close()
        assert complaints == []
        assert {url.partition("#")[0] for url in requests} - {"data:,"} == {own}

    return visit
