"""Patterns that show hosts: Go's regular expressions, within a time limit."""

from __future__ import annotations

import pickle

import pytest

from pprofdiff.errors import UsageError
from pprofdiff.fleets.hosts import host_rule


@pytest.mark.parametrize(
    ("pattern", "host"),
    [
        ("/(?P<host>[^/]+)/[^/]+$", "web-1"),
        ("/(?<host>[^/]+)/[^/]+$", "web-1"),
        ("/(eu|us)/", "eu"),
        ("(?:eu)/(?P<x>w)(?P<host>eb)", "eb"),
        ("(none)", None),
    ],
)
def test_a_group_is_the_host(pattern, host):
    rule = pickle.loads(pickle.dumps(host_rule(pattern)))  # noqa: S301 - our own
    assert rule.of_path("s3://store/eu/web-1/cpu.pb.gz") == host


def test_a_pattern_is_given_up_with_the_flag_that_it_was_typed_as(brief_searches):
    rule = host_rule("((?:a|aa)+)[!#]$", flag="--group-by")
    with pytest.raises(UsageError, match=r"^--group-by: .* takes too long"):
        rule.of_path("a" * 200)
