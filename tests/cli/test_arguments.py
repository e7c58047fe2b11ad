"""The command line's words: pprof's spelling and the usual one mean the same."""

import re
import subprocess

import pytest

from pprofdiff.cli.arguments import help_text, parse
from pprofdiff.cli.options import (
    FLAGS,
    PPROF_ONLY,
    REFUSED,
    REFUSED_WITH_VALUE,
    Options,
    active,
)
from pprofdiff.errors import UsageError

PAIR = ["a.pb.gz", "b.pb.gz"]
VALUES = {
    "bool": ("", True),
    "str": ("main", "main"),
    "int": ("7", 7),
    "float": ("0.25", 0.25),
    "size": ("3MB", 3 << 20),
    "work": ("8:9.5", (8.0, 9.5)),
    "percent": ("3%", 0.03),
    "percent or 0": ("0%", 0.0),
    "window": ("1.5:,:9", ((1.5, None), (None, 9.0))),
}
ONE_A_FLAG = [
    flag
    for flag in FLAGS
    if flag.kind in (*VALUES, "choice") and flag.name != "mean_delay"
]


def refused(*words):
    """Return the one line that the words earn."""
    with pytest.raises(UsageError) as caught:
        parse([str(word) for word in words])
    said = str(caught.value)
    assert said.isprintable()
    return said


def parsed(words):
    """Return what the words spell, with the view that some of them need."""
    flags = [word for word in words if word.startswith("-")]
    names = {flag.lstrip("-").partition("=")[0].replace("-", "_") for flag in flags}
    return parse([*words, "-top"] if names & PPROF_ONLY else list(words))


def spellings(name):
    """Return the ways to type a flag."""
    return {
        f"-{name}",
        f"--{name}",
        "--" + name.replace("_", "-"),
        "-" + name.replace("_", "-"),
    }


@pytest.mark.parametrize("flag", ONE_A_FLAG, ids=lambda flag: flag.name)
def test_every_flag_in_every_spelling(flag):
    word = flag.value.partition(" ")[0]
    typed, meant = VALUES.get(flag.kind, (word, word))
    for spelling in spellings(flag.name):
        ways = (
            [[f"{spelling}={typed}"]]
            if typed
            else [[spelling], [f"{spelling}=true"], [f"{spelling}=1"]]
        )
        if typed:
            ways.append([spelling, typed])
        for words in ways:
            for place in (0, 1, 2):
                options = parsed([*PAIR[:place], *words, *PAIR[place:]])
                assert getattr(options, flag.field) == meant
                sides = ((), tuple(PAIR)) if options.over else ((PAIR[0],), (PAIR[1],))
                assert (options.base, options.new) == sides


@pytest.mark.parametrize(
    "flag", [f for f in FLAGS if f.kind == "bool"], ids=lambda flag: flag.name
)
def test_a_switch_can_be_turned_off_and_swallows_nothing(flag):
    for off in ("false", "0", "f", "False"):
        assert getattr(parsed([f"-{flag.name}={off}", *PAIR]), flag.field) is False
    assert parsed([f"-{flag.name}", *PAIR]).new == ("b.pb.gz",)
    assert flag.name in refused(f"-{flag.name}=maybe", *PAIR)


@pytest.mark.parametrize(
    "flag", [f for f in FLAGS if f.kind == "set"], ids=lambda flag: flag.name
)
def test_a_word_that_sets_a_choice(flag):
    if flag.name == "mean_delay":
        options = parsed(["-mean_delay", *PAIR])
        assert (options.sample_index, options.mean) == ("delay", True)
    else:
        assert getattr(parsed([f"-{flag.name}", *PAIR]), flag.field) == flag.value


@pytest.mark.parametrize("name", sorted(PPROF_ONLY))
def test_what_shapes_the_tables_of_pprof_says_nothing_to_the_report(name):
    kind = next(flag.kind for flag in FLAGS if flag.name == name)
    word = f"-{name}={VALUES[kind][0]}" if VALUES.get(kind, ("",))[0] else f"-{name}"
    assert refused(word, *PAIR) == f"-{name} goes with -top or -peek: add one of them"
    assert parse([word, "-peek=x", *PAIR]).view == "peek"


def test_every_option_has_a_flag_or_a_place():
    assert set(Options._fields) - {flag.field for flag in FLAGS} == {
        "fail_on_of",
        "new",
        "subtract",
        "within",
    }


def test_sides():
    assert parse(["-diff_base=x", "-diff_base", "y", "p", "q"]) == Options(
        base=("x", "y"), new=("p", "q")
    )
    assert parse(["-base=x", "p"]) == Options(base=("x",), new=("p",), subtract="base")
    assert parse(["p"]) == Options(new=("p",))
    assert parse(["main=p", "pr=q"]) == Options(base=("main=p",), new=("pr=q",))
    assert parse(["-", "q"]) == Options(base=("-",), new=("q",))
    assert parse(["--", "-p", "--q"]) == Options(base=("-p",), new=("--q",))


