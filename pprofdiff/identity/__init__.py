"""Match functions of the base build to functions of the new one."""
