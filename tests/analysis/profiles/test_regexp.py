"""Go's regular expressions in Python, against Go's own."""

import json
import subprocess

import pytest

from pprofdiff.analysis.profiles.regexp import compiled, matcher
from pprofdiff.errors import UsageError

TEXTS = (
    "", "a", "b", "aa", "ab", "A", "a.b", "a b", "a\nb", "a\n", "\nb", "x{,3}", "xxx",
    "runtime.mallocgc", "main.(*Cache[go.shape.string]).Get", "encoding/json.Decode",
    "main.run.func1", "µs", "Ω", "K", "\u212a", "ſ", "\v", "\t", "_", "-", "]", "[", "^",
    "&", "~", "|", "\\", "(c)", "a.b(c)", "12", "1", "/src/a_b.go", "a\x00b", "/", "\x85",
)  # fmt: skip
PATTERNS = (
    "", "a", "^a$", "^a", "b$", "(?m)^b$", "(?s)a.b", "a.b", r"\.", r"a|b", "(a|b)b", "(?:)",
    "(?i)A", "a(?i)b|A", "(?i:a)B", "(?i)k", "(?i)S", "(?-i)a", "(?i)a(?-i)b", "(?U)a+",
    "(?P<n>a)b", "(?<n>a)b", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"^\w+$", r"^\s$",
    r"[\d.]", r"[^\d]", r"[\W]", r"[^\S]", "[[:alpha:]]", "[[:^alpha:]]", "[^[:punct:]]",
    "[[:word:][:space:]]", r"\bb", r"\Bb", r"\Aa", r"a\z", r"\Qa.b(c)\E", r"\Qa.b", r"\Qab\E+",
    r"\x61", r"\x{62}", r"\141", r"\0", r"\n", r"\v", r"\a", r"\/", r"\-", r"\_", "x{,3}",
    "^x{3}$", "x{2,}", "x{1,2}?", "x*?", "x{", "x{a}", "[]a]", "[^]a]", "[a-]", "[-a]", "[a-c]",
    r"[\]\[]", "[a&&b]", "[a||b]", "[a~~b]", "[a--b]", "[[]", r"[\^]", "^*a", "$*", r"(?m)^\w$",
    "Ω", "[α-ω]", "(?i)ω", "µ+", "main\\.\\(\\*Cache", "json|xml", ".*", "(a)(b)?(c)*", "(?i)[k]",
    "(?s:.)$", "(?i)[^k]", "a{1,1000}", "(?im)^B", "[[:alpha:]-z]", "{", "a{2}|b", "}", "]",
    # What Go refuses.
    "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"\8", "a**", "a*+", "a+?+", "a{2}{3}",
    "*a", "(*a)", "|*", "(", ")", "a)", "(a", "[", "[a", "[z-a]", r"[a-\d]", "(?>a)", "(?#a)",
    "a{1001}", "a{2,1}", r"\y", r"\Z", r"\G", "\\", "(?)", "(?x)a", "(?i", r"\x{110000}",
    "[[:foo:]]", "(?P<a", "(?P=a)", r"\x6", "[]", "[^]", "(?P<>a)", "(?i*", "a++", "a?+",
    "(a{100}){100}", "((a{10}){10}){10}", "((a{10}){10}){11}", "(a{2}){501}", "(a{1001}|b)?",
    "(a{0}){1000}", "(a{2,}){501}", "(?P<n>a)(?P<n>b)", "(?:a*){1000}", "(a{33}){31}",
)  # fmt: skip
PROGRAM = """
package main

import (
	"encoding/json"
	"os"
	"regexp"
)

func main() {
	var in struct{ Patterns, Texts []string }
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	out := map[string][]bool{}
	for _, p := range in.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			out[p] = nil
			continue
		}
		found := []bool{}
		for _, t := range in.Texts {
			found = append(found, re.MatchString(t))
		}
		out[p] = found
	}
	json.NewEncoder(os.Stdout).Encode(out)
}
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return, by pattern, which texts Go matches; None if Go refuses it."""
    source = tmp_path_factory.mktemp("regexp") / "main.go"
    source.write_text(PROGRAM)
    asked = json.dumps({"Patterns": PATTERNS, "Texts": TEXTS})
    done = subprocess.run(
        ["go", "run", str(source)],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.go
@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_what_go_matches(answers, pattern):
    want = answers[pattern]
    if want is None:
        with pytest.raises(UsageError, match="is not a Go regular expression"):
            matcher(pattern, "focus")
    else:
        found = matcher(pattern, "focus")
        assert [t for t in TEXTS if found(t)] == [
            t for t, yes in zip(TEXTS, want, strict=True) if yes
        ]


@pytest.mark.parametrize("pattern", [r"\pL", r"\p{Greek}", r"\P{Lu}", r"[\p{L}]"])
def test_unicode_classes_are_refused_in_so_many_words(pattern):
    with pytest.raises(UsageError, match="Unicode classes"):
        matcher(pattern, "hide")


def test_the_error_names_the_option():
    with pytest.raises(UsageError, match=r"^tagfocus: '\(' "):
        matcher("(", "tagfocus")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a" * 60 + "!"])
@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(?i)^(?:a|aa|aaa)+\\d"])
def test_a_search_that_would_not_end_is_given_up(brief_searches, pattern, name):
    found = matcher(pattern, "focus")
    with pytest.raises(UsageError, match=r"^focus: .* takes too long to search for"):
        found(name)
    # The next name is not looked at for as long again.
    with pytest.raises(UsageError):
        found(name)


@pytest.mark.slow
def test_many_names_do_not_use_up_what_a_search_may_take():
    found = matcher("mall.*gc|json", "focus")
    assert sum(found(f"runtime.mallocgc{i}") for i in range(50_000)) == 50_000


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(" * 200 + "a" + ")" * 200, "are nested"),
        ("(" * 100_000, "too long"),
        ("(" * 40_000, "are nested"),
        ("(?:" * 12 + "a" + "){2}" * 12, "repeats more than 1000"),
        ("a{1000}" * 60, "repetitions expand to too much"),
        ("a" * 60_000, "too long"),
    ],
)
def test_a_pattern_too_large_to_compile_is_refused(pattern, why):
    with pytest.raises(UsageError, match=why) as caught:
        matcher(pattern, "focus")
    assert len(str(caught.value)) < 300


def test_groups_have_a_name_or_a_number():
    pattern = compiled("(?:x|y)(a+?)(?P<host>[^/]+)(z)?", "--by")
    assert pattern.search("/xaab/z") == ("xaab", "a", "ab", None)
    assert (pattern.names, pattern.groups) == ({"host": 2}, 3)
    assert pattern.search("b") is None
