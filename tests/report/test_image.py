"""The report as a picture: its answer stands on top."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

import pprofdiff
from pprofdiff.report.image import render
from tests.conftest import DATA


@pytest.mark.slow
def test_the_answer_is_the_report_s():
    d = pprofdiff.diff(
        DATA / "sync-pool-gctrace/none-pool.log",
        DATA / "sync-pool-gctrace/sync-pool.log",
    )
    top = fromstring(render(d.report(), "svg"))  # noqa: S314 - our own
    words = " ".join("".join(text.itertext()) for text in top.findall(".//{*}text"))
    assert d.findings["title"][0] in words
    assert render(d.report(), "png").startswith(b"\x89PNG")


@pytest.mark.slow
def test_without_findings_the_first_sentence_of_the_first_section():
    path = DATA / "zstd/base/mutex.pb.gz"
    top = fromstring(render(pprofdiff.diff(path, path).report(), "svg"))  # noqa: S314 - our own
    words = " ".join("".join(text.itertext()) for text in top.findall(".//{*}text"))
    assert "Total" in words
