"""Text in the room there is: whatever it says, numbers and widths hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.report.text.fitting import (
    broken,
    clipped,
    columns,
    distinct_within,
    end_cut,
    middle_cut,
    named_short,
)
from pprofdiff.report.text.layout import Grid, Word
from pprofdiff.report.text.lines import Page, lines

NUMBER = re.compile(r"[\d.,]*\d[\d.,]*")
names = st.text(st.sampled_from("abG.*()[]/ 0123456789,世é←"), max_size=60)
numbers = st.from_regex(r"[▲▼~]? ?[−+]?\d{1,7}\.\d{1,3}( ms)?", fullmatch=True)


@given(names, st.integers(1, 70))
def test_a_cut_text_has_the_room_and_only_whole_numbers(text, room):
    for cut in (middle_cut(text, room), end_cut(text, room)):
        assert columns(cut) <= max(room, 1)
        if cut == text:
            continue
        head, _, tail = cut.partition("…")
        assert text.startswith(head)
        assert text.endswith(tail)
        whole = NUMBER.findall(text)
        assert NUMBER.findall(head) == whole[: len(NUMBER.findall(head))]
        assert NUMBER.findall(tail) == whole[len(whole) - len(NUMBER.findall(tail)) :]


def test_names_lose_their_middle():
    assert middle_cut("debuglog.(*Logger).Debug", 15) == "debuglo…).Debug"
    assert middle_cut("世界世界世界", 7) == "世…界"
    assert middle_cut("least left in 100 ms (MMU)", 18) == "least le… ms (MMU)"
    assert end_cut("within 29.05 ms", 11) == "within…"


@given(st.lists(names.filter(str.strip), min_size=1), st.integers(20, 90))
def test_broken_text_loses_nothing(words, room):
    text = " ".join(" ".join(words).split())
    for whole in (True, False):
        got = broken(text, room, whole=whole)
        glue = " " if whole else ""
        assert glue.join(got).replace(" ", "") == text.replace(" ", "")
        if not whole:
            assert all(columns(line) <= room for line in got)


def test_sentences_stay_whole_then_clauses():
    text = "A takes 1.5 → 2.5 ms. B, which is new, takes 3 ms; C takes 4 ms. D is gone."

    def within(room, text=text):
        return clipped(text, lambda some: len(some) <= room)

    assert within(100) == text
    assert within(70) == text.removesuffix(" D is gone.")
    assert within(60) == "A takes 1.5 → 2.5 ms."
    one = "B, which is new, takes 3 ms; C takes 4 → 5 ms of CPU."
    assert within(40, one) == "B, which is new, takes 3 ms; …"
    assert within(20, one) == "B, which is new, …"
    ended = "99 % end within 4 ms (0.58×); goroutines of main.run wait for longer"
    assert within(50, ended) == "99 % end within 4 ms (0.58×); …"
    assert within(17, "C takes 4 → 5 ms of CPU") == "C takes …"


def test_no_sentence_ends_inside_a_quotation():
    text = 'Changed: a.go:5; 1a2b3c "Rewrite it. It was slow." by A.'
    assert clipped(text, lambda some: len(some) <= 45) == "Changed: a.go:5; …"


def test_only_long_names_of_a_title_give_way():
    name = "example.com/very/long/path/of/a/package.(*Type[go.shape.string]).Method"
    title = f"{name} uses 2.5× the CPU. ▲+10.0 ms/op, major"
    short = named_short(title, lambda some: len(some) <= 90)
    assert len(short) <= 90
    assert short.endswith(" uses 2.5× the CPU. ▲+10.0 ms/op, major")
    assert "…" in short.split()[0]
    # Where nothing is left to cut, all of it is said.
    assert named_short("a b c", lambda _: False) == "a b c"


def test_a_name_that_another_begins_with_is_cut_by_itself():
    name = "catalogue.(*Index[int,string]).LookUpWithSeveralPrefixes"
    title = f"{name} in {name}.func1"
    first, _, second = named_short(title, lambda some: len(some) <= 64).split()
    assert len(first) == len(second) == 30
    assert first != second


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(names, names, st.lists(numbers, min_size=5, max_size=5)),
        min_size=1,
        max_size=5,
    ),
    st.integers(40, 140),
    st.booleans(),
)
def test_a_table_has_every_number_in_any_width(rows, width, first):
    """Rows are names, asides and five numbers, the name before or behind them."""

    def placed(name, others):
        return (name, *others) if first else (*others, name)

    words = (placed(Word(n, aside=aside), map(Word, row)) for n, aside, row in rows)
    headings, at = placed("a name", ["one heading"] * 5), 0 if first else 5
    align = "".join(placed("<", ">>>>>"))
    grid = Grid(headings, align, tuple(words), at, frozenset((at,)))
    drawn = [
        "".join(w for w, _ in line) for line in lines([grid], Page(width, fit=True))
    ]
    assert max(map(columns, drawn)) <= width
    text, at = "\n".join(drawn), 0
    for _, _, row in rows:
        for number in row:
            match = re.compile(rf"(?<![^\s]){re.escape(number.strip())}(?!\S)").search(
                text, at
            )
            assert match, (number, text)
            at = match.end()


@given(st.lists(names, min_size=2, max_size=6, unique=True), st.integers(8, 40))
def test_names_that_become_alike_are_cut_elsewhere(texts, room):
    got = distinct_within(texts, room)
    assert all(columns(short) <= room for short in got)
    plain = [middle_cut(text, room) for text in texts]
    for short, cut in zip(got, plain, strict=True):
        if plain.count(cut) == 1:
            assert short == cut


def test_unlike_names_stay_unlike():
    for form, *unlike in [
        ("(*Builder).{} ← main.sentence", "WriteString", "WriteByte"),
        ("goroutines {} at once, mean", "running", "runnable"),
        ("lz4.(*{}).CompressBlock", "CompressorHC", "Compressor"),
        ("reflect.{} ← yaml.sequence", "unsafe_NewArray", "unsafe_New"),
    ]:
        names_of = [form.format(one) for one in unlike]
        assert len({middle_cut(name, 20) for name in names_of}) == 1
        assert len(set(distinct_within(names_of, 20))) == 2


@pytest.mark.slow
def test_no_line_ends_between_a_number_and_its_unit():
    text = "GC runs 0.24× as often, of which ▼−31.67 pp, and 2.17 → 4.26 ms (1.96×)."
    for room in range(20, 90):
        got = broken(text, room, whole=True)
        assert any("▼−31.67 pp," in line for line in got)
        assert any("4.26 ms" in line for line in got)
