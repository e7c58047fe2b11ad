"""Why it changed: rules that turn comparisons into findings with evidence.

Start at `rules.find`. `case` holds what rules read, `model` what they return; each
other module holds the rules on one subject.
"""