def test_several_outputs_keep_their_order():
    assert parse(["-o=a.json", *PAIR, "-o", "b.csv", "--output=c.pb.gz"]).outputs == (
        "a.json",
        "b.csv",
        "c.pb.gz",
    )


def test_the_value_may_hold_what_looks_like_a_flag():
    assert parse(["-focus=-x=y", *PAIR]).focus == "-x=y"
    assert parse(["-focus", "-x", *PAIR]).focus == "-x"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-topp", *PAIR), "did you mean -top?"),
        (("--max-sice=1GB", *PAIR), "did you mean -max_size?"),
        (("--normalise", *PAIR), "did you mean -normalize?"),
        (("-xyzzy", *PAIR), "pprofdiff --help"),
        (("-explain=gc", "-top", *PAIR), "-explain and -top are two views: give one"),
        (("-top", "-explain=gc", *PAIR), "-explain and -top are two views: give one"),
        (("-diff_base=x",), "new profile"),
        ((), "pprofdiff demo"),
        (("a", "b", "c"), "-diff_base="),
        (("-focus",), "needs a value"),
        (("-nodecount=many", *PAIR), "whole number"),
        (("-nodefraction=most", *PAIR), "number"),
        (("-work=a:b", *PAIR), "8000:9500"),
        (("-max_size=huge", *PAIR), "500MB"),
        (("-color=red", *PAIR), "auto, always, never"),
        (("-seconds=ten", *PAIR), "whole number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_to_type_instead(words, said):
    assert said in refused(*words)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("base=x", "diff_base=y"),
        ("cum", "flat"),
        ("lines", "files"),
        ("functions", "filefunctions"),
        ("top", "proto"),
        ("top", "peek=x"),
        ("peek=x", "proto"),
        ("inuse_space", "alloc_space"),
        ("alloc_objects", "contentions"),
    ],
)
def test_flags_of_one_group_contradict_each_other(first, second):
    for words in ((first, second), (second, first)):
        names = [word.partition("=")[0] for word in words]
        assert (
            refused(*(f"-{word}" for word in words), *PAIR)
            == f"-{names[0]} and -{names[1]} contradict each other: give one"
        )


@pytest.mark.parametrize(
    "word", ["base=x", "cum", "lines", "top", "peek=x", "inuse_space", "mean_delay"]
)
def test_a_flag_does_not_contradict_itself(word):
    once, twice = (parsed([*[f"-{word}"] * n, "p"]) for n in (1, 2))
    assert once._replace(base=()) == twice._replace(base=())


def test_a_flag_that_is_off_contradicts_nothing():
    assert parsed(["-cum", "-flat=false", *PAIR]).sort == "cum"
    assert parsed(["-top=false", "-proto", *PAIR]).view == "proto"
    off = parsed(["-mean_delay=false", "-inuse_space", *PAIR])
    assert (off.sample_index, off.mean) == ("inuse_space", False)


@pytest.mark.parametrize("name", sorted(REFUSED - REFUSED_WITH_VALUE))
def test_switches_of_pprof_that_are_not_here(name):
    said = refused(f"-{name}", *PAIR)
    offer = f"type: go tool pprof -{name} -diff_base=a.pb.gz b.pb.gz"
    assert said == f"-{name} is not here; {offer}"
    assert f" -{name}=false -" in refused(f"-{name}=false", *PAIR)


