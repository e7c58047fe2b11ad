"""The report as JSON, schema ``pprofdiff/1``."""
