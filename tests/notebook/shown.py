"""What viewers make of a notebook's HTML: parsed, and with all that they drop gone."""

from __future__ import annotations

from html.parser import HTMLParser

# What a browser closes by itself.
VOID = {"br", "img", "meta", "link", "input"}


class Parsed(HTMLParser):
    """Elements as (tag, attributes), text, and whether every element is closed."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.words, self.rows = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Note an element, and where it opens."""
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close the element opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Note a text, and the cell it is in."""
        self.words.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def tags(self):
        """All tags."""
        return {tag for tag, _ in self.elements}

    @property
    def text(self):
        """All text."""
        return "".join(self.words)