@pytest.mark.parametrize("name", sorted(REFUSED_WITH_VALUE))
def test_flags_of_pprof_that_are_not_here(name):
    offer = f"type: go tool pprof -{name}=x -diff_base=a.pb.gz b.pb.gz"
    for typed in (f"-{name}=x", f"--{name.replace('_', '-')}=x"):
        assert refused(typed, *PAIR).endswith(f" is not here; {offer}")
    assert refused(f"-{name}", "x", *PAIR) == f"-{name} is not here; {offer}"
    assert refused(*PAIR, f"-{name}") == f"-{name} needs a value: -{name}=…"
    # What is empty stays where it is: pprof would take the next word instead.
    assert f" -{name}= -diff_base=" in refused(f"-{name}=", *PAIR)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["-http=:8080", *PAIR], "-http=:8080 -diff_base=a.pb.gz b.pb.gz"),
        (
            ["a.pb.gz", "-http=:8080", "b.pb.gz"],
            "-http=:8080 -diff_base=a.pb.gz b.pb.gz",
        ),
        (["-web", "-diff_base=a.pb.gz", "b.pb.gz"], "-web -diff_base=a.pb.gz b.pb.gz"),
        (
            ["-diff_base", "a.pb.gz", "-svg", "b.pb.gz"],
            "-diff_base=a.pb.gz -svg b.pb.gz",
        ),
        (["-base", "a.pb.gz", "b.pb.gz", "-svg"], "-base=a.pb.gz -svg b.pb.gz"),
        (
            ["-diff_base=x", "-web", "--diff-base", "y", "p", "q"],
            "-diff_base=x -web -diff_base=y p q",
        ),
        (
            ["-tree", "-focus", "main", *PAIR],
            "-tree -focus=main -diff_base=a.pb.gz b.pb.gz",
        ),
        (
            ["--show-from=main", "-cum", "-tree", "--nodecount", "5", *PAIR],
            "-show_from=main -cum -tree -nodecount=5 -diff_base=a.pb.gz b.pb.gz",
        ),
        (["-tree", "-trim=false", "p"], "-tree -trim=false p"),
        (["-tree", "-focus=", *PAIR], "-tree -focus= -diff_base=a.pb.gz b.pb.gz"),
        (
            ["-web", "-q", "--work=1:2", "--max-size=1GB", "--color=never", *PAIR],
            "-web -diff_base=a.pb.gz b.pb.gz",
        ),
        (["-disasm", "main.f", *PAIR], "-disasm=main.f -diff_base=a.pb.gz b.pb.gz"),
        (["-web", "main=a.pb.gz", "pr=b.pb.gz"], "-web -diff_base=a.pb.gz b.pb.gz"),
        (
            ["-web", "-diff_base=main=a.pb.gz", "pr=b.pb.gz"],
            "-web -diff_base=a.pb.gz b.pb.gz",
        ),
        (["-web", "http://h/?a=b", "./x=y"], "-web '-diff_base=http://h/?a=b' ./x=y"),
        (
            ["-tree", "my base.pb.gz", "b.pb.gz"],
            "-tree '-diff_base=my base.pb.gz' b.pb.gz",
        ),
        (["--diff-base=a.pb.gz", "-web", "b.pb.gz"], "-diff_base=a.pb.gz -web b.pb.gz"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_the_command_that_pprof_takes_for_the_same(words, command):
    _, _, offered = refused(*words).partition("type: ")
    assert offered == f"go tool pprof {command}"


@pytest.fixture(scope="module")
def pprof():
    """Return the path of Go's own pprof, which starts sooner than ``go tool``."""
    got = subprocess.run(
        ["go", "tool", "-n", "pprof"], capture_output=True, text=True, check=True
    )
    return got.stdout.strip()


@pytest.mark.go
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_is_a_flag_of_pprof(name, pprof):
    got = subprocess.run(
        [pprof, f"-{name}"], capture_output=True, text=True, check=False
    ).stderr
    assert "flag provided but not defined" not in got
    assert ("flag needs an argument" in got) == (name in REFUSED_WITH_VALUE)


@pytest.mark.go
@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
def test_flags_of_both_take_a_value_in_both(flag, pprof):
    got = subprocess.run(
        [pprof, f"-{flag.name}"], capture_output=True, text=True, check=False
    ).stderr
    mine = flag.kind not in ("set", "bool")
    undefined = "flag provided but not defined" in got
    # What only pprofdiff knows is left out of the command that is offered.
    words = ["-web", f"-{flag.name}{'=x' * mine}", "p"]
    assert (f" -{flag.name}" in refused(*words).partition("type: ")[2]) != undefined
    assert undefined or ("flag needs an argument" in got) == mine


@pytest.mark.go
def test_every_flag_of_pprof_is_taken_or_refused():
    got = subprocess.run(
        ["go", "tool", "pprof", "-help"], capture_output=True, text=True, check=False
    ).stderr
    theirs = set(re.findall(r"^ {3,}-(\w+)", got, re.MULTILINE))
    assert len(theirs) > 65
    assert theirs - REFUSED - {flag.name for flag in FLAGS} == set()


def test_help_shows_every_flag_once():
    got = [
        line.split()[0].partition("=")[0]
        for line in help_text().splitlines()
        if line.startswith("  -")
    ]
    assert got == [f"-{flag.name}" for flag in FLAGS]
    assert all(len(line) <= 100 for line in help_text().splitlines())


def test_no_flag_has_two_meanings():
    names = [flag.name for flag in FLAGS]
    assert len(names) == len(set(names))
    assert not REFUSED & set(names)
    assert REFUSED_WITH_VALUE < REFUSED


@pytest.mark.parametrize("word", ["-h", "--help", "-help", "-V", "--version"])
def test_help_and_version_are_found_while_parsing(word):
    view = "version" if word.lower() in ("-v", "--version") else "help"
    for words in ([word], [word, *PAIR], [*PAIR, word], ["-top", word, "a", "b", "c"]):
        assert parse(words) == Options(view=view)
    # A word that a flag takes as its value asks for nothing, nor what follows --.
    assert parse(["-focus", word, *PAIR]).focus == word
    assert parse(["--", "p", word]) == Options(base=("p",), new=(word,))
    assert word in refused("-weblist", word, *PAIR)


def test_active_options_read_as_typed():
    words = [
        "-focus=json",
        "--work=8:9",
        "-normalize",
        "-inuse_space",
        "-o=x.json",
        "-q",
    ]
    assert active(parse([*words, *PAIR])) == [
        "-focus=json",
        "-sample_index=inuse_space",
    ]
    assert active(parse(PAIR)) == []
