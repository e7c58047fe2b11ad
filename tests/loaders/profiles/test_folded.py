"""Folded stacks: what a slow reader makes of any lines, and captures of py-spy."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.profiles import pprof
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.loaders.profiles.folded import _parsed, decode
from pprofdiff.model.profiles.profile import stack_names
from tests.examples import examples

DATA = Path(__file__).parents[2] / "data/python"
_FRAMES = st.one_of(
    st.sampled_from(("main", "f (x.py:12)", "a b", "[unknown]", "_start", "µ<T>")),
    st.text(st.characters(exclude_characters="\n;", codec="utf-8"), max_size=6),
)
_COUNTS = st.one_of(st.integers(0, 30), st.just((1 << 63) - 1))
_DECIMALS = st.decimals(0, 30, places=3).map(str)
_STACKS = st.lists(_FRAMES, min_size=1, max_size=6)
_LINES = st.one_of(
    st.lists(st.tuples(_STACKS, _COUNTS)),
    st.lists(st.tuples(_STACKS, _DECIMALS)),
    st.lists(st.tuples(_STACKS.map(lambda stack: ["perf", *stack]), _COUNTS)),
)


def slowly(data):
    """Return the stacks and counts of folded stacks, None if a line has no count."""
    rows = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        trimmed = line.rstrip(b" \t\r")
        if not trimmed:
            continue
        at = max(trimmed.rfind(blank) for blank in (b" ", b"\t", b"\r")) + 1
        stack, count = trimmed[:at].rstrip(b" \t\r"), trimmed[at:]
        if not re.fullmatch(rb"[0-9]{1,19}(\.[0-9]*)?", count):
            return None
        if int(count.partition(b".")[0]) >= 1 << 63:
            return None
        rows.append((stack.decode("utf-8", "replace"), count))
    closed = all(stack.endswith(";") for stack, _ in rows if stack)
    texts = [stack[:-1] if closed else stack for stack, _ in rows]
    stacks = from_functions([text.split(";") if text else [] for text in texts])
    counts = rounded([count for _, count in rows])
    return [
        (";".join(map(named, frames)), count)
        for frames, count in zip(stacks, counts, strict=True)
    ]


def rounded(counts):
    """Return counts as integers; decimals are rounded so that their sums stay."""
    if not any(b"." in count for count in counts):
        return list(map(int, counts))
    sums = accumulate(map(float, counts), initial=0.0)
    return [round(after) - round(before) for before, after in pairwise(sums)]


def from_functions(stacks):
    """Return the stacks without empty roots, or else without the process's name."""
    less = [stack[1:] if stack[1:] and not stack[0] else stack for stack in stacks]
    some = [stack for stack in stacks if stack]
    if less != stacks or not some or any(len(stack) == 1 for stack in some):
        return less
    roots = {stack[0] for stack in some}
    again = roots & {frame for stack in some for frame in stack[1:]}
    entries = {stack[1] for stack in some} & {"_start", "[unknown]"}
    if len(roots) == 1 and roots != {"main"} and not again and entries:
        return [stack[1:] for stack in stacks]
    return stacks


