"""A fleet step by step, for people and for programs.

`sentences` makes the sentences and tables that all writers lay out; `document` is JSON
and CSV, `page` the page; `files` picks the writer by extension.
"""
