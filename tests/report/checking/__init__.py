"""Whether reports contradict themselves."""
