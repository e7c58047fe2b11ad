"""The version of the package, used by the build and by reports."""

__version__ = "0.1.0"
