"""The page in Firefox, driven by Marionette, the protocol that it speaks of itself."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

import pytest

# Nothing asked of the network, and a port that nobody else has.
PREFERENCES = {
    "marionette.port": 0,
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
}
WAIT = 300.0
SHOWN = """
  const { textContent } = document.querySelector(".flame-trail [aria-current]");
  return [decodeURIComponent(location.hash), textContent];
"""
DRAWN = """
  const canvas = document.querySelector(".flame-space canvas"), seen = new Set();
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
  return seen.size;
"""
SAID = """
  const said = [];
  for (const message of Services.console.getMessageArray()) {
    if (message instanceof Ci.nsIScriptError && message.sourceName.startsWith("file:"))
      said.push(message.errorMessage);
  }
  return said;
"""


class Firefox:
    """A session with a running Firefox: commands of WebDriver, one at a time."""

    def __init__(self, connection):
        self._file = connection.makefile("rwb")
        self._count = 0
        self._read()
        self.do("NewSession")

    def _read(self):
        size = b""
        while not size.endswith(b":"):
            size += self._file.read(1)
        return json.loads(self._file.read(int(size[:-1])))

    def do(self, command, area="WebDriver", **words):
        """Run a command and return its value."""
        self._count += 1
        text = json.dumps([0, self._count, f"{area}:{command}", words]).encode()
        self._file.write(b"%d:%s" % (len(text), text))
        self._file.flush()
        _, _, error, value = self._read()
        assert error is None, error
        return value

    def run(self, script):
        """Return what a script returns in the page."""
        return self.do("ExecuteScript", script=script, args=[])["value"]

    def until(self, script, wanted):
        """Wait until a script returns what is wanted."""
        end = time.monotonic() + WAIT
        while (value := self.run(script)) != wanted:
            assert time.monotonic() < end, (value, wanted)
            time.sleep(0.05)


@contextmanager
def running(folder):
    """Start a Firefox with a profile of its own, and end it."""
    lines = (
        f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()
    )
    (folder / "user.js").write_text("\n".join(lines), "utf-8")
    command = [
        shutil.which("firefox-esr") or shutil.which("firefox"), "--headless", "--no-remote",
        "--marionette", "-remote-allow-system-access", "--profile", str(folder),
    ]  # fmt: skip
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            said, end = folder / "MarionetteActivePort", time.monotonic() + WAIT
            while not (said.exists() and said.read_text("ascii").strip()):
                assert time.monotonic() < end, "Firefox does not start"
                time.sleep(0.1)
            address = "127.0.0.1", int(said.read_text("ascii"))
            with socket.create_connection(address, timeout=WAIT) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    if not (shutil.which("firefox-esr") or shutil.which("firefox")):
        pytest.skip("needs Firefox: apt-get install firefox-esr")
    with running(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


@pytest.mark.whole
def test_the_page_opens_draws_and_says_nothing(firefox, written):
    path = written("syncpool/base", "syncpool/new")
    firefox.do("Navigate", url=path.as_uri())
    firefox.until("return document.querySelectorAll('a.flame-to').length > 100", True)
    assert firefox.run(DRAWN) > 20
    firefox.run("document.querySelector(':is(#summary, #why) a.flame-to').click()")
    address, name = firefox.run(SHOWN)
    assert address.startswith("#cpu;f=")
    assert address.endswith(name)
    firefox.do("Back")
    firefox.until(SHOWN, ["", "all"])
    firefox.do("Forward")
    firefox.until(SHOWN, [address, name])
    firefox.run(
        "scrollTo(0, 500); document.querySelector('.flame-scroll').scrollTop = 40"
    )
    firefox.run("document.getElementById('theme').click()")
    assert firefox.run(DRAWN) > 20
    firefox.do("SetContext", "Marionette", value="chrome")
    assert firefox.run(SAID) == []
