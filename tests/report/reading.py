"""Markdown as a parser sees it: what is text, what is code, and that no more is there."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

HOSTILE = (
    "|", "||", "`", "``", "```", "\\", "\\|", "`|`", "<script>alert(1)</script>", "<b>",
    "</details>", "</code>", "<!--", "-->", "[x](javascript:1)", "![i](https://e.org/x)",
    "[", "]", "(", ")", "[^1]", "@user", "#12", "GH-1", "user/repo#3", "!4", "%5",
    "https://e.org/?a=b", "www.e.org", "a@b.org", "mailto:a@b.org", ":smile:", "*x*",
    "**", "_x_", "~~x~~", "~", "$x$", "$$", "&lt;", "&#35;", "&", "\n", "\r\n", "\t", "\0",
    "\u202e", "\u2066", "\u200b", "\u00a0", "\u2028", "  ", " ", "1.", "1) ", "- ", "+ ",
    "---", "===", "~~~", "# ", "> ", "/close", "{{", "deadbeef1", "main.f", "x", "µ",
    "main.(*Map[go.shape.string, go.shape.int]).Get", "| --- |", "<0.1%", "é́", "شمس",
)  # fmt: skip

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_OURS = re.compile(
    r"<!-- pprofdiff [\w%./~-]* [\w%./~-]* -->\n?"
    r"|<details(?: open)?>\n<summary>(?P<summary>[^\n]*)</summary>\n?"
    r"|</details>\n?"
)
_MEANT = {"paragraph", "heading", "bullet_list", "ordered_list", "list_item", "inline",
          "table", "thead", "tbody", "tr", "th", "td", "fence", "html_block"}  # fmt: skip
# What GitHub or GitLab would look for in text that is not code.
_FOUND = re.compile(
    r"[@#$<>`*_\[\]{}\\&]|://|\bwww\.|:[\w+-]+:|[!%]\w|\bGH-\d|(?:^|\n)/\w"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"
)


def unstyled(text):
    """Return what a terminal was sent, without styles."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "\n".join(line.rstrip() for line in plain.splitlines()) + "\n"


def tokens(text):
    """Return the block tokens."""
    return _PARSER.parse(text)


def inline_tokens(token):
    """Return what an inline token consists of; raise for anything not ours."""
    kinds = {child.type for child in token.children}
    assert kinds <= {"text", "code_inline", "strong_open", "strong_close"}, (
        token.content
    )
    for child in token.children:
        if child.type == "text":
            bare = re.sub(r"<[\d.]+%?", "", child.content)
            assert not _FOUND.search(bare), (child.content, token.content)
    return token.children


def shown(token):
    """Return what a reader sees of an inline token."""
    return "".join(child.content for child in inline_tokens(token)).replace("\xa0", " ")


def sound(text):
    """Check that a page consists of nothing but what the writer meant."""
    for token in tokens(text):
        assert re.sub("_(open|close)$", "", token.type) in _MEANT, token
        if token.type == "inline":
            inline_tokens(token)
        elif token.type == "html_block":
            ours = _OURS.fullmatch(token.content)
            assert ours, token.content
            words = re.sub("</?code>", "", ours["summary"] or "")
            assert not re.search("[<>]", words), token.content
            bare = re.sub("<code>.*?</code>", "", ours["summary"] or "")
            assert not re.search("[@#]", bare.replace("&#", "")), token.content
        elif token.type == "heading_open":
            assert token.tag == "h3"
        elif token.type == "fence":
            assert token.info == "text"


def tables(text):
    """Return each table as rows of cells, as a reader sees them."""
    found, inside = [], False
    for token in tokens(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append("")
            inside = True
        elif token.type in ("th_close", "td_close"):
            inside = False
        elif token.type == "inline" and inside:
            found[-1][-1][-1] = shown(token)
    return found
