"""A fleet step by step: the curve of each share, and the steps at which it changed.

`curves` has shares and how far hosts spread, `changes` says at which steps a share
changed, and `judged` does both for all that a series has.
"""
