"""The account: a change as parts that add up to it exactly, from what was measured."""
