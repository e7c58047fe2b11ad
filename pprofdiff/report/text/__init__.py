"""The report as text: on a terminal with colours, everywhere else plain."""
