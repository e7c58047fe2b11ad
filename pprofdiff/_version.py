"""The version of this distribution, in one place for the build and for reports."""

__version__ = "0.1.0"
