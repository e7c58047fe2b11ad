"""What is noted of a command lets nobody in."""

from __future__ import annotations

import pytest

from pprofdiff.inputs.redaction import without_secrets


@pytest.mark.parametrize(
    ("words", "got"),
    [
        (["hey", "-z", "5s", "http://u:SECRET@h:80/p?token=SECRET&n=1"],
         ["hey", "-z", "5s", "http://h:80/p?…"]),
        (["hey", "-H", "Authorization: Bearer SECRET", "http://h/"],
         ["hey", "-H", "Authorization: …", "http://h/"]),
        (["curl", "-u", "me:SECRET", "--cookie", "SECRET", "h"],
         ["curl", "-u", "…", "--cookie", "…", "h"]),
        (["load", "--api-key=SECRET", "--access-token", "SECRET"],
         ["load", "--api-key=…", "--access-token", "…"]),
        (["load", "-H=X-Auth-Token:SECRET", "PASSWORD=SECRET SECRET"],
         ["load", "-H=X-Auth-Token:…", "PASSWORD=…"]),
        (["vegeta", "-targets=https://SECRET@h/x?SECRET"],
         ["vegeta", "-targets=https://h/x?…"]),
        (["served", "127.0.0.1:80", "--author=me", "a b", "-n", "5"],
         ["served", "127.0.0.1:80", "--author=me", "a b", "-n", "5"]),
    ],
)  # fmt: skip
def test_logins_and_tokens_are_left_out(words, got):
    assert without_secrets(words) == got