def named(frame):
    return _parsed(frame)[0] or "<unknown>"


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("f (shop/cart.py:12)", "f"),
        # google-pprof --collapsed
        ("main<00000000004011c0>", "main"),
        ("Index::find(std::string const&) const<0000000000401800>", "Index::find"),
        ("std::operator==<char>(S const&, S const&)[inline]", "std::operator==<char>"),
        ("Foo::operator()(int) const", "Foo::operator()"),
        ("v8::(anonymous namespace)::Invoke", "v8::(anonymous namespace)::Invoke"),
        ("void f<(anonymous namespace)::X>(int)", "void f<(anonymous namespace)::X>"),
        # heaptrack_print
        ("Cache::put(S const&) (cache.cpp)", "Cache::put"),
        ("f<int>(int) const (shop/a.h:12)", "f<int>"),
        # async-profiler, stackcollapse-perf.pl --all
        ("java/lang/String.format_[j]", "java/lang/String.format"),
        # Node.js with --perf-basic-prof
        ("JS:*total /srv/shop.js:3:8", "total"),
        ("JS:~ /srv/shop.js:1:1", "shop.js"),
        ("{closure:/srv/cart.php(5)}", "{closure:cart.php(5)}"),
        ("LazyCompile:~ /srv/shop.js:7:20", "shop.js:7:20"),
        # rbspy
        ("block in score - /srv/shop/feed.rb:9", "block in score"),
        ("(unknown) [c function] - (unknown)", "(unknown) [c function]"),
        # fil-profile, flameprof, tracing-flame
        ("/srv/cart.py:12 (total)", "total"),
        ("<frozen runpy>:290 (run_path)", "run_path"),
        ("/srv/cart.py:12:<listcomp>", "<listcomp>"),
        ("~:0:<built-in method builtins.sorted>", "<built-in method builtins.sorted>"),
        (" shop::total:src/cart.rs:12", "shop::total"),
        (" shop::total:C:\\shop\\cart.rs:12", "shop::total"),
        ("Cart::total", "Cart::total"),
        # Clojure, Java's lambdas
        ("shop$find_rule__163$fn__164.invoke", "shop$find_rule$fn.invoke"),
        ("shop$eval199.invokeStatic", "shop$eval.invokeStatic"),
        ("shop/Cart$$Lambda$14.0x0000000800c03000.apply", "shop/Cart$$Lambda.apply"),
        ("java/lang/LambdaForm$MH.0x00007f1a.linkTo", "java/lang/LambdaForm$MH.linkTo"),
        ("java/util/Map$Entry.get", "java/util/Map$Entry.get"),
        ("lookup__shop_5", "lookup__shop_5"),
        # perf script
        ("main.(*Ledger).Post+0xae (/srv/ledger)", "main.(*Ledger).Post"),
        ("+0x12f4 (/srv/shop/bin/ledger)", "[ledger]"),
        ("+0x12f4", "[unknown]"),
        # bpftrace
        ("shop::sum(std::vector<int> const&)+76", "shop::sum"),
        ("std::plus<int>::operator+", "std::plus<int>::operator+"),
        # plprofiler
        ("public.book() oid=16709", "public.book"),
        # jstack
        ("com.shop.Main$$Lambda$1/0x00007fcd4c003220.run", "com.shop.Main$$Lambda.run"),
        # Free Pascal
        ("SYSTEM_$$_MOVE$formal$formal$INT64", "SYSTEM.MOVE"),
        ("P$CART$_$TCART_$__$$_TOTAL$$INT64", "CART.TCART.TOTAL"),
        ("P$CART$_$SERVE$TCART$$INT64_$$_INNER$$INT64", "CART.SERVE.INNER"),
        ("CLASSES$_$TLIST_$__$$_ADD$POINTER$$LONGINT", "CLASSES.TLIST.ADD"),
        ("SHOP_$$_PRICE$crc1A2B3C4D", "SHOP.PRICE"),
        # GNU Fortran
        ("__shop_MOD_interest", "shop::interest"),
        # D, with names that refer back, in templates and in functions
        ("_D4shop6Ledger4findMFiZPSQx7Account", "shop.Ledger.find"),
        ("_D4shop__T5serveTiZQjFCQp6LedgeriZm", "shop.serve"),
        ("_D2rt__T7GenericThThZQn5tsizeMxFNaZm", "rt.Generic.tsize"),
        ("_D4shop4mainFZ9__lambda1FNaNbNiNfiZi", "shop.main.__lambda1"),
        ("_D9999shop", "_D9999shop"),
        ("fpc_ansistr_concat", "fpc_ansistr_concat"),
        ("main.(*ring).put", "main.(*ring).put"),
        ("block (2 levels) in Page#row", "block (2 levels) in Page#row"),
    ],
)
def test_a_frame_is_named_by_its_function_alone(frame, name):
    assert read(f"{frame} 3".encode()) == [(name, 3)]


def test_a_semicolon_after_each_stack_is_no_frame():
    assert read(b"main;f; 3\nmain; 4\n") == [("main;f", 3), ("main", 4)]
    assert read(b"main;f; 3\nmain 4\n") == [("main;f;<unknown>", 3), ("main", 4)]


def test_allocations_of_heaptrack_and_decimals_are_no_samples():
    kinds = {b"main;f; 3\n": "weight", b"main;f 3.0\n": "weight", b"f 3\n": "samples"}
    for text, kind in kinds.items():
        assert decode(text).sample_types[0].type == kind


@pytest.mark.parametrize("mark", [b"", b"_[k]"])
def test_functions_of_the_kernel_are_marked(mark):
    """``copy`` is also the program's, and keeps its name."""
    text = b"sh;f;copy;do_syscall_64%b;vfs_write%b;copy 3\nsh;f;copy 4\n" % (mark, mark)
    assert read(text) == [
        ("f;copy;do_syscall_64_[k];vfs_write_[k];copy", 3),
        ("f;copy", 4),
    ]


def test_stacks_with_the_kernels_frames_begin_with_the_process():
    """Cut short they show nothing else that a process begins with."""
    text = b"cart;TOTAL 3\ncart;NAMES;asm_sysvec_call_function;schedule 1\n"
    names = ("TOTAL", 3), ("NAMES;asm_sysvec_call_function_[k];schedule_[k]", 1)
    assert read(text) == [*names]
    for root in ("_start", "main", "[unknown]"):
        assert read(text.replace(b"cart", root.encode())) == [
            (f"{root};{name}", count) for name, count in names
        ]


