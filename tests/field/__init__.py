"""The field test: pairs of real Go programs whose true cause is known.

``python -m tests.field`` compares every pair and prints what stood first next to the
truth (``score.txt`` has the judgements as they are: `test_score`);
``python -m tests.field.capture NAME…`` builds and measures pairs again. A pair
is a folder of ``pairs``: ``pair.toml`` (how it is made, and its truth), ``base`` and
``new``.
"""
