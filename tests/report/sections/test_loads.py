"""The report where a load generator's summary lies beside the profiles."""

from __future__ import annotations

import shutil

import pytest

from tests.report.golden import check


@pytest.fixture
def sides(data_folder, tmp_path, monkeypatch):
    """Stand in a folder of two sides, each a CPU profile and what hey printed."""
    for side, rate in (("base", "17840.3801"), ("new", "15186.0012")):
        (tmp_path / side).mkdir()
        shutil.copy(data_folder / "syncpool" / side / "cpu.pb.gz", tmp_path / side)
        text = (data_folder / "load" / "hey.txt").read_text("utf-8")
        assert "17840.3801" in text
        (tmp_path / side / "hey.txt").write_text(
            text.replace("17840.3801", rate), "utf-8"
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_as_it_was_last_looked_at(cli, sides):
    done = cli("base", "new", "--full")
    assert (done.status, done.err) == (0, "")
    check("load.hey", done.out)


def test_requests_that_failed_are_said(cli, sides, data_folder):
    shutil.copy(data_folder / "load" / "hey-errors.txt", sides / "new" / "hey.txt")
    assert "121 of 600" in cli("base", "new").out


def test_two_load_generators_are_not_one_measure_unsaid(cli, sides, data_folder):
    (sides / "new" / "hey.txt").unlink()
    shutil.copy(data_folder / "load" / "wrk.txt", sides / "new")
    out = cli("base", "new").out
    assert "hey" in out.partition("\n\n")[0] or "two load generators" in out
