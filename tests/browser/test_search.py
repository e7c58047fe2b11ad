"""The page's search: what Go's regular expressions match, and no link that hangs it."""

from __future__ import annotations

from importlib.resources import files
from urllib.parse import quote

import pytest

from pprofdiff.analysis.profiles.regexp import matcher
from tests.analysis.profiles.test_regexp import TEXTS

ASSET = files("pprofdiff.report") / "assets" / "flame" / "65-search.js"
# Flags, \Q…\E and octal codes are not of the page's search.
PATTERNS = (
    "", "a", "^a$", "^a", "b$", "a.b", r"\.", "a|b", "(a|b)b", "(?:)", "(?P<n>a)b", r"\d", r"\D",
    r"\w", r"\W", r"^\w+$", r"[\d.]", r"[^\d]", r"[\W]", "[[:alpha:]]", "[^[:punct:]]",
    "[[:digit:][:upper:]]", r"\bb", r"\Bb", r"\Aa", r"a\z", r"\x61", r"\x{62}", r"\n", r"\/", r"\-",
    "x{,3}", "^x{3}$", "x{2,}", "x{1,2}?", "x*?", "x{", "x{a}", "[]a]", "[^]a]", "[a-]", "[-a]",
    r"[\]\[]", "[a&&b]", "[[]", r"[\^]", "^*a", "$*", "Ω", "[α-ω]", "µ+", r"main\.\(\*cache",
    "json|xml", ".*", "(a)(b)?(c)*", "a{2}|b", "{", "}", "]", "(a*)*b", "(|a)+b", "a??b",
    "x{3}", "(?:ab?){2}", "^(a|b)*$", "[^a]b|^$", "A", "main.(Cache|run)",
)  # fmt: skip
REFUSED = (
    "(?=a)", "(?!a)", "(?<=a)b", r"(a)\1", "a**", "a{2}{3}", "*a", "|*", "(", ")", "a)", "[",
    "[a", "[z-a]", r"\y", "\\", "a{2,1}", "(?P<a", "(?P=a)", "(?>a)", "[]", "[^]", "(*a)",
)  # fmt: skip
HOSTILE = (
    "(a+)+#", "(a|aa)+#", "(a|a)" * 60 + "#", ".*.*.*.*.*#", "((){400}){400}", "(.{20}){19}#",
    "((((.*)*)*)*)*#", "[" * 900, "(" * 900, ".{1,300}#", "a?" * 300 + "#", "(?:a|b|ab)*#",
)  # fmt: skip
SEARCH = """([code, patterns, texts]) => {
  const { matcher } = new Function(code + "; return { matcher };")();
  return patterns.map((pattern) => {
    const test = matcher(pattern);
    return test.call ? texts.map((text) => test(text)) : test;
  });
}"""


@pytest.fixture(scope="module")
def searched(chromium):
    """Return a function: patterns and texts in, which matches Chromium finds out."""
    page = chromium.new_page()

    def run(patterns, texts):
        return page.evaluate(SEARCH, [ASSET.read_text("utf-8"), [*patterns], [*texts]])

    yield run
    page.close()


def test_a_search_finds_what_go_finds(searched):
    # White space and ignored case of non-ASCII letters are JavaScript's own.
    texts = [text for text in TEXTS if text not in ("\v", "\x85", "\u212a", "ſ")]
    for pattern, found in zip(PATTERNS, searched(PATTERNS, texts), strict=True):
        ignoring = "(?i)" if pattern == pattern.lower() else ""
        wanted = matcher(f"{ignoring}{pattern}", "search")
        assert found == [wanted(text) for text in texts], pattern


def test_what_go_refuses_is_no_search(searched):
    said = searched(REFUSED, ["a"])
    assert dict(zip(REFUSED, said, strict=True)) == dict.fromkeys(
        REFUSED, "not a regular expression"
    )


def test_no_pattern_hangs_a_search(searched):
    names = ["main." + "ab" * 100 + "!", "a" * 2000, "\n" * 300] * 100
    for pattern, found in zip(HOSTILE, searched(HOSTILE, names), strict=True):
        assert isinstance(found, str) or not any(found), pattern


def test_a_link_does_not_hang_the_page(opened, written):
    cpu = "syncpool/{}/cpu.pb.gz"
    path = written(cpu.format("base"), cpu.format("new"))
    for pattern in (".*.*.*.*#", "(?:.|..)+#"):
        with opened(path, fragment=f"#cpu;q={quote(pattern)}") as page:
            assert page.locator(".flames output").inner_text().startswith("no match")
