"""A notebook in a real JupyterLab, in both of its themes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

from tests.browser.conftest import PATIENCE
from tests.conftest import DATA

pytestmark = pytest.mark.whole

CELLS = (
    """import pprofdiff
d = pprofdiff.diff("zstd/base/cpu.pb.gz", "zstd/new/cpu.pb.gz")
d""",
    "d.flamegraph(height=430)",
)
# Brightness, from 0 to 255, of what a dark and a light theme have behind text.
DARK, LIGHT = 60, 200


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Return a folder with a notebook that ran."""
    # Both take seconds to import.
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("notebooks")
    written = nbformat.v4.new_notebook(
        cells=list(map(nbformat.v4.new_code_cell, CELLS))
    )
    where = {"metadata": {"path": str(DATA)}}
    NotebookClient(written, timeout=PATIENCE / 1000, resources=where).execute()
    nbformat.write(written, folder / "x.ipynb")
    return folder


@pytest.fixture(scope="module")
def server(notebook, tmp_path_factory):
    """Serve the notebook, trusted; return the folder of settings and the URL."""
    program = shutil.which("jupyter-lab")
    if program is None:
        pytest.skip("needs JupyterLab: pip install jupyterlab")
    home = tmp_path_factory.mktemp("lab")
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    setting(settings, "notification", fetchNews="false", checkForUpdates=False)
    environment = {
        **os.environ,
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
    }
    trust = [shutil.which("jupyter-trust") or "jupyter-trust", notebook / "x.ipynb"]
    subprocess.run(trust, env=environment, check=True, capture_output=True)
    port = free_port()
    options = {
        "ip": "127.0.0.1",
        "port": port,
        "ServerApp.port_retries": 0,
        "IdentityProvider.token": "",
        "ServerApp.root_dir": notebook,
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    served = subprocess.Popen(
        [program, "--no-browser", "--allow-root", *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        until = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                urllib.request.urlopen(f"{url}/api", timeout=5).close()
                break
            except OSError:
                assert served.poll() is None
                assert time.monotonic() < until
                time.sleep(0.3)
        yield settings, f"{url}/lab/tree/x.ipynb?reset"
    finally:
        served.terminate()
        served.wait(PATIENCE / 1000)


def setting(folder, name, **values):
    """Write a file of settings, which JupyterLab reads when a page asks."""
    path = folder / f"{name}.jupyterlab-settings"
    path.write_text(json.dumps(values), "utf-8")


# Whoever begins with one theme goes to the other and back.
@pytest.fixture(
    scope="module", params=["Dark", pytest.param("Light", marks=pytest.mark.whole)]
)
def lab(request, server):
    """Choose a theme; return its name and the URL."""
    settings, url = server
    setting(settings, "themes", theme=f"JupyterLab {request.param}")
    return request.param, url


@pytest.fixture(scope="module")
def shown(chromium, lab):
    """Return the theme's name, the page and the frame of the graph, at rest."""
    theme, url = lab
    # The scheme of the machine, which playwright imposes on frames too, is not asked.
    context = chromium.new_context(
        color_scheme="null", viewport={"width": 1300, "height": 1200}
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.locator("iframe[srcdoc]").wait_for()
    page.evaluate("document.fonts.ready")
    (frame,) = [f for f in page.frames if f.parent_frame is not None]
    frame.locator(".flames canvas").first.wait_for()
    if folder := os.environ.get("PPROFDIFF_SCREENSHOTS"):
        page.wait_for_timeout(1000)
        page.screenshot(path=f"{folder}/lab-{theme}.png")
    yield theme, page, frame
    context.close()


def brightness(frame):
    """Return how bright what stands behind the text of a frame is."""
    got = frame.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, got[4:-1].split(","))) / 3


def test_the_graph_has_the_theme_of_the_notebook(shown):
    theme, page, frame = shown
    assert (brightness(frame) < DARK) == (theme == "Dark")
    assert (brightness(frame) > LIGHT) == (theme == "Light")
    # And follows when another one is chosen.
    light = page.evaluate("document.body.dataset.jpThemeLight")
    other = "false" if light == "true" else "true"
    page.evaluate(f"document.body.dataset.jpThemeLight = '{other}'")
    frame.wait_for_function(
        f"() => matchMedia('(prefers-color-scheme: dark)').matches == {light}"
    )
    assert (brightness(frame) < DARK) == (theme == "Light")
    page.evaluate(f"document.body.dataset.jpThemeLight = '{light}'")


def test_controls_take_one_line(shown):
    _, _, frame = shown
    buttons = frame.locator(":is(header, .flame-bar) button:visible").all()
    boxes = [button.bounding_box() for button in buttons]
    assert len(boxes) > 8
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    assert max(middles) - min(middles) < min(box["height"] for box in boxes) / 2
    # All of them are in sight.
    around = frame.frame_element().bounding_box()
    assert max(b["x"] + b["width"] for b in boxes) <= around["x"] + around["width"]
    title = frame.locator("h1").bounding_box()
    assert title["y"] < middles[0] < title["y"] + title["height"]
    # No two of them lie on each other.
    for i, one in enumerate(boxes):
        for other in (*boxes[:i], title):
            overlap = min(one["x"] + one["width"], other["x"] + other["width"])
            overlap -= max(one["x"], other["x"])
            assert overlap <= 1.5
    top = frame.locator(".flame-scroll").bounding_box()["y"]
    assert top - around["y"] < 75


def test_findings_are_left_aligned(shown):
    _, page, _ = shown
    card = page.locator(".pprofdiff p").first
    assert card.evaluate("e => getComputedStyle(e).textAlign") in (
        "left",
        "start",
        "-webkit-left",
    )
    left = card.evaluate(
        """e => [...e.childNodes].filter(n => n.nodeType == 3 && /\\d\\. /.test(n.data))
        .map(n => {
            const range = document.createRange();
            range.selectNodeContents(n);
            return Math.round(range.getClientRects()[0].left);
        })"""
    )
    assert len(left) > 1
    assert len(set(left)) == 1
