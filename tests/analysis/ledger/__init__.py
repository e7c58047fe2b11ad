"""Units of work: whose samples are whose, and how often each was done."""
