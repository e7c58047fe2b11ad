"""What SVG documents refer to, and what there is to refer to."""

from __future__ import annotations

import re
from xml.etree.ElementTree import fromstring

URL = re.compile(r"url\(#([^)]*)\)")
XLINK = "{http://www.w3.org/1999/xlink}"


def ids_of(root):
    """Return the ids of all elements, in document order."""
    return [element.get("id") for element in root.iter() if "id" in element.attrib]


def references_of(root):
    """Return every id that an attribute of any element refers to."""
    referred = []
    for element in root.iter():
        for name, value in element.attrib.items():
            referred += URL.findall(value)
            if name.removeprefix(XLINK) == "href" and value.startswith("#"):
                referred.append(value[1:])
            if name in ("aria-labelledby", "aria-describedby"):
                referred += value.split()
    return referred


def resolved(data):
    """Return the root of an SVG, whose references all lead to one element each."""
    root = fromstring(data)  # noqa: S314 - our own
    ids = ids_of(root)
    assert len(ids) == len(set(ids))
    assert set(references_of(root)) <= set(ids)
    return root
