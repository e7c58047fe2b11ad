"""Which function of the base build is which function of the new one."""
