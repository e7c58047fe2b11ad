"""Whether a report contradicts itself: sentences, evidence, sums, marks.

The tests check every report that they make; ``PPROFDIFF_CHECK=1`` checks any.
"""
