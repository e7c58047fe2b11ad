"""A fleet step by step, as people and programs read it.

`told` has what is said, in parts that all writers lay out; `document` is JSON, `page`
the page, `files` says which ending is which.
"""
