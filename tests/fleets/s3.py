"""A real S3 server on loopback: versitygw, built once through the Go module proxy."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

VERSION = "v1.8.0"
MODULE = f"github.com/versity/versitygw/cmd/versitygw@{VERSION}"
CACHE = Path.home() / ".cache" / "pprofdiff-tests"
KEY, SECRET = "fleetkey", "fleetsecret"


def program(*, build):
    """Return the server's path; skips the test where there is none to be had."""
    kept = CACHE / f"versitygw-{VERSION}"
    if kept.exists():
        return kept
    if not build:
        pytest.skip(f"{kept} is not there: --whole builds it (3 CPU minutes)")
    if shutil.which("go") is None:
        pytest.skip("versitygw is built with Go, which is not here")
    folder = CACHE / f"building-{os.getpid()}"
    done = subprocess.run(
        ["go", "install", MODULE], capture_output=True, text=True, check=False,
        timeout=850, env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-mod=mod"},
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"versitygw cannot be built: {done.stderr.strip()[-200:]}")
    (folder / "versitygw").replace(kept)
    folder.rmdir()
    return kept


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def served(binary, folder):
    """Serve a folder, whose own folders are buckets; yield the address."""
    port = free_port()
    with subprocess.Popen(
        [binary, "--port", f"127.0.0.1:{port}", "--quiet", "posix", str(folder)],
        env={**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            deadline = time.monotonic() + 300
            while True:
                with socket.socket() as one:
                    if one.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, "versitygw has ended"
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def settings(address):
    """Return what the environment says of the store, in the words of its library."""
    return {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": address,
        "AWS_DEFAULT_REGION": "us-east-1",
        # Nobody is asked who this machine is.
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_CONFIG_FILE": os.devnull,
    }
