"""The brief for programs is in the words of the report for people."""

from __future__ import annotations

import json

import pytest

from pprofdiff.api import compare
from pprofdiff.report.brief import render
from tests.conftest import DATA, STORIES


@pytest.mark.parametrize("story", STORIES)
def test_every_sentence_stands_in_the_report(story):
    both = compare(DATA / story / "base", DATA / story / "new")
    brief = json.loads(render(both.report()))
    text = " ".join(both.to_text(full=True).split())
    causes = brief["causes"]
    said = [one[name] for one in causes for name in ("title", "text", "advice")]
    said += [title for one in causes for title in one["follows"]]
    said += brief["outcome"] + brief["units"] + brief["account"] + brief["not_known"]
    assert [words for words in said if " ".join(words.split()) not in text] == []
    assert causes
    assert brief["verdict"] == json.loads(both.to_json())["outcome"]["verdict"]
