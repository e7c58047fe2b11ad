"""A fleet step by step: the curve of each share, and the steps at which it changed.

`curves` has shares and how much hosts vary, `changes` finds the steps at which a share
changed, and `judged` does both for a whole series.
"""
