"""The report as JSON, schema ``pprofdiff/1``."""

from typing import Any

Row = dict[str, Any]
"""A JSON object."""
