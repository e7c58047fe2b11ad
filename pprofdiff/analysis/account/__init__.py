"""The account: a change split into parts that sum to it exactly."""
