"""Members of lists are numbered as they first appear."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.model.numbering import numbered


@given(st.lists(st.lists(st.text(max_size=1)), max_size=4))
def test_numbers_stand_for_members_in_their_order(lists):
    number, places = numbered(*lists)
    members = list(number)
    assert [[members[i] for i in one.tolist()] for one in places] == lists
    assert list(number.values()) == list(range(len(number)))
    met = [member for one in lists for member in one]
    assert members == sorted(number, key=met.index)


def test_no_list_has_no_numbers():
    assert numbered() == ({}, [])
