"""Names for people: short, distinct, and what of a renamed one differs."""

from __future__ import annotations

import gzip
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.goruntime.names import is_standard_library, package_end
from pprofdiff.goruntime.readable import (
    distinct_names,
    path_before,
    short,
    short_before,
    with_path,
)
from pprofdiff.loaders.profiles.pprof import decode
from tests.conftest import DATA
from tests.examples import examples

FIELD = DATA.parent / "field" / "pairs"


@cache
def real():
    """Return every function's name in the profiles of the repository's captures."""
    names = set()
    for folder in (DATA, FIELD):
        for path in sorted(folder.rglob("*.pb.gz")):
            profile = decode(gzip.decompress(path.read_bytes()))
            names.update(profile.strings[i] for i in profile.functions.name.tolist())
    return sorted(names)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("runtime.mallocgc", "runtime.mallocgc"),
        ("memeqbody", "memeqbody"),
        ("", ""),
        ("example.com/a/b.(*T).Run.func1", "b.(*T).Run.func1"),
        ("gopkg.in/yaml%2ev3.(*Decoder).Decode", "yaml.(*Decoder).Decode"),
        ("gopkg.in/yaml.v3.(*Decoder).Decode", "yaml.(*Decoder).Decode"),
        ("gopkg.in/olivere/elastic%2ev7.Dial", "elastic.Dial"),
        ("github.com/x/expr/vm/runtime.Fetch", "vm/runtime.Fetch"),
        ("github.com/x/app/internal/sync/v2.Do", "app/internal/sync.Do"),
        ("golang.org/x/net/html.Parse", "x/net/html.Parse"),
        ("example.com/app/v2/internal.Do", "internal.Do"),
        ("example.com/shop/index.Find", "index.Find"),
        ("net/http.Get", "http.Get"),
        ("example.com/yaml%2ev3.F", "yaml.v3.F"),
        ("example.com/%e4%b8%96.F", "世.F"),
        ("example.com/a%0ab.F", "a%0ab.F"),
        ("example.com/a%e4.F", "a%e4.F"),
        ("github.com/x/lru/v2.(*Cache[go.shape.int,go.shape.struct { a/b.F string; G int }]).Add", "lru.(*Cache[int,struct{…}]).Add"),
        ("github.com/x/lru/v2.New", "lru.New"),
        ("github.com/x/lru@v1.2.3/simple.New", "simple.New"),
        ("example.com/v2/app.Map[...]", "app.Map[…]"),
        ("v2.F", "v2.F"),
        ("main.Map[go.shape.string,example.com/a/b.T]", "main.Map[string,b.T]"),
        ("main.Map[go.shape.string, go.shape.int]", "main.Map[string,int]"),
        ("main.Map[go.shape.*uint8].func1[go.shape.int]", "main.Map[*…].func1[int]"),
        ("main.F[*example.com/a/b.T]", "main.F[*b.T]"),
        ("main.F[go.shape.int_0]", "main.F[int]"),
        ("main.F[go.shape.[]int]", "main.F[[]int]"),
        ("main.F[go.shape.[]example.com/a.VeryLongNameOfAType]", "main.F[[]…]"),
        ("main.F[go.shape.[4]a/b.T]", "main.F[[4]b.T]"),
        ("main.F[go.shape.chan a/b.T]", "main.F[chan b.T]"),
        ("main.F[go.shape.func(int, string) (bool, error)]", "main.F[func(…)]"),
        ("main.F[go.shape.map[string]int]", "main.F[map[string]int]"),
        ("main.F[go.shape.interface {}]", "main.F[any]"),
        ("main.F[go.shape.struct {}]", "main.F[struct{}]"),
        ("main.F[go.shape.interface { Less(a/b.Item) bool }]", "main.F[interface{Less}]"),
        ("main.F[go.shape.interface { Read([]uint8) (int, error); Close() error }]", "main.F[interface{…}]"),
        ("main.F[*a/b.node[go.shape.interface { Less(a/b.Item) bool }]]", "main.F[*b.node[…]]"),
        ("main.F[gopkg.in/yaml%2ev3.Node]", "main.F[yaml.Node]"),
        ("main.broken[go.shape", "main.broken[go.shape"),
        ("type:.eq.github.com/x/y.T", "type:.eq.y.T"),
        ("type:.eq.[4]string", "type:.eq.[4]string"),
        ("go.uber.org/zap.New", "zap.New"),
        ("go:buildid", "go:buildid"),
        ("std::operator/", "std::operator/"),
        ("std::vector::~vector", "std::vector::~vector"),
        ("f<std::map<std::string, long> >", "f<…>"),
        ("Foo<std::map<long, A>>::operator<<", "Foo<…>::operator<<"),
        ("std::less<int>::operator()", "std::less<int>::operator()"),
        ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>::drop"),
        ("(anonymous:L#103:C#41)", "(anonymous:L#103:C#41)"),
    ],
)  # fmt: skip
def test_a_short_name_keeps_its_package_and_no_shapes(name, said):
    assert short(name) == said


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a/lru.F", "main.F"], ["lru.F", "main.F"]),
        (["x/a/lru.F", "x/b/lru.F"], ["a/lru.F", "b/lru.F"]),
        (["x/a/lru.F", "y/a/lru.F"], ["x/a/lru.F", "y/a/lru.F"]),
        (["x/lru.F", "x/lru/v2.F"], ["lru.F", "lru/v2.F"]),
        (["lru.F", "x/lru.F"], ["lru.F", "x/lru.F"]),
        (["gopkg.in/y%2ev2.F", "gopkg.in/y%2ev3.F"], ["y.v2.F", "y.v3.F"]),
        (["x/a.F", "x/b.F", "x/a.F"], ["a.F", "b.F", "a.F"]),
        (["internal/sync.F", "sync.F"], ["internal/sync.F", "sync.F"]),
        (["internal/runtime/atomic.F", "x/runtime/atomic.F"], ["internal/runtime/atomic.F", "atomic.F"]),
        (["m.F[go.shape.*uint8]", "m.F[*a/b.VeryLongNameOfAType]"], ["m.F[*uint8]", "m.F[*a/b.VeryLongNameOfAType]"]),
        (["x/a.F[go.shape.struct { a int }]", "x/a.F[go.shape.struct { b int }]"], ["a.F[struct { a int }]", "a.F[struct { b int }]"]),
        (["m.F[go.shape.int]", "m.F[int]"], ["m.F[go.shape.int]", "m.F[int]"]),
        (["x/yaml.v2.F", "x/yaml%2ev2.F"], ["x/yaml.v2.F", "x/yaml%2ev2.F"]),
    ],
)  # fmt: skip
def test_names_that_read_alike_are_distinguished(names, said):
    assert distinct_names(names) == said


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("gopkg.in/yaml%2ev2.F", "gopkg.in/yaml%2ev3.F", "yaml.v2"),
        ("x.org/lru/simplelru.(*LRU).Add", "x.org/lru/v2.(*LRU[go.shape.int]).Add", "simplelru"),
        ("x.org/lru.(*Cache).Add", "x.org/lru/v2.(*Cache[go.shape.int]).Add", "v0/v1"),
        ("x.org/lru/v2/a.F", "x.org/lru/v3/a.F", "v2"),
        ("x.org/lru/v2.F", "x.org/lru.F", "v2"),
        ("github.com/old/zstd.F", "github.com/new/zstd.F", "old/zstd"),
        ("github.com/old/x/y/zstd.F", "github.com/new/x/y/zstd.F", "old/…/zstd"),
        ("main.F", "example.com/app.F", "main"),
        ("github.com/yuin/goldmark/parser.F", "x.org/text/md/parser.F", "goldmark/parser"),
        ("github.com/tidwall/gjson.F", "x.org/records.F", "gjson"),
        ("x.org/lru/v2/a.F", "y.org/lru/a.F", "lru/v2/a"),
        ("runtime/internal/atomic.F", "internal/runtime/atomic.F", "runtime/internal/atomic"),
        ("sync.F", "internal/sync.F", "sync"),
        ("runtime.findrunnable", "runtime.findRunnable", "findrunnable"),
        ("runtime.gentraceback", "runtime.(*unwinder).next", "gentraceback"),
        ("main.f.func1", "main.f.func2", "func1"),
        ("main.f.func1.2", "main.f.func1", "main.f.func1.2"),
        ("main.f.func1", "main.f.func1.1", "main.f.func1"),
        ("main.(*Old[go.shape.int]).M", "main.(*New[go.shape.int]).M", "*Old[int]"),
        ("main.(*T).M", "main.M", "main.(*T).M"),
        ("main.F", "main.F[go.shape.int]", "F"),
        ("main.F[go.shape.int]", "main.F[go.shape.string]", "[int]"),
        ("main.(*T[go.shape.int]).M", "main.(*T[go.shape.string]).M", "[int]"),
        ("main.(*T[go.shape.int]).M", "main.(*T).M", "[int]"),
        ("main.F[...]", "main.F[go.shape.int]", ""),
        ("a/x.Old", "b/y.New", "x.Old"),
        ("memhash", "runtime.memhash", "memhash"),
    ],
)  # fmt: skip
def test_what_was_is_what_differs(before, now, said):
    assert short_before(before, now) == said


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("/a/src/x.go", "/b/src/x.go", "a/…/x.go"),
        ("x/y", "x/z", "y"),
        ("x", "x/y", "x"),
        ("x/y", "x", "y"),
    ],
)
def test_a_path_that_was_is_what_differs(before, now, said):
    assert path_before(before, now) == said


