"""What a note on the source says of commits."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.model.source import Commit
from pprofdiff.report.markdown.markup import noted
from pprofdiff.report.rows import SourceNote

COMMIT, OTHER = Commit("a" * 40, "store: price"), Commit("b" * 40, "store: sort")
NOTE = SourceNote(
    " in m.F",
    "Changed: ",
    ChangedLines(
        "m.F", "f.go", 3, 5, gone=False, base=0, new=1, commits=(COMMIT, OTHER)
    ),
)


def test_the_subject_of_a_commit_is_said_once():
    assert NOTE.text.endswith('; aaaaaaaaa "store: price"; bbbbbbbbb "store: sort".')
    again = NOTE.without_subjects({COMMIT})
    assert again.text.endswith('; aaaaaaaaa; bbbbbbbbb "store: sort".')
    assert [commit.id for commit in again.commits] == [COMMIT.id, OTHER.id]
    assert "`aaaaaaaaa`; `bbbbbbbbb` store: sort" in noted(again)


@pytest.mark.parametrize(
    ("subject", "written"),
    [
        ("store: price", "store: price"),
        ("run gofmt -r 'interface{} -> any'", "`run gofmt -r 'interface{} -> any'`"),
        ("use @all (#12)", "`use @all (#12)`"),
        ("tick `now` | then", "``tick `now` ``&#124;` then`"),
    ],
)
def test_a_subject_is_code_as_a_whole_or_not_at_all(subject, written):
    lines = NOTE.lines._replace(commits=(COMMIT._replace(subject=subject),))
    assert noted(NOTE._replace(lines=lines)).endswith(f"; `aaaaaaaaa` {written}")
