"""Attribution of samples: to units of work, functions and resources, and their sums."""
