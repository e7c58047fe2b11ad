"""The report as text: in color on a terminal, plain everywhere else."""
