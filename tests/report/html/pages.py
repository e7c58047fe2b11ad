"""A page as a parser sees it: its text, its tags, and what its policy allows."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser


class Page(HTMLParser):
    """The tags of a page with their attributes, scripts, styles, and its words.

    `data` are the texts of scripts that hold data, `scripts` the others' texts.
    """

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.words, self.data = [], [], []
        self.scripts, self.styles = [], []
        self._into = self.words
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note a tag, and where the text behind it belongs."""
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            kind = dict(attrs).get("type")
            self._into = self.data if kind == "application/json" else self.scripts
        elif tag == "style":
            self._into = self.styles

    def handle_endtag(self, tag):
        """Note that text is for readers again."""
        if tag in ("script", "style"):
            self._into = self.words

    def handle_data(self, data):
        """Keep text."""
        self._into.append(data)

    @property
    def text(self):
        """What a reader sees, tables and folded parts included."""
        return " ".join(" ".join(self.words).split())

    @property
    def policy(self):
        """The content security policy, by directive."""
        (content,) = (
            attrs["content"]
            for tag, attrs in self.tags
            if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
        )
        return {
            name: values
            for name, *values in (part.split() for part in content.split(";"))
        }


def hashed(text):
    """Return what a policy calls a script or style sheet."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
