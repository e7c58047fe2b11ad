"""Causes of a change in cost per op: places in the program's code."""
