"""The order of tests: all of one pair follow one another, so that it is compared once."""

from pathlib import Path


def pytest_collection_modifyitems(items):
    """Have the tests of a pair, and of its swapped sides, in a row."""
    here = Path(__file__).parent
    places = [i for i, item in enumerate(items) if item.path.parent == here]
    ours = sorted((items[i] for i in places), key=_pair)
    for place, item in zip(places, ours, strict=True):
        items[place] = item


def _pair(item):
    """Return the name of an item's pair, "" where it is of none or of all."""
    case = getattr(item, "callspec", None) and item.callspec.params.get("case")
    return case.pair if case else ""
