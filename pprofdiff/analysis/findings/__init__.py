"""Why it changed: rules over the comparisons, each a sentence with its evidence.

Start at `rules.find`. `case` is what rules look at, `model` what they return; each
other module holds the rules of one subject.
"""