def test_the_code_of_a_script_is_named_without_its_folder():
    """Both sides' scripts are in folders of their own."""
    assert read(b"/srv/base/shop.php;total 2\n") == [("shop.php;total", 2)]
    text = b'body of "/srv/new/shop.rkt";total 2\n'
    assert read(text) == [("body of shop.rkt;total", 2)]
    assert read(b"a /b/c;total 2\n") == [("a /b/c;total", 2)]


def test_stacks_that_end_where_goroutines_begin_are_read_from_there():
    """Leaf first, as fgprof writes its folded stacks."""
    text = b"io.copy;main.f;runtime.goexit 3\nmain.g;runtime.goexit 2\nmain.g 1\n"
    forward = b"runtime.goexit;main.f;io.copy 3\nruntime.goexit;main.g 2\nmain.g 1\n"
    assert read(text) == read(forward)
    mixed = text + b"runtime.goexit;main.h 1\n"
    assert read(mixed)[0] == ("io.copy;main.f;runtime.goexit", 3)


def read(data):
    """Return the stacks and counts that `decode` reads, None if it refuses."""
    try:
        profile = decode(data, "x.folded")
    except DamagedError as error:
        said = str(error)
    else:
        stacks, _ = stack_names(profile)
        return list(zip(stacks, profile.values[:, 0].tolist(), strict=True))
    assert re.match(r"x\.folded: damaged folded stacks: line \d+ ", said)
    assert said.isprintable()
    assert len(said) < 200
    return None


@settings(max_examples=examples(400))
@given(_LINES, st.sampled_from(("\n", "\r\n", "\n\n")), st.sampled_from(" \t"))
def test_lines_are_read_as_a_slow_reader_does(lines, feed, blank):
    text = feed.join(f"{';'.join(stack)}{blank}{count}" for stack, count in lines)
    assert read(text.encode()) == slowly(text.encode())


@settings(max_examples=examples(400))
@given(st.text(alphabet="ab;:() \t\r\n0129.\0", max_size=40).map(str.encode))
def test_any_text_is_read_or_refused_as_a_slow_reader_does(data):
    assert read(data) == slowly(data)


_PLAIN = st.text(st.characters(categories=["L", "N", "P"], exclude_characters=";()[]"))
_WORDS = st.lists(
    st.tuples(st.lists(_PLAIN.filter(bool), min_size=1, max_size=5), _COUNTS)
)


@settings(max_examples=examples(200))
@given(_WORDS)
def test_folded_to_profile_to_folded(lines):
    text = "".join(f"{';'.join(stack)} {count}\n" for stack, count in lines)
    profile = decode(text.encode())
    for again in (profile, pprof.decode(encode(profile))):
        stacks, values = stack_names(again)[0], again.values[:, 0].tolist()
        assert "".join(map("{} {}\n".format, stacks, values)) == text


def test_long_runs_take_linear_time():
    for line in (b" " * 4_000_000, b";" * 4_000_000, b"a " * 2_000_000):
        assert read(b"x;y" + line + b" 7\n") is not None


def test_a_frame_of_py_spy_has_a_file_and_a_line():
    profile = decode(
        b"main (shop/a.py:3);f (b.py:12) 4\nmain (shop/a.py:5);g (c.py) 1\n"
    )
    strings, functions = profile.strings, profile.functions
    files = [strings[i] for i in functions.filename.tolist()]
    assert profile.function_names() == ["main", "f", "g"]
    assert files == ["shop/a.py", "b.py", "c.py"]
    lines = profile.locations.line_number[profile.stack_locations]
    assert lines.tolist() == [12, 3, 0, 5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;b 1\n" * 12 + "a;b\n", "line 13 does not end in a number of samples"),
        ("a;b 1\n" * 12 + "a;c 1.5.5\n", "line 13 does not end in a number"),
        ("a;b 1\n" * 12 + f"a {1 << 63}\n", "line 13 has a count of more than 63 bits"),
        (f"a;b {(1 << 63) - 1}\n" * 2, "its values add up to more than 64 bits hold"),
        ("a;b one\n", "neither a profile, "),
    ],
)
def test_damaged_lines_are_one_line_of_error(text, says, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pprofdiff", str(path), str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pprofdiff: {path}: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_counts_of_two_sides_are_refused_in_one_line():
    with pytest.raises(DamagedError, match=r"^d: two counts on each line, as difffold"):
        decode(b"main;a 3 4\nmain;b 0 2\nmain;operator new 1 1\n", "d")
    named = decode(b"main;lib 2 7\nmain;b 2\n", "d")
    assert named.function_names() == ["main", "lib 2", "b"]
