"""A fleet step by step: the curve of each share, and the steps at which it changed.

`changes` has shares, how much hosts vary, and the steps at which a share changed;
`judged` does that for a whole series.
"""