def test_a_path_is_kept_where_it_is_asked_for():
    name = "gopkg.in/yaml%2ev3.(*T[go.shape.*uint8]).M"
    assert with_path(name) == "gopkg.in/yaml.v3.(*T[*…]).M"
    assert with_path("memeqbody") == "memeqbody"


@pytest.mark.whole
@pytest.mark.slow
def test_all_real_names_are_distinct_and_end_as_they_do():
    names = real()
    assert len(names) > 5_000
    texts = distinct_names(names)
    assert len(set(texts)) == len(names)
    for name, text in zip(names, texts, strict=True):
        assert text or not name
        assert "go.shape" not in short(name)
        assert "%2e" not in text
        assert len(short(name)) <= len(name)
        if "[" not in name and package_end(name):
            assert text.endswith(name[package_end(name) :])


@pytest.mark.slow
def test_no_short_name_has_a_version_or_needless_path():
    for name in real():
        if package_end(name):
            path = short(name)[: package_end(short(name))]
            assert "/" not in path or is_standard_library(path.partition("/")[2])
            assert not path.startswith(("v2", "v3", "v4", "v5"))


symbols = st.one_of(
    st.sampled_from(["", ".", "/", "a/", "a/.", ".F", "[", "]", "%", "a%.F"]),
    st.deferred(lambda: st.sampled_from(real())),
    st.text(st.sampled_from("ab/.[](){}*,; %2ev3:·-"), max_size=24),
    st.text(max_size=12),
)


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(symbols)
def test_a_short_name_is_never_empty_and_not_shortened_again(name):
    text = short(name)
    assert bool(text) == bool(name)
    assert with_path(name) or not name
    # A short name may be another function's; its arguments stay as they are.
    assert short(text).count("go.shape") == text.count("go.shape")


@settings(max_examples=examples(200))
@given(st.sampled_from(range(1_000_000)))
def test_real_short_names_stay_as_they_are(number):
    name = real()[number % len(real())]
    assert short(short(name)) == short(name)


@settings(max_examples=examples(400))
@given(st.lists(symbols, max_size=12))
def test_distinct_names_are_as_distinct_as_the_names(names):
    texts = distinct_names(names)
    assert len(texts) == len(names)
    assert len(set(zip(names, texts, strict=True))) == len(set(names))
    assert len(set(texts)) == len(set(names))


@settings(max_examples=examples(400))
@given(symbols, symbols)
def test_what_was_never_raises_and_is_short(before, now):
    said = short_before(before, now)
    assert len(said) <= max(len(before), 5)
    if before == now:
        assert said == ""
