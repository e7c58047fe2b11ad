"""The screen: marks that every encoding has, full devices, and who wants colour."""

import io
import os
import pty
from pathlib import Path

import pytest

from pprofdiff.cli.screen import Screen

GOLDEN = Path(__file__).parents[1] / "report" / "golden"


def shown(text, encoding):
    """Return the bytes that a stream of this encoding gets."""
    held = io.BytesIO()
    with io.TextIOWrapper(held, encoding, newline="") as out:
        Screen(out, io.StringIO()).write(text)
        return held.getvalue()


@pytest.mark.parametrize(
    ("text", "encoding", "wanted"),
    [
        ("▲ +1 → 2 µs", "utf-8", "▲ +1 → 2 µs".encode()),
        ("▲ ▼ → ← − – × Δ µ … ↳", "ascii", b"^ v > < - - x d u ~ `"),
        ("main.Größe 世", "ascii", rb"main.Gr\xf6\xdfe \u4e16"),
        ("2 × 3 µs, Größe", "latin-1", "2 × 3 µs, Größe".encode("latin-1")),
        ("2 × 3 µs → Größe", "latin-1", "2 x 3 us > Größe".encode("latin-1")),
        ("file\udcff.go →", "utf-8", rb"file\udcff.go >"),
    ],
)
def test_marks_where_the_encoding_has_none(text, encoding, wanted):
    assert shown(text, encoding) == wanted


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda p: p.name)
def test_every_mark_of_the_reports_has_another(path):
    text = path.read_text("utf-8")
    plain = shown(text, "ascii").decode("ascii")
    assert plain.count("\\") == text.count("\\")
    assert list(map(len, plain.splitlines())) == list(map(len, text.splitlines()))


def test_a_stream_that_names_no_encoding():
    out = io.StringIO()
    Screen(out, io.StringIO()).write("▲ → µ")
    assert out.getvalue() == "▲ → µ"


def test_bytes_go_as_they_are(tmp_path):
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        Screen(out, out).write_bytes(b"\x1f\x8b\r\n\xff")
        assert (tmp_path / "out").read_bytes() == b"\x1f\x8b\r\n\xff"


def test_what_is_said_is_there_at_once(tmp_path):
    with (tmp_path / "messages").open("w") as messages:
        Screen(io.StringIO(), messages).say("Fetching x")
        assert (tmp_path / "messages").read_text() == "Fetching x\n"


@pytest.mark.parametrize(
    ("when", "environment", "pipe", "terminal"),
    [
        ("auto", {}, False, True),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": ""}, False, True),
        ("auto", {"FORCE_COLOR": "1"}, True, True),
        ("auto", {"FORCE_COLOR": ""}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
    ],
)
def test_who_wants_colour(monkeypatch, when, environment, pipe, terminal):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb"), os.fdopen(follower, "w") as drawn:
        assert Screen(drawn, drawn).wants_color(when) == terminal
    assert Screen(io.StringIO(), io.StringIO()).wants_color(when) == pipe
